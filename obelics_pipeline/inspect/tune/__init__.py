"""A page on which thresholds are moved over what a run has measured, and written to a config."""
