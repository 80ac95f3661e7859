"""Vectors, exact signs and sums, random numbers, space-filling curves."""
