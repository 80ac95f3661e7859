"""Compiled geometry: plain functions on float64 scalars and arrays, one idea per file."""
