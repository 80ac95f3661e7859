"""The places in the rows that tell where a ground has changed."""

# The version that a change led to; lower x y z and upper x y z of the box around it; the span, 0 of
# a change. A row with a span is no change: its box is around so many rows before it, which have its
# version. Who is far from it skips them all.
CHANGE_VERSION, CHANGE_LOWER, CHANGE_UPPER, CHANGE_SPAN = 0, 1, 4, 7
CHANGE_SIZE = 8

# Versions that did not lead to the present contents: those after the first, up to the last.
LEFT_AFTER, LEFT_UNTIL = 0, 1
