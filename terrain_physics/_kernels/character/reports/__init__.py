"""Reports of an update: the ground, the hits, and the state that it leaves."""
