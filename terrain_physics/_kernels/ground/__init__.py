"""The ground as one table: triangles near a body, rays, contacts, moving parts."""
