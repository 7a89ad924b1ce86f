"""Generators of farm pages in several languages that share no code, words or templates with those that train."""
