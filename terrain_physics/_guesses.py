"""First guesses: what players of other libraries call things, and what they are called here.

Python says of a wrong name only that it is wrong. A `Signpost` stands in a class under a wrong
name, and says the right one; right names take no time for it, as they would with ``__getattr__``.
Names that are only misspelled are left to Python, whose tracebacks tell the likely one.
"""

from collections.abc import Iterator
from types import FrameType
from typing import Any

_SURFACE = {
    "height_at(x, z)": "get_height height_at_point sample sample_height SampleHeight "
    "interpolate get_height_at elevation elevation_at ground_height get_elevation "
    "get_interpolated_height y_at terrain_height",
    "normal_at(x, z)": "normal get_normal get_normal_at normal_vector get_interpolated_normal "
    "get_steepness slope_at slope get_slope",
    "raycast(origin, direction)": "ray_cast cast_ray castRay ray_intersect intersect_ray "
    "intersects_ray trace line_trace raycast_all linecast segment_query segment_query_first "
    "ray_test ray_test_closest ray_test_all cast_ray_and_get_normal pick is_colliding "
    "line_of_sight raycast_non_alloc get_first_collision",
    "sweep(shape, motion)": "shape_cast shapecast cast_shape castShape sphere_cast spherecast "
    "capsule_cast box_cast boxcast sweep_test sweep_test_closest cast_motion sphere_cast_all "
    "capsule_cast_all box_cast_all sphere_cast_non_alloc",
    "contacts(shape)": "collide collision collisions intersect contact get_contacts "
    "shape_query contact_test contact_pair collide_shape intersect_shape compute_penetration",
    "touches(shape)": "collides intersects overlap overlaps overlap_sphere overlap_box "
    "overlap_capsule check_sphere check_box check_capsule is_touching intersection_with_shape "
    "intersections_with_shape overlap_sphere_non_alloc overlap_box_non_alloc",
    "mask= of a question, and of each character, says what is passed over.": "ignore_collision "
    "ignore_layer_collision add_collision_exception_with add_exception",
    "contains(point)": "contains_point has_point is_inside inside point_query intersect_point",
    "closest_point(point)": "nearest nearest_point project project_point closest distance "
    "distance_to point_query_nearest",
    "triangles_in(aabb)": "bb_query query_aabb triangles_in_box",
    "make Walkability(ground, collider), and ask it.": "find_path get_path path navmesh "
    "nav_mesh bake_navmesh walkable is_walkable flow_field pathfind",
    "it does nothing by itself: call update(delta_time) of each character or group.": "step "
    "do_physics debug_draw",
    "engines draw what to_mesh() of a map or a mesh returns.": "show draw render plot view display",
}

_PAIR = "intersects overlaps overlap collides touches is_touching shapes_collide hit"

