"""Questions to land in tiles: what they need that is missing, and their answers."""
