"""Layouts of published corpora: each a pure function from a row to our document."""
