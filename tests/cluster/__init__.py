"""Lazy arrays and clusters of Dask; all tests have the marker `cluster`."""
