"""The sides of a height map: where they are, their ids, and what comes near."""
