"""Counting on other cluster engines than Dask, to copy from; each runs by itself: ``python -m``."""
