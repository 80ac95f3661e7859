"""Readers of height-map files, a module for each kind of file."""
