"""Faults planted into real trainings of a very small model, on a made-up run. See benchmarks/guarding.py."""
