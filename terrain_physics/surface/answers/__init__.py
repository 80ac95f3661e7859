"""The answers to the questions of a ground, from its arrays."""
