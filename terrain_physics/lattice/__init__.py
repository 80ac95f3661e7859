"""A height map on a lattice of tiles that come and go."""
