"""A ground, characters and groups as one thing: stepped, kept, put back, compared, saved."""
