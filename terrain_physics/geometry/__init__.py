"""Shapes, and functions of one pair of shapes."""
