"""Where a character can walk: a map made from its own walks."""
