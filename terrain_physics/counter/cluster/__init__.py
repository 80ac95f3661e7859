"""Counting lazy arrays and files, on the workers of a Dask cluster."""
