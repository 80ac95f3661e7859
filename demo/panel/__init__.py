"""The user interface: panel, menu, keys, buttons, loading bars."""
