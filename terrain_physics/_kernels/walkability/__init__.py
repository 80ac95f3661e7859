"""Resting heights, proofs of edges, steering."""
