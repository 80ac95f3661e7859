"""Shapes, and functions of one pair of shapes or of many pairs."""