_CHARACTER = {
    "position": "pos location place global_position world_position translation x y z "
    "get_position set_position get_pos set_pos set_x set_y set_z center set_translation "
    "get_global_position transform",
    "velocity": "vel linear_velocity linvel set_linvel get_velocity set_velocity "
    "get_real_velocity get_linear_velocity",
    "velocity, or walk(vx, vz)": "speed walk_speed max_speed run_speed",
    "world_velocity": "get_platform_velocity platform_velocity",
    "grounded": "on_ground is_grounded on_floor is_on_floor is_on_ground onground in_air "
    "airborne is_airborne falling is_falling computed_grounded is_on_floor_only",
    "just_landed and just_left, of what update(delta_time) returns": "land start_fall on_land "
    "landed has_landed",
    "subtract its positions before and after update(delta_time).": "get_last_motion "
    "get_position_delta position_delta",
    "ask its ground: hero.ground.sweep(shape, motion).": "test_move",
    "it is no object of an engine: owner= takes one, and moves it.": "get_component game_object "
    "add_component enabled parent children add_child animate animate_position animate_x animate_y "
    "attached_rigidbody get_rid",
    "ground_normal": "normal floor_normal get_floor_normal",
    "ground_report().slope": "get_floor_angle floor_angle slope_angle",
    "ground_report().air_time": "air_time airtime coyote_time get_airborne_height",
    "collider": "shape body capsule hitbox",
    "resize(collider)": "crouch height radius set_shape set_collider",
    "hits()": "collisions get_collisions get_slide_collision get_slide_collision_count "
    "get_last_slide_collision collision_flags contacts last_hit is_on_wall is_on_ceiling "
    "on_wall get_wall_normal computed_collision num_computed_collisions each_arbiter "
    "on_collision on_hit on_controller_collider_hit",
    "set velocity or call walk(vx, vz), then update(delta_time).": "move move_and_slide "
    "move_and_collide simple_move move_by step tick simulate integrate move_forward move_right "
    "move_left move_back translate set_linear_movement compute_collider_movement "
    "computed_movement set_next_kinematic_translation run add_velocity input_direction",
    "call walk(0, 0).": "stop halt brake stand",
    "the game keeps where it looks; a BoxCollider has a rotation.": "look_at turn rotate "
    "rotate_x rotate_y rotate_z rotation_x rotation_y rotation_z rotation_degrees euler_angles "
    "set_hpr set_h get_h heading yaw angle forward facing set_angular_movement "
    "angular_velocity basis",
    "ask its ground: hero.ground.raycast(origin, direction).": "raycast ray_cast cast_ray",
    "up is +y; axes= converts an owner's place from other axes.": "up up_direction set_up "
    "set_up_direction get_up_direction",
    "there is none: bodies touch the ground.": "skin_width safe_margin margin offset "
    "min_move_distance enable_overlap_recovery",
    "characters do not bounce; a game may set velocity.": "bounce bounciness restitution "
    "elasticity",
    "it rests and wakes by itself.": "sleep wake wake_up is_sleeping is_awake activate "
    "sleeping can_sleep asleep awake resting",
    "slope_speed": "floor_constant_speed constant_speed",
    "max_rounds": "max_slides max_iterations iterations",
    "leave": "platform_on_leave moving_platform_apply_velocity_on_leave",
    "mask": "collision_mask set_collision_mask_value layer_mask filter detect_collisions "
    "ignore_list traverse_target add_collision_exception_with",
    "gravity_scale": "motion_mode use_gravity flying",
    "hits(), or intersect(first, second) of shapes": "intersects overlaps collides",
    "layers": "collision_layer layer collision_group set_collision_groups collision_groups",
    "mass": "weight set_mass set_character_mass",
    "add it to velocity, and do not call walk() while a stun lasts.": "knock_back knockback "
    "stun push apply_impulse add_impulse impulse add_force apply_force apply_central_impulse "
    "apply_impulse_at_local_point apply_force_at_local_point launch",
    "slope_limit, in radians": "max_slope max_slope_angle floor_max_angle slope set_max_slope "
    "set_max_slope_climb_angle set_min_slope_slide_angle floor_stop_on_slope",
    "step_offset": "step_height max_step max_step_height enable_autostep autostep",
    "snap_distance": "floor_snap_length snap snap_length apply_floor_snap enable_snap_to_ground "
    "get_floor_snap_length set_floor_snap_length",
    "gravity": "set_gravity fall_speed",
    "ground_friction": "friction",
    "jump(height)": "jump_height jump_speed jump_to do_jump start_jump set_jump_speed "
    "set_max_jump_height jump_up_duration fall_after",
    "state()": "save snapshot get_state",
    "restore(state)": "load set_state",
    "ground_report().material": "material ground_material surface_material",
    "teleport(position)": "warp set_place set_transform",
    "make Walkability(ground, collider), ask it for a path, and let that lead in each frame.": ""
    "move_to go_to walk_to set_destination set_target set_target_position target_position "
    "destination follow_path nav_agent navigate find_path path_to get_next_path_position pathfind "
    "remaining_distance stopping_distance auto_braking is_on_nav_mesh has_path",
}

