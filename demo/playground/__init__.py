"""The scenes of the testbed, one in each file; `demo.scenery.scenes` makes them by name."""
