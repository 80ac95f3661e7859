"""Where a character can walk, by its own walks."""
