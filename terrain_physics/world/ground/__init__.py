"""The ground of a world: at its beginning, as the difference from it, and found for a file."""
