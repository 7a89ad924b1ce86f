"""The host of a URL, and the bucket of a host."""

from __future__ import annotations

import hashlib

from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target

NO_HOST = ""  # what cannot be asked of any host is in a bucket like any other, where it fails with its reason


def host_of(url: str) -> str:
    """The host, lower case and IDNA-encoded, an address in its normal form; "" where the URL has none."""
    try:
        return parse_target(url).host
    except FetchError:
        return NO_HOST


def host_bucket(url: str, buckets: int) -> int:
    """The bucket of a URL's host, 0 to buckets - 1: the same in every process and every version."""
    digest = hashlib.sha256(host_of(url).encode()).digest()
    return int.from_bytes(digest[:8], "big") % buckets
