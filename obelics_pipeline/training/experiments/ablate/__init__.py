"""Experiments: the same small model trained on one thing and another, and what can be said of the difference."""
