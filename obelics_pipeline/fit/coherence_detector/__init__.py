"""Fitting the detector of sentences that do not belong together."""
