"""Shapes as rows of numbers, and what one does against one triangle."""
