"""Several parts as one ground."""
