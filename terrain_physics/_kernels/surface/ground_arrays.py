"""The places in the tables of addresses that hand characters their ground.

Python hands a kernel one table of addresses instead of the arrays: each array would cost 40 ns a
call. `terrain_physics.surface.ground_arrays` makes the tables and keeps the arrays alive.
"""

# Rows of the table: the (address, length) of the table of maps, and of that of meshes.
MAPS, MESHES = range(2)

# Columns of a map: (address, length) of its arrays, then its number.
MAP_HEIGHTS, MAP_CELLS, MAP_BLOCKS, MAP_FRAME = 0, 2, 4, 6
MAP_NUMBER = 8
MAP_ROW_SIZE = 9

# How many columns a mesh has: see `mesh.parts`.
MESH_ROW_SIZE = 28
