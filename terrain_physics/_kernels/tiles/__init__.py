"""Tiles of a lattice that are not loaded: the first on a path, the nearest to a point."""
