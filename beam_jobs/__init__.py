"""The stages as Apache Beam transforms and runnable jobs. Nothing is here yet: the main job runs on one machine."""
