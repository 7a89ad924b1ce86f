"""Fitting: the commands that made the models which ship with the package."""
