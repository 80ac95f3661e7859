"""Questions to land in tiles."""
