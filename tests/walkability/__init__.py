"""Maps of where a character can walk, and what is led along them."""
