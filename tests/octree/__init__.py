"""The octree."""
