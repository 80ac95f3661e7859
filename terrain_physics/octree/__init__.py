"""An octree that finds the overlapping pairs of many moving spheres or boxes."""
