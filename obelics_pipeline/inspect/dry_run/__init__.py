"""Dry runs: the documents that a run would keep under another config, from what its folder holds already."""
