"""Height maps."""
