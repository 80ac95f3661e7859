"""A page that shows recorded motion: bodies and ground as numbers in, one HTML file out."""
