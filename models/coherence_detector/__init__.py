"""Sentences that do not follow from each other: which sentences people write after which."""