_HIT = {
    "point": "pos position location hit_point contact_point world_point hit_pos get_hit_pos "
    "get_collision_point get_surface_point",
    "distance": "dist t toi time time_of_impact length",
    "triangle": "face face_id triangle_id triangle_index index_of_face face_index primitive "
    "feature_id",
    "part_name, or ground.part_of(triangle)": "collider entity entities object get_collider "
    "body node get_node transform shape",
    "there is a hit, or None.": "hit has_hit is_colliding hit_fraction",
}

_NORMAL = "world_normal get_collision_normal hit_normal get_surface_normal"

_RESULT = {
    "grounded": "on_ground is_grounded isGrounded on_floor is_on_floor",
    "ground_normal": "normal floor_normal",
    "blocked_by": "collision collided hit hits on_wall is_on_wall collisions",
    "just_landed": "landed has_landed",
    "just_left": "left took_off",
    "seconds": "dt delta_time delta time",
    "the character has its position.": "position pos",
    "the character has its velocity.": "velocity vel",
    "the character has a ground_report().": "material slope air_time",
}

WAYS: dict[str, dict[str, str]] = {
    "Surface": _SURFACE,
    "HeightMap": {
        "load(path)": "from_file from_image from_png open read load_image from_heightmap "
        "update_map_data_from_image",
        "HeightMap(heights)": "from_array from_numpy from_heights set_heightfield",
        "from_function(function, shape)": "perlin noise simplex fbm from_noise generate random "
        "from_perlin from_lambda sample_function procedural",
        "heights": "data samples values array height_data map_data get_map_data heightmap "
        "height_values",
        "sample_count": "shape resolution dimensions rows columns nrows ncols map_width "
        "map_depth heightmap_resolution",
        "holes[row, column] = True": "add_hole set_hole set_holes cut_hole make_hole "
        "punch_hole hole",
        "size": "width depth extent extents world_size size_x size_z",
        "height_at(x, z), or heights": "height get_heights",
        "height_scale": "scale y_scale vertical_scale",
        "cell_size": "spacing resolution_in_meters step",
        "bounds": "aabb bounding_box bbox get_bounds get_tight_bounds min_height max_height "
        "get_min_height get_max_height get_aabb",
        "origin": "position pos offset",
        "carve(center, radius, depth)": "dig lower crater remove_at",
        "raise_(center, radius, height)": "raise_at raise_terrain add_hill elevate hill",
        "land[row, column] = height": "set_height set_heights set_height_at set set_height_scale "
        "SetHeightsDelayLOD",
        "to_mesh()": "mesh vertices faces triangles get_mesh as_mesh get_root generate_mesh model",
        "materials": "material get_material texture textures splatmap",
        "materials.at(x, z)": "material_at",
        "an edit takes effect at once.": "update apply refresh rebuild reindex generate_normals",
    },
    "TriangleMesh": {
        "load(path), or from_trimesh(mesh) for models": "from_file from_obj load_obj open read "
        "from_gltf",
        "box(extents)": "cube from_box cuboid",
        "sphere(radius)": "icosphere uv_sphere ball",
        "cylinder(radius, height)": "capsule cone tube",
        "ramp(width, height, length)": "wedge slope_mesh",
        "a thin box(extents)": "plane quad grid",
        "TriangleMesh(vertices, faces)": "add_triangle add_geom from_arrays from_vertices "
        "set_faces trimesh from_mesh",
        "vertices[faces]": "triangles corners get_faces",
        "faces": "indices tris",
        "vertices": "points verts",
        "call transformed(matrix) for a new mesh, or move it as part of a Ground.": "transform "
        "translate rotate scale apply_transform move position pos rotation set_position",
        "bounds": "aabb bounding_box bbox extents size extent get_bounds get_tight_bounds get_aabb",
        "neighbors": "adjacency face_adjacency",
        "normals": "face_normals vertex_normals recalculate_normals generate_normals",
        "refit(vertices)": "set_vertices update_vertices deform",
        "solid": "convex closed watertight is_solid is_watertight is_closed",
        "save(path)": "export write to_file save_obj",
        "merged(meshes)": "merge concatenate join combine",
        "material_names": "names",
    },
    "Ground": {
        "part_names": "names",
        "add(part)": "add_mesh add_map add_heightmap add_height_map add_part add_terrain "
        "append insert add_collider add_static add_object create_collider attach add_child "
        "add_shape add_body add_box add_sphere attach_rigid_body attach_ghost",
        "remove(key)": "delete discard pop remove_mesh remove_part remove_collider detach clear",
        "move(key, (position, rotation))": "rotate set_rotation turn look_at rotate_part set_hpr",
        "set_layers(key, 0)": "hide disable enable set_enabled set_active",
        "set_surface_velocity(key, velocity)": "surface_velocity conveyor",
        "material_rules of each character have the friction.": "friction set_friction "
        "elasticity restitution",
        "gravity is a rule of each character and group.": "gravity set_gravity",
        "move(key, transform, delta_time)": "set_position set_transform move_part move_mesh "
        "move_to set_pose translate set_velocity place set_part_position",
        "transform(key)": "position pose get_transform get_position transform_of pose_of",
        "it does nothing by itself: call update(delta_time) of each character or group.": ""
        "update "
        "step tick simulate",
        "parts": "meshes maps members children heightmaps objects",
        "parts[key]": "get part get_part",
        "load(path)": "from_file open read",
        "bounds": "aabb bounding_box bbox size get_aabb",
        "material_names": "materials",
        "layers_of(key)": "layers get_layers",
        "height_at(x, z)": "height heights",
    },
    "CharacterView": _CHARACTER,
    "CharacterMovement": {
        "update(delta_time)": "move_and_update advance process physics_process do_physics "
        "fixed_update"
    },
    "GroupMember": {"call update(delta_time) of its group.": "update"},
    "CharacterGroup": {
        "update(delta_time)": "step tick simulate move advance",
        "add(key, position)": "spawn append insert create add_character add_agent",
        "walk(0, 0)": "stop halt",
        "make Walkability(ground, collider); field(goal).lead(group) leads all to a goal.": ""
        "set_target "
        "set_destination go_to move_to walk_to lead follow seek",
        "rules, or set_rules": "gravity set_gravity",
        "remove(key)": "kill despawn delete discard pop",
        "values()": "members characters agents count size",
        "positions": "position pos",
        "velocities": "velocity vel",
        "group[key].jump(height) of a member": "jump",
        "they rest and wake by themselves.": "asleep awake sleeping is_sleeping can_sleep",
        "grounded": "on_ground is_grounded",
        "make it by CharacterGroup(..., collide=True).": "collide collisions avoidance",
    },
    "MoveResult": _RESULT,
    "GroundReport": {
        "material": "material_id surface_material",
        "normal": "ground_normal floor_normal",
        "state": "kind grounded on_ground is_grounded",
        "slope": "angle slope_angle",
        "air_time": "time_in_air airtime coyote_time",
        "landing_speed": "impact_speed fall_speed speed impact",
        "triangle": "face face_index",
    },
    "RayHit": _HIT | {"normal": _NORMAL, "material": "material_id"},
    "SweepHit": _HIT | {"normal": _NORMAL, "fraction": "f alpha share"},
    "ClosestPoint": _HIT | {"it leads from point to the place that was asked for.": "normal"},
    "Contact": {
        "point": "pos position location contact_point",
        "depth": "penetration_depth overlap distance dist",
        "triangle": "face face_id triangle_id face_index",
    },
    "MoveHit": {
        "point": "pos position location",
        "reason": "kind type surface",
        "speed": "impulse impact velocity strength",
        "triangle": "face face_index",
        "other": "character collider body",
    },
    "Ray": {
        "origin": "start pos position o",
        "direction": "dir d vector",
        "origin + distance * direction": "at point_at get_point point",
    },
    "Sphere": {
        "center": "pos position origin centre",
        "radius": "r size",
        "intersect(first, second)": _PAIR,
    },
    "AABB": {
        "lower": "min minimum low mins",
        "upper": "max maximum high maxs",
        "upper - lower": "size extents extent dimensions",
        "0.5 * (lower + upper)": "center centre middle pos position get_center",
        "around(center, size)": "from_center from_center_size from_size from_extents",
        "AABB(lower, upper) of the least and greatest corners": "merge union expand grow "
        "encapsulate add enlarge",
        "intersect(aabb, Sphere(point, 0))": "contains contains_point has_point encloses",
        "intersect(first, second)": _PAIR,
    },
    "OBB": {
        "center": "pos position centre",
        "half_extents": "size extents half_size dimensions",
        "rotation": "axes orientation",
        "intersect(first, second)": _PAIR,
    },
    "Capsule": {
        "a and b": "start end p0 p1 center height half_height",
        "upright(center, radius, height)": "from_center vertical from_height standing",
        "radius": "r",
        "intersect(first, second)": _PAIR,
    },
    "Octree": {
        "insert(shape)": "add append",
        "overlapping_pairs()": "pairs query_pairs overlaps get_pairs collisions find_pairs",
        "query_sphere(sphere) or query_aabb(aabb)": "query search find query_ball_point "
        "query_radius nearest intersection intersections",
    },
    "TiledGround": {
        "open(path)": "from_file read load_file open_file",
        "make(path, heights)": "create build write bake convert from_array save_tiles",
        "keep_near(places, radius)": "update_viewers set_viewers stream stream_around "
        "load_around preload prefetch add_viewer set_view_distance",
        "load_some()": "update poll tick process flush pump load_pending step",
        "load_now(aabb)": "load_all load_tiles load_area load_region force_load load_chunk "
        "load_tile bring fetch",
        "ready(aabb)": "is_ready is_loaded has_tile has_chunk is_tile_loaded are_loaded",
        "is_loading": "pending is_busy loading",
        "loaded": "tiles chunks loaded_tiles loaded_chunks regions",
        "on_load": "on_tile_loaded tile_loaded on_chunk_loaded",
        "on_unload": "on_tile_unloaded tile_unloaded on_chunk_unloaded",
        "set_heights(row, column, heights)": "set_height SetHeights heights set_samples",
        "set_holes(row, column, holes)": "holes set_hole",
        "set_materials(row, column, materials)": "materials set_material",
        "compact()": "vacuum optimize",
        "sync()": "flush_edits commit save_edits fsync",
    },
    "FixedStep": {
        "steps(frame_seconds)": "tick update advance step ticks",
        "seconds": "dt delta delta_time timestep fixed_delta_time",
        "interpolated(before, after)": "interpolate lerp",
        "alpha": "fraction blend",
    },
    "Walkability": {
        "update()": "build bake make compute rebuild rebake refresh recompute generate scan",
        "path(start, goal)": "find_path get_path query_path search find_route route astar "
        "a_star shortest_path find_shortest_path map_get_path get_simple_path "
        "findPath FindPath CalculatePath "
        "dijkstra",
        "field(goals)": "flow_field get_field find_field flowfield vector_field dijkstra_map "
        "distance_field get_flow_field",
        "nearest(position)": "nearest_point closest_point closest find_nearest snap "
        "sample_position SamplePosition findNearestPoly map_get_closest_point get_nearest "
        "get_closest_point find_closest_edge",
        "reachable(start)": "is_reachable can_reach flood_fill connected",
        "labels": "components islands regions areas connected_components",
        "labels_at(x, z)": "label_at component_at island_at region_at area_at get_label",
        "standing": "walkable is_walkable grid mask cells places",
        "edges": "links connections neighbors kinds",
        "to_graph()": "graph to_networkx as_graph get_graph",
        "spacing": "cell_size agent_radius resolution",
        "heights": "height",
        "add a part to its ground, then update().": "add_obstacle remove_obstacle set_obstacle "
        "add_wall block carve add_link",
        "positions": "points vertices nodes calculate_triangulation",
        "ask its ground: paths.ground.raycast(origin, direction).": "raycast",
        "ask for path(start, goal), and let it lead the hero in each frame.": "agent add_agent "
        "lead follow",
    },
    "Path": {
        "points": "waypoints positions vertices corners nodes path get_current_navigation_path",
        "length less progress.": "distance_to_target remaining_distance",
        "where no way leads, there is no Path, but None.": "status is_complete is_partial",
        "length": "distance cost size",
        "kinds": "types",
        "progress": "index current position travelled",
        "on_ground(spacing)": "draw line polyline as_line smooth sample resample",
        "lead(hero)": "follow next next_point get_next_path_position step move walk advance",
        "lead(hero) returns a word.": "is_finished finished done is_navigation_finished "
        "arrived is_target_reached",
    },
    "Field": {
        "lead(crowd)": "follow apply steer step move walk advance",
        "distance": "distances dist costs integration",
        "direction": "directions vectors flow velocity velocities vector",
    },
    "World": {
        "update(delta_time)": "step tick simulate advance do_physics process",
        "add(key, thing)": "add_character add_group spawn append insert attach add_body "
        "create_rigid_body create_collider create_character "
        "create_character_controller add_collider",
        "remove(key)": "delete discard pop",
        "state()": "snapshot take_snapshot get_state save_state copy_state",
        "restore(state)": "set_state load_state restore_snapshot",
        "Rewind(world) keeps frames: save(frame), then restore(frame).": "rollback go_back undo",
        "gravity is a rule of each character and group.": "gravity set_gravity damping iterations",
        "ask its ground: world.ground.raycast(origin, direction).": "raycast cast_ray ray_cast "
        "segment_query segment_query_first ray_test_closest ray_test_all sweep height_at "
        "contacts sweep_test_closest point_query bb_query cast_shape project_point intersect_ray "
        "direct_space_state",
        "clock, or update(delta_time)": "timestep dt delta_time fixed_delta_time",
        "state_hash()": "hash checksum",
        "Rewind(world).replay(frame, now, step)": "rewind resimulate replay predict",
        "values()": "characters things bodies groups",
        "state() keeps all that moves, and restore(state) puts it back.": "copy clone duplicate "
        "fork",
    },
    "Rewind": {
        "save(frame)": "push record snapshot",
        "restore(frame)": "load go_back back",
        "replay(frame, now, step)": "rollback resimulate",
    },
    "Mismatch": {"mine": "recorded", "theirs": "replayed"},
    "Recording": {
        "it records from when it was made.": "start begin record",
        "save(path), or save_html(path)": "stop end write dump export to_html to_file",
        "replay(recording, make_scene)": "replay play",
    },
    "TouchCounter": {"count(spheres)": "count_touching query touching"},
}
"""By class: what is called so here, and the names that others look for."""

