"""Deduplication over the whole corpus: small keyed rows, groups, and verdicts that units apply."""
