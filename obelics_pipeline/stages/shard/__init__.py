"""Shards: the final decision on a document once its images are known, and the tars, index and manifest."""
