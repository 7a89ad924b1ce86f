"""The stages of a run, a folder each, in the order of the data."""
