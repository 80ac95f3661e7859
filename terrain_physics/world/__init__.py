"""A scene as one thing: stepped, kept, put back, compared and saved."""
