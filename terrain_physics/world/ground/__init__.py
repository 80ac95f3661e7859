"""Grounds of worlds, kept, hashed and sent."""
