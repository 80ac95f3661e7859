"""The testbed of terrain_physics, and short examples."""
