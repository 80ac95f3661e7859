"""A character among others: half-plane constraints, and standing on characters."""
