"""Resting heights, settling on stairs, proofs of edges, steering."""
