"""The user interface: panel, menu, keys and buttons, and a bar while something long is done."""
