"""C compilers of each system."""
