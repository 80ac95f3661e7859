"""The game's objects that own characters, and how their places are read and written."""
