"""The counter: how many triangles the surface of each sphere touches."""
