"""Flight: one step through the air, and the time of impact."""
