"""Queries of a grid of samples: traversal, rays, sweeps, contacts."""
