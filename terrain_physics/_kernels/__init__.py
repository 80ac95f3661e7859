"""Compiled functions of plain numbers and arrays; no folder above it knows numba."""
