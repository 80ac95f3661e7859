"""A frame of a picture as plain data, colors, the camera, and files of pictures."""
