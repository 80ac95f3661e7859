"""Several height maps and meshes, asked and stood on as one ground."""
