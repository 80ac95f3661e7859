"""The nearest point of a height map."""
