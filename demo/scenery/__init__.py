"""The parts of scenes: ground, bodies, a player, what is asked of them, views on them."""
