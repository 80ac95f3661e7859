"""What a picture is made of: a frame as plain data, colors, the camera, files of pictures."""
