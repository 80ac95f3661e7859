"""The places in the rows that tell where a ground has changed."""

# The version that a change led to, lower x y z and upper x y z of the box around it.
CHANGE_VERSION, CHANGE_LOWER, CHANGE_UPPER = 0, 1, 4
CHANGE_SIZE = 7

# Versions that did not lead to the present contents: those after the first, up to the last.
LEFT_AFTER, LEFT_UNTIL = 0, 1
