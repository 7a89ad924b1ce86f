"""Fitting the detector of text that chat models wrote."""
