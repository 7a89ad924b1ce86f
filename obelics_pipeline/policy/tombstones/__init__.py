"""Tombstones: keyed hashes of what was removed, made by `obelics forget` and obeyed by every stage."""
