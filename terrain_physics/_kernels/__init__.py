"""Compiled functions of plain numbers and arrays; the only part that knows numba."""
