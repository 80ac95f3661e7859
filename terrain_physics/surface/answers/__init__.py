"""The answers to questions, from the arrays of a ground."""
