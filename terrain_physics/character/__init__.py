"""A character that falls, lands, stands and walks: its rules, state, body and results."""
