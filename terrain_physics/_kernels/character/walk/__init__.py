"""Walking: displacement on the ground, walls, steps that are climbed, creases."""
