"""Tolerances of all kernels: unit, purpose and readers of each.

A difference below its tolerance counts as none. Bounds on rounding are here too; the proof of a
filter stands where the filter is. "Read by" names folders of kernels, and a test holds it to their
imports.
"""

# --- Contacts of a body with the ground

# Surfaces closer than this count as touching. Unit: m. Read by: character, character.contacts,
# character.flight, character.moving_base, character.reports, character.sleep, character.steps,
# character.walk, walkability.
CONTACT_MARGIN = 1e-4

# Overlap that is left alone: a thousandth of a visible one. Unit: m. Read by: character,
# character.contacts, character.flight, character.moving_base, character.reports, character.walk,
# walkability.
SLOP = 1e-6

# A body that overlaps a triangle by more, with no contact left, is lifted. Unit: m. Read by:
# character.contacts, character.moving_base, character.walk.
STUCK_DEPTH = 1e-4

# Depth up to which the end of an update counts as converged. Unit: m. Read by:
# character, character.contacts, character.flight, character.moving_base, character.reports.
CONVERGED_DEPTH = 1e-5

# Depth in walkable ground from which a walk depenetrates a body. Unit: m. Read by:
# character.contacts, character.walk.
LEAST_RISE = 1e-9

# Above it two contacts push the same way. Unit: cosine. Read by: character.contacts,
# character.flight, character.reports, character.walk, walkability.
SAME_NORMAL_COSINE = 1.0 - 1e-9

# Support points are equally far along a normal if their distances differ by no more. Unit: share of
# the extents. Read by: character.contacts.
SAME_SUPPORT_SHARE = 1e-9

# Culling: a triangle is apart from a ball only if it is farther by so much. The normal of a
# sliver may be off by a hundredth of that, and all else by rounding. Unit: share of a distance.
# Read by: character.contacts, geometry.
FARTHER_SHARE = 1e-4

# Culling: an edge counts as beside a sphere only if it is so by this much, which is much more than
# rounding. Unit: share of a product. Read by: character.contacts.
HIGHER_SHARE = 1e-10

# A move may fall short by so much, and still counts as out. Unit: share of a depth plus 1 mm.
# Read by: character.contacts.
SHORT_SHARE = 1e-9

# Planes at a smaller angle do not meet in a line worth going to. Unit: sine. Read by:
# character.contacts.
PARALLEL_PLANES_SINE = 1e-6

# A slope of exactly the limit is walkable. Unit: difference of cosines. Read by:
# character.contacts, character.moving_base, character.steps, walkability.
SLOPE_SLACK = 1e-9

# A velocity that leads into a plane by no more is along it, and normals that differ by no more are
# one. Unit: share. Read by: character.contacts, character.walk.
ALONG_SHARE = 1e-9

# Faces hold only if their normals have a larger component along the one-way direction: more than
# rounding. Unit: cosine. Read by: character.contacts.
ONE_WAY_COSINE = 1e-6

# Depth up to which a one-way part still holds a body up. Unit: m. Read by: character.contacts.
ONE_WAY_DEPTH = 1e-3


# --- Walking

# A body cannot leave a contact horizontally if its normal points down more steeply. Unit: cosine.
# Read by: character.others, character.reports, character.walk.
OVERHEAD_COSINE = 0.995

# Vertical slack of walks, steps and creases, and how far a body may be lifted where wall and
# ground lead into each other. Unit: m. Read by: character.reports, character.walk, walkability.
WALL_CLEARANCE = 1e-3

# How far from its end a walk into a corner may stop. Unit: m. Read by: character.reports,
# character.walk.
CORNER_SLACK = 2.5e-3

# A slide along one of the walls touched must lead farther in the direction of the displacement by
# so much. Unit: share of the displacement. Read by: character.walk.
PROGRESS_SHARE = 1e-3

# How exactly the moment is found at which a body leaves the ground. Unit: s. Read by:
# character.walk.
LEAVING_TIME = 1e-9


# --- Moving ground and sleep

# Distance up to which a moving part is near a body. Unit: m. Read by: character.moving_base.
SQUEEZE_DISTANCE = 0.02

# A body farther from its point on the moving base no longer stands on it. Unit: m. Read by:
# character.moving_base.
ASTRAY_DISTANCE = 0.1

# The same, for the rounding of places far off. Unit: share of the coordinates. Read by:
# character.moving_base.
ASTRAY_SHARE = 1e-9

# Times and velocities of moving parts that differ by less are the same. Unit: relative. Read by:
# character.moving_base.
MOVING_BASE_ROUNDING = 1e-6

# Changes of the ground farther from a body do not wake it: they are at none of its contacts, nor
# at an edge of one. Unit: m. Read by: character.sleep.
WAKE_DISTANCE = 0.1

# The same, for the rounding of places far off. Unit: share of the coordinates. Read by:
# character.sleep.
WAKE_SHARE = 1e-9


