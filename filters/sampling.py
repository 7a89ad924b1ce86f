"""Which documents are kept where only a share of them is: the same in every run and on every machine."""

import hashlib

from obelics_pipeline.core.config.filtering import Bounds


def keeps(bounds: Bounds, score: float, name: str, doc_id: str) -> bool:
    """Whether a filter keeps a document of this score: within the bounds, and drawn where it takes a sample."""
    return bounds.holds(score) and (bounds.sample is None or draw(name, doc_id) < bounds.share(score))


def draw(name: str, doc_id: str) -> float:
    """A number from 0 to below 1 that belongs to a document under a filter: two filters draw independently."""
    digest = hashlib.sha256(f"{name}\n{doc_id}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48
