"""Recordings of scenes: kept in files, replayed, and sampled for the viewer."""
