"""Tiles read ahead by a thread, or when needed."""
