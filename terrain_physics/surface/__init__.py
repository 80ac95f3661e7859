"""The questions that every ground answers, their results, and OBJ files."""
