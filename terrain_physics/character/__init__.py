"""Characters that fall, land, stand and walk: one, many in a group, and their recordings."""