# --- Reports

# A contact at a lower approach speed is no hit. Unit: m/s. Read by: character.reports, crowd,
# terrain_physics.character.hits.
LEAST_IMPACT = 1e-3

# Above it two surfaces face the same way, and count as one. Unit: cosine. Read by:
# character.reports.
SAME_SURFACE_COSINE = 0.99

# Contacts that differ by no more hold a body up alike. Unit: difference of cosines. Read by:
# character.reports.
SAME_GROUND_SLACK = 1e-9


# --- Crowds

# Overlap of two characters that is left alone. Unit: m. Read by: crowd.
CROWD_SLOP = 5e-4

# Distance from the top of a character that counts as on it, not beside it. Unit: m. Read by:
# crowd.
ON_TOP_MARGIN = 1e-3

# Two agents are a contact of the solver if their gap is no larger than both preferred
# displacements and this. Unit: m. Read by: crowd.
CROWD_DISTANCE = 0.02

# A character counts as pushed only if its displacement is deflected by more: the solver knows walls
# and standing agents only as well as its rounds allow. Unit: m. Read by: crowd.
PUSH_SLACK = 1e-6

# The same for long displacements. Unit: share of the displacement. Read by: crowd.
PUSH_SLACK_SHARE = 1e-3

# Distance outside a half-plane that still counts as within it. Unit: m. Read by:
# character.others.
HALF_PLANE_SLACK = 1e-9

# Half-planes at a smaller angle are parallel. Unit: sine. Read by: character.others.
PARALLEL_HALF_PLANES_SINE = 1e-9

# Distance from the line of a half-plane at which a body hits the character beyond it. Unit: m.
# Read by: character.steps.
HALF_PLANE_REACHED = 1e-6

# Distance above the top of a character that counts as on it. Unit: m. Read by: character.others.
ON_CHARACTER_SLACK = 1e-6

# Above it two walls are the same. Unit: cosine. Read by: character.others.
SAME_WALL_COSINE = 0.95

# A wall that deflects a body by less does not block it. Unit: m. Read by: character.others.
LEAST_DEFLECTION = 1e-6

# Distance of walls that a body remembers. Unit: m. Read by: character.others.
KNOWN_WALL_DISTANCE = 5e-3


# --- Edges between triangles

# A neighbor may extend beyond a push by so much and not block it: rounding on level ground.
# Corners that are no farther apart, as a share of the edges, are one corner. Unit: share of a
# length. Read by: character.contacts, heightmap, mesh.
LEVEL_SHARE = 1e-9

# A touch of a side of a map whose unit normal rises by more is on the side's upper edge, which is
# an edge of the map's surface. Unit: sine. Read by: mesh.
UPPER_EDGE_RISE = 1e-6


# --- Shapes against triangles

# Three corners lie on one line if the two shorter edges meet at no more. Below it, less than half
# of the digits of the normal are right; above it, treating the triangle as a segment would move
# its surface by more than 1e-10 of its size. Unit: sine. Read by: geometry.
FLAT_SINE = 1e-10

# A point that is nearer lies on the feature. The direction of so short a gap is mostly rounding:
# using the normal instead changes less than that rounding does. Unit: share of the sizes. Read
# by: character.contacts, geometry, ground.
ON_FEATURE_SHARE = 1e-11

# The cross product of an edge and a box axis at a smaller angle is left out. Unit: sine. Read by:
# geometry.
PARALLEL_AXES_SINE = 1e-12

# Overlaps that differ by less tie: the earlier axis is taken. Unit: share of the sizes. Read by:
# geometry.
TIE_SHARE = 1e-12

# A unit direction leads against the front if its component along the normal is below minus this; a
# face is upright if its normal's y is no more. Unit: cosine. Read by: character.contacts, geometry,
# heightmap.batch_contacts, mesh.
FRONT_COSINE = 1e-12

# Motion that leads into a touched surface by less slides along it. Motions and normals rounded to
# float32 are that far from perpendicular. Unit: sine. Read by: geometry.
SLIDE_SINE = 1e-6

# A shape behind a front that overlaps it by less only touches it from behind. A deeper shape is
# in the ground and leaves through the front. Unit: share of the size. Read by: geometry.
BEHIND_SHARE = 1e-3

# How far a triangle may extend before the plane at its nearest point. The nearest point is chosen
# by rounded squares of distances, so that it may be off along the triangle, and the plane leans
# by up to sqrt(rounding / LEAST_GAP_SHARE), 2e-6. Unit: share of all sizes. Read by: geometry.
NEAREST_POINT_SHARE = 1e-5

# The least distance of that point. Unit: share of all sizes. Read by: geometry.
LEAST_GAP_SHARE = 1e-4

# Points of a triangle up to this distance from a box count as touched by it. Unit: share of the
# size of the box. Read by: geometry.
BOX_TOUCH_SHARE = 1e-7

