"""The C compilers that link for each system."""
