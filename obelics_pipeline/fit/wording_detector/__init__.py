"""Fitting the detector of exchanged words."""
