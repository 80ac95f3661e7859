"""The tree of a mesh, and its queries."""
