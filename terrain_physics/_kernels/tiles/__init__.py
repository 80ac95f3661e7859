"""Missing tiles of land."""
