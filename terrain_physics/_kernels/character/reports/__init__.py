"""What an update tells: the ground, the hits, and the state that it leaves."""
