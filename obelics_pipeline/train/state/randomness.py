"""Random numbers of a run, each from what it is for: so no state of a generator has to be kept or restored."""

from __future__ import annotations

from hashlib import blake2b


def seed_of(seed: int, *purpose: str | int) -> int:
    """A seed for one purpose, such as ("dropout", step, rank): 63 bits, the same wherever and whenever it is asked."""
    words = "\0".join(repr(part) for part in (seed, *purpose))
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "big") >> 1
