"""The scenes of the testbed, one in each file; `demo.scenes.make_scene` makes them by name."""
