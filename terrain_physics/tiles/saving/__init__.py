"""The land of a `TiledGround` in saved files: its values, its edits, and which tiles it stands on."""
