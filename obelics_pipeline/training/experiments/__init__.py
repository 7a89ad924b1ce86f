"""Experiments on top of the trainer, under looser rules: ablations and evaluations."""
