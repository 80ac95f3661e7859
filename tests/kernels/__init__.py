"""Compilation and cache of kernels; all ways to run them give the same bits."""
