"""A height map as ground: its samples, edits, files and queries."""
