"""Searches over a map of places."""
