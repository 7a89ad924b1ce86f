"""The order of training as a file: which spans of which documents stand in which row, made from runs and a recipe."""
