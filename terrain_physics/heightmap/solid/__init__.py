"""A height map as solid ground: its surface, its sides and its underside."""
