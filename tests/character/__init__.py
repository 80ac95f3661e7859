"""Characters, groups and recordings."""
