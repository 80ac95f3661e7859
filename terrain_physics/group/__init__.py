"""Many characters: a table of them, their results, sensors, and the crowd they are."""
