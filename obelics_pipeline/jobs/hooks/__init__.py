"""Hooks: programs, servers and trackers that hear of a run while it works."""