_MODULE = {
    "HeightMap": "Heightmap HeightField Heightfield Terrain TerrainMap heightmap heightfield "
    "HeightMapShape3D BulletHeightfieldShape TerrainData TerrainCollider GeoMipTerrain",
    "TriangleMesh": "Mesh TriMesh Trimesh MeshCollider TriangleMeshCollider",
    "Ground": "Level CompositeGround",
    "TiledGround": "TiledTerrain TiledMap StreamingGround StreamedGround ChunkedTerrain "
    "Terrain3D TileMap OpenWorld TileGround TiledHeightMap",
    "GeneratedTiles": "ProceduralTerrain InfiniteTerrain ChunkGenerator TerrainGenerator "
    "WorldGenerator",
    "Walkability": "NavMesh Navmesh NavigationMesh NavMap NavGrid NavigationRegion PathFinder "
    "Pathfinder AStar Pathfinding navmesh find_path get_path flow_field nav_agent NavAgent "
    "NavigationAgent FlowField NavigationAgent3D NavigationRegion3D NavMeshAgent NavMeshSurface",
    "World": "Scene Space PhysicsWorld Simulation Physics PhysicsServer3D BulletWorld",
    "Rewind": "Rollback RollbackSession",
    "Mismatch": "Difference",
    "CharacterMovement": "Character CharacterController CharacterBody Controller Player Body "
    "CharacterBody3D KinematicCharacterController CharacterController3D FirstPersonController "
    "BulletCharacterControllerNode KinematicBody Entity",
    "Ground.move(key, transform, delta_time)": "MovingPlatform Platform Lift Elevator "
    "AnimatableBody3D",
    "there are no bodies that tumble: use Rapier beside it.": "RigidBody RigidBody3D "
    "RigidBodyDesc Rigidbody",
    "CharacterGroup": "Characters Crowd Group",
    "AABB or OBB": "Box BoundingBox Bounds Aabb",
    "CapsuleCollider": "Collider CapsuleShape",
    "intersect": "collide overlap intersects",
    "HeightMap.load, TriangleMesh.load or Ground.load": "load open load_heightmap",
    "three numbers in a tuple, or a vector of PyGLM, ursina, Panda3D or NumPy.": "Vec3 Vector3 "
    "vec3 Vector",
    "HeightMap.height_at(x, z)": "terraincast",
    "HeightMap.from_function": "perlin noise Perlin Noise simplex PerlinNoise",
    "FixedStep": "Clock FixedTimestep FixedTimeStep Timestep",
}

