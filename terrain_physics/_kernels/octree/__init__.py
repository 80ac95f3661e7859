"""A loose octree: built, queried, and searched for pairs."""
