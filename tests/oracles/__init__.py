"""Slow, obviously correct answers, written independently of the library."""
