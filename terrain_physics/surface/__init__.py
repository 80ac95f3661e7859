"""The questions that every ground answers, their results, axes of engines, and OBJ files."""