ADDED = {
    "CharacterGroup": "group.add_many(keys, positions) adds characters, once it is made.",
    "World": "world.add(key, thing) adds characters and groups, once it is made.",
}
"""By class: how what its maker does not take comes into it."""

_ADDED_NAMES = (
    "positions position places count size n number amount keys members characters agents groups "
    "things bodies"
)

_ARGUMENTS = {
    "position": "pos location place start start_position origin center at translation",
    "positions": "position places",
    "center": "position pos origin middle centre",
    "origin": "position pos start offset",
    "point": "position pos place p",
    "delta_time": "dt delta seconds time elapsed timestep step",
    "frame_seconds": "dt delta seconds time delta_time",
    "seconds": "dt delta delta_time step timestep",
    "direction": "dir vector heading",
    "collider": "shape body capsule hitbox bounds radius height",
    "slope_limit": "max_slope slope_angle floor_max_angle max_slope_angle slope "
    "max_slope_climb_angle",
    "step_offset": "step_height max_step max_step_height autostep enable_autostep max_climb",
    "snap_distance": "floor_snap_length snap snap_length snap_to_ground enable_snap_to_ground",
    "ground_friction": "friction drag damping",
    "height_scale": "scale y_scale vertical_scale max_height amplitude",
    "cell_size": "spacing resolution size scale grid_size cellsize tile_size",
    "heights": "data array samples heightmap height_map",
    "height_range": "min_max range min_height max_height heights_range",
    "extents": "size dimensions half_extents half_size",
    "half_extents": "extents size half_size dimensions",
    "subdivisions": "segments sections resolution divisions count",
    "sections": "segments sides resolution subdivisions",
    "transform": "matrix pose position rotation",
    "matrix": "transform pose",
    "axes": "up up_axis axis",
    "mask": "layer layers collision_mask layer_mask filter",
    "layers": "layer collision_layer group groups mask",
    "max_distance": "distance length reach max_dist maximum",
    "motion": "displacement velocity translation delta direction",
    "materials": "material",
    "material_names": "names material_name",
    "faces": "indices triangles tris",
    "vertices": "points verts positions",
    "lower": "min minimum low",
    "upper": "max maximum high",
    "points": "vertices positions cloud",
    "key": "name id index part handle",
    "path": "file filename name filepath",
    "radius": "r size",
    "velocity": "vel speed linear_velocity",
    "turn_with_ground": "rotate_with_ground",
    "threads": "workers n_jobs num_threads",
    "border": "edge outside mode",
    "collide": "collisions collision",
    "max_steps": "max_updates limit",
    "gravity": "g",
    "height": "rise",
    "goal": "end target destination to finish stop",
    "goals": "goal target targets destination destinations end ends",
    "start": "source begin origin position",
    "spacing": "cell_size resolution grid_size voxel_size cell step agent_radius",
    "area": "bounds region rect aabb extents",
    "max_drop": "drop max_fall fall_height drop_height drop_down max_step_down",
    "rates": "rate fps frame_rate frame_rates hz tick_rate update_rate physics_fps",
    "budget": "time_limit max_seconds seconds milliseconds time_budget",
    "around": "center position where",
    "cost": "costs weights weight area_costs penalties",
    "hero": "character agent body",
    "crowd": "group agents characters horde",
    "speed": "velocity pace max_speed",
}
"""By name of an argument: what others call it."""


