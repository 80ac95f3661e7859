"""A triangle mesh as ground: its tree and queries."""
