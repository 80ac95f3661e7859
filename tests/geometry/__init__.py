"""Shapes and pairs of shapes."""
