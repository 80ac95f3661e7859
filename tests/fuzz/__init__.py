"""Campaigns of random cases against the whole library, each case decided by its seed alone."""
