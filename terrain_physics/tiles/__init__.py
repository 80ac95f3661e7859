"""Land without end: tiles in a file, loaded as they are needed, and the ground that they are."""
