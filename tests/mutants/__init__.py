"""Small faults that the tests must catch: each a change of a few characters in one module."""
