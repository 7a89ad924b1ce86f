"""Which pages are left out together: those of one domain look alike, so a fold has all of them or none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from urllib.parse import urlsplit

from obelics_pipeline.core.errors import UserError


def domain_of(url: str) -> str:
    """The last two labels of a URL's host: the registered name. All names under a suffix such as co.uk count as one."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return ".".join(host.rstrip(".").split(".")[-2:])


def deal(domains: Iterable[str], count: int) -> dict[str, int]:
    """The fold of each domain, 0 … count - 1, as many domains in each as can be. Raises UserError if they are too few.

    They are dealt out in the order of a digest of their names, so that the order of the input does not matter.
    """
    distinct = sorted(set(domains), key=lambda name: (hashlib.sha256(name.encode("utf-8", "replace")).digest(), name))
    if not 2 <= count <= len(distinct):
        raise UserError(f"--folds {count}: pages of {len(distinct)} domains make 2 to {len(distinct)} folds")
    return {name: number % count for number, name in enumerate(distinct)}
