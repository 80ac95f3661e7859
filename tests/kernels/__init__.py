"""How kernels are compiled and cached, and that all ways to run them give the same bits."""
