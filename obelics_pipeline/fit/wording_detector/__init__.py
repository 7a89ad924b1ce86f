"""Fitting the detectors of words that a program chose."""
