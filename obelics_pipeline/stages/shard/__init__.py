"""Shards: what becomes of a document once its images are known, and the tars, index and manifest it ends in."""
