"""Checks, threads, lazy arrays, files, archives and pictures, for all folders above."""
