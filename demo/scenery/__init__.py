"""The parts of scenes: ground, bodies, a player, questions to them, views on them."""
