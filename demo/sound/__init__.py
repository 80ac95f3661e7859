"""Sounds of footsteps and landings."""
