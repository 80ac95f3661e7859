"""A character among others: half-plane constraints, walls near by, and standing on characters."""
