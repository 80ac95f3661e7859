"""Shapes as rows of numbers, and one of them against one triangle."""