def module_way(name: str, known: list[str]) -> str | None:
    """Return what a name of the package is called here, or None."""
    for way, others in _MODULE.items():
        if name in others.split():
            return way
    return _alike(name, known)


def is_import(frame: FrameType) -> bool:
    """Tell whether a frame is about to take a name from a module by ``from``."""
    import opcode

    code = frame.f_code.co_code[frame.f_lasti]
    return code == opcode.opmap["IMPORT_FROM"]


def names_and_ways(kind: str) -> Iterator[tuple[str, str]]:
    """Return the wrong names of a class, and the right one of each.

    Also as other languages write them: isOnFloor and IsOnFloor for is_on_floor, and slopeLimit.
    """
    ways = {name: way for way, others in WAYS.get(kind, {}).items() for name in others.split()}
    own: dict[str, str] = {}
    for way in WAYS.get(kind, {}):
        name = way.split("(")[0].split(",")[0]
        own[name] = name if name in own else way  # of several ways, what they have in common
    for name, way in (own | ways).items():
        first, *more = name.split("_")
        rest = "".join(word.capitalize() for word in more)
        for written in (first + rest, first.capitalize() + rest):
            if written.isidentifier() and written != name and written not in ways:
                yield written, way
    yield from ways.items()


class Signpost:
    """A name that a class does not have; reading it raises an error that says the right one."""

    def __init__(self, name: str, way: str) -> None:
        self.name, self.way = name, way
        self.__doc__ = None  # pages show what has one

    def __get__(self, instance: object, kind: type) -> Any:
        raise AttributeError(no_attribute(kind, self.name, self.way))


