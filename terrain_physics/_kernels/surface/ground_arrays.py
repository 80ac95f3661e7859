"""The places in the tables of addresses that hand characters their ground.

Python hands a kernel one table of addresses instead of the arrays: each array would cost 40 ns a
call. `terrain_physics.surface.ground_arrays` makes the tables and keeps the arrays alive.
"""

# Rows of the table: the (address, length) of the table of maps, of that of meshes, of that of parts
# that move, of that of the sides of maps, of that of the reaches of parts that move.
MAPS, MESHES, MOVERS, SIDES, REACHES = range(5)

# Columns of a map: (address, length) of its arrays, then its number, that of the first part of a
# union; its layers; (address, length) of the numbers of all its parts.
MAP_HEIGHTS, MAP_CELLS, MAP_BLOCKS, MAP_FRAME = 0, 2, 4, 6
MAP_NUMBER, MAP_LAYERS, MAP_NUMBERS = 8, 9, 10
MAP_ROW_SIZE = 12

# Columns of a mesh: see `mesh.parts`.
MESH_ROW_SIZE = 8

# Columns of a moving part: from the column MOVES on, the frames before its latest moves, MOVE_SIZE
# columns each; then the boxes around it there, BOX_SIZE columns each; then the boxes around
# MOVES_TOGETHER of those each; see `ground.movers`.
MOVES, MOVE_SIZE, MOST_MOVES, BOX_SIZE = 43, 13, 32, 6
BOXES = MOVES + MOVE_SIZE * MOST_MOVES
MOVES_TOGETHER = 8
BOXES_TOGETHER = BOXES + BOX_SIZE * MOST_MOVES
MOVER_SIZE = BOXES_TOGETHER + BOX_SIZE * (MOST_MOVES // MOVES_TOGETHER)

# Rows of the reaches of moving parts, a column for each part: its number, and the box that it may
# have come into; see `ground.movers`.
REACH_SIZE = 1 + BOX_SIZE

# Parts of a ground are on layers, a bit for each. A mask selects those that share a bit with it.
ALL_LAYERS = 0xFFFF_FFFF
FIRST_LAYER = 1
