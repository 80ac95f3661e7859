"""A body on moving ground: carried by its moving base, squeezed by others."""
