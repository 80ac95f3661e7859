"""The numbers of a character, and the motion that one update hands from step to step."""
