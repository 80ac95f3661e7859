"""The ground of characters: triangles of maps and meshes near a body, and moving parts."""
