"""Contacts of a body with the ground: found, solved, and read as ground or wall."""
