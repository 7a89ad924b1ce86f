"""Deduplication over the whole corpus: small keyed messages, groups, and verdicts that units apply."""