# The same for triangles that reach far. Unit: share of the distances on which rounding depends.
# Read by: geometry.
BOX_TOUCH_ROUNDING = 1e-13

# How far from its surface a sphere touches: on the distance, not on its square. Unit: m. Read by:
# counter, geometry.
TOUCH_TOLERANCE = 1e-10


# --- Rounding: bounds that a comparison in float64 or float32 is widened by

# One operation in float64. Unit: relative. Read by: geometry.
FLOAT64_ROUNDING = 2.0**-53

# One operation in float32. Unit: relative. Read by: counter, walkability.
FLOAT32_ROUNDING = 2.0**-24

# Eight ulp of the remainder: far more than three operations need. Unit: relative. Read by:
# counter.
DECIMAL_ROUNDING = 8.9e-16

# More than the rounding of a ray's distance to a surface. Unit: relative. Read by: geometry.
RAY_ROUNDING = 2.0**-50

# A point sticks out if its squared distance exceeds the squared radius by more. Rounding the
# center to float64 and squaring cause about as much. Unit: relative. Read by: geometry.
ENCLOSING_ROUNDING = 2.0**-50

# Slack of all culling on a map: the rounding of one operation is 2^-53, and the errors of fewer
# than 20 operations from a coordinate to a bound add up. Unit: share of the coordinates. Read by:
# ground, heightmap, heightmap.closest, terrain_physics.tiles.questions.missing_tiles, tiles.
CULLING_SLACK = 2.0**-46

# The same for a map at height 0. Unit: m. Read by: heightmap.
LEAST_CULLING_SLACK = 1e-90

# Boxes around runs of candidates are widened by it: more than rounding, and nothing else. Unit:
# share of the coordinates. Read by: ground.
RUN_SLACK = 1e-9

# Boxes of nodes lie within 1 there, points of rays within 2. The roundings of origin, difference,
# reciprocal and product, 2^-24 of such lengths each, move the plane of a box by fewer than 8 of
# them. Unit: lengths of the mesh's frame. Read by: mesh.
NODE_MARGIN = 2.0**-20

# How far float32 may be wrong about the distance of a point, per unit of its distance from the
# frame's middle; beyond the far limit it could no longer tell one box from another. Unit: lengths
# of the mesh's frame. Read by: mesh.
POINT_MARGIN = 2.0**-21

# Boxes around shapes are wider by it. Unit: lengths of the mesh's frame. Read by: mesh.
FRAME_MARGIN = 2.0**-20

# The same for shapes that extend far. Unit: share of the distance to the far side of the shape.
# Read by: mesh.
FRAME_DISTANCE_MARGIN = 2.0**-40

# How far rays may be off, in float64. Unit: share of the distance to the start of the path. Read
# by: mesh.
MESH_RAY_MARGIN = 2.0**-48

# The same for shapes. The travel of a shape that grazes a triangle, by no less than a millionth,
# is known to a million times 2^-53 of it. Unit: share of the distance to the start of the path.
# Read by: mesh.
MESH_SHAPE_MARGIN = 2.0**-30

# Boxes of nodes are rounded out by it. Half of a unit of the last place of float32 at 1 is 2^-25.
# Unit: lengths of the mesh's frame. Read by: mesh.
BOX_ROUNDING = 2.0**-23

# How far a corner that a rotation and a shift have placed, and the transposed rotation has brought
# back, may be from where it was. Rotations are orthonormal to 1e-12 in each entry, which moves a
# corner by 5.2e-12 of its coordinates at most; the roundings there and back are a dozen of 2^-53.
# Unit: share of the coordinates of mesh and place. Read by: mesh.
PLACE_MARGIN = 2.0**-36

# Boxes of leaves are larger than the boxes of their meshes by it, and by the next one. That is more
# than any rounding of queries. Unit: share of the size. Read by: mesh.
LEAF_SIZE_MARGIN = 2.0**-20

# See the one before. Unit: share of the distance from the origin. Read by: mesh.
LEAF_PLACE_MARGIN = 2.0**-40

# The same of meshes that have moved, whose boxes hold some more moves then. Unit: share of the
# size. Read by: mesh.
LEAF_MOVE_MARGIN = 0.05

# The same for travel: that of a shape that grazes a triangle, by no less than a millionth, is known
# to a million times 2^-53 of it. Unit: share of the distance to the box. Read by: mesh.
LEAF_TRAVEL_MARGIN = 2.0**-30

# Boxes are widened by it. That is far more than the rounding of a ray's distance to the objects
# in them, so that no box hides a hit of its objects. Unit: share of the distances. Read by:
# octree.
OCTREE_RAY_SLACK = 2.0**-40

# More than the rounding of the sphere test, and of the box made there. Unit: relative. Read by:
# octree.
OCTREE_ROUNDING = 2.0**-51
