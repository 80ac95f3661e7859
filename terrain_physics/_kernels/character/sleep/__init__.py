"""Sleep of a body at rest: its contact signature, and waking."""
