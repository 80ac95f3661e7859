"""Two trees that prune each other, and the parsing of numbers."""
