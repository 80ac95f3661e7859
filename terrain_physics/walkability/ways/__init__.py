"""Paths, fields and parts of a map."""
