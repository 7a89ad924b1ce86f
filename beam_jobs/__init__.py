"""Apache Beam: the main job's engine, and its steps as transforms for a pipeline of one's own. See docs/beam.md."""
