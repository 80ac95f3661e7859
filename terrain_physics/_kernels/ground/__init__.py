"""Triangles gathered from maps and meshes alike, and whose they are."""
