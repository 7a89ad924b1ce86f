"""Tombstones: keyed hashes of what was taken back, made by `obelics forget` and obeyed by every stage."""
