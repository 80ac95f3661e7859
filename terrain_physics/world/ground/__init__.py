"""Grounds of worlds, kept and sent."""
