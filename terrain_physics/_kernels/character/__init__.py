"""One update of a character, and of many."""
