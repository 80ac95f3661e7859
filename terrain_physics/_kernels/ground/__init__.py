"""The ground as one table: triangles near a body, contacts of a shape, moving parts."""
