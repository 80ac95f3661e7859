"""Where a character can walk: resting heights, proofs of edges, searches over a map, steering."""
