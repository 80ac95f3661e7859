"""Sleep: when a body comes to rest, its contact signature, and what wakes it."""
