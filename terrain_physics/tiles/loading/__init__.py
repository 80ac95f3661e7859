"""Tiles that come and go: read ahead by a thread, or when they are needed."""
