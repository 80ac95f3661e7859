"""Triangle meshes."""
