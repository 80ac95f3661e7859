"""Land in tiles of a file, loaded as they are needed."""
