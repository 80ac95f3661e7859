"""Narrow phase: one pair of shapes at a time, and loops over rows of pairs."""
