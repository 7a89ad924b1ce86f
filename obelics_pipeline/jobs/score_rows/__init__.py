"""Scores for documents that exist already: `obelics score`."""
