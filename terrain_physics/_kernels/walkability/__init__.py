"""Where a character can walk: resting heights, proofs of edges, steering."""
