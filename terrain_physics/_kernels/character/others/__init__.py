"""A character among others: half-planes, walls, standing on characters, and memory of them."""
