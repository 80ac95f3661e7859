"""Tests of worlds: stepped, kept, put back, compared and saved."""
