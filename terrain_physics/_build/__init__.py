"""Makes wheels with machine code: compiles by a list, links, wraps. In no wheel."""
