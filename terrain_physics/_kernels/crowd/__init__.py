"""A crowd of characters: agents, preferred velocities, contact impulses, half-planes."""
