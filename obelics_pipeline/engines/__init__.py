"""Engines call the stages: one on this machine, and thin adapters for clusters beside it."""
