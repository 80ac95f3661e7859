"""Measured behaviour of the character: scenarios, a table of their figures, tests that hold them.

Unless a row says otherwise: slope limit 45 degrees, ground rule "contact", friction at its default,
60 frames a second.
"""
