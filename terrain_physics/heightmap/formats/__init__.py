"""Readers of height-map files, a module for each kind; none trusts a file."""
