"""The set of a document's images as one key, equal for documents that show the same pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from obelics_pipeline.core.config.dedup import ImageSetConfig


def image_set_key(images: Iterable[Mapping[str, Any]], config: ImageSetConfig) -> bytes | None:
    """The distinct images of a document, whatever their order; None where there are too few to tell by.

    By content an image that was not fetched counts by its URL. Reference, stage 11: by URL, concatenated; ours are
    kept apart by their JSON form.
    """
    by_url = config.same == "url"
    names = sorted({n["src"] if by_url or n["sha256"] is None else n["sha256"] for n in images})
    if not config.enabled or len(names) < config.min_images:
        return None
    return hashlib.blake2b(json.dumps(names).encode("utf-8", "surrogatepass"), digest_size=16).digest()
