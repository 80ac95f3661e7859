"""Sounds of footsteps and landings, and whether a sound card is asked for."""
