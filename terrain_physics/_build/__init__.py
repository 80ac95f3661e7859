"""Makes the machine code of wheels: compiles by a list, links, wraps for Python. In no wheel."""
