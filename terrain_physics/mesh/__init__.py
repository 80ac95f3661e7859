"""A triangle mesh as ground: how it is made, its tree and queries."""