def no_attribute(kind: type, name: str, way: str) -> str:
    """Return the message for a name that a class does not have."""
    return f"{kind.__name__} has no attribute {name}: {hint(way)}"


def hint(way: str) -> str:
    """Return the words of an error that say what is called so here."""
    return way.removesuffix(".") if way.endswith(".") else f"did you mean {way}?"


def signpost_of(kind: type, name: str) -> Signpost | None:
    """Return the signpost that a class has under a name."""
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    return found if isinstance(found, Signpost) else None


def argument_way(name: str, known: list[str], kind: type | None = None) -> str | None:
    """Return the argument, or several, that a wrong keyword probably means, or None.

    To the maker of a ``kind``, it may be the name of what one of its methods does.
    """
    meant = [own for own in known if name in _ARGUMENTS.get(own, "").split()]
    if kind and kind.__name__ in ADDED and name in _ADDED_NAMES.split():
        return ADDED[kind.__name__]
    post = kind and signpost_of(kind, name)
    called = post.way if post and "(" in post.way else None
    return " or ".join(meant) or called or _alike(name, known)


def _alike(name: str, known: list[str]) -> str | None:
    import difflib

    by_words = {own.lower().replace("_", ""): own for own in known}
    close = difflib.get_close_matches(name.lower().replace("_", ""), by_words, n=1, cutoff=0.75)
    return by_words[close[0]] if close else None
