"""Checks of arguments, threads, lazy arrays, files and archives, for all folders above."""
