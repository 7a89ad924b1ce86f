"""The names of files that a run writes for itself: each ends with the hash of what is in it."""

from __future__ import annotations

import re

DIGITS = 12  # hexadecimal, of a sha256: damage by chance goes unseen in one of 2^48 damaged files
# An id of a unit (unit.digest), or a value and a role as groups.write_group writes them, then the hash. No name that
# other programs give to Parquet files is known to look like that.
_NAMED = re.compile(rf"(?:(?:^|-)[0-9a-f]{{16}}|=[^/]*\.[a-z_]+)-([0-9a-f]{{{DIGITS}}})\.parquet")


def content_name(stem: str, sha256: str, suffix: str) -> str:
    """The name of a file of this content."""
    return f"{stem}-{sha256[:DIGITS]}{suffix}"


def stated_hash(name: str) -> str | None:
    """The first digits of the sha256 that a name states; None for a file that is not named by its content."""
    found = _NAMED.search(name)
    return found[1] if found and found.end() == len(name) else None


def stem_of(name: str) -> str:
    """What a name that is given by content begins with: of a unit's file, the name of the unit."""
    return name[: -(1 + DIGITS + len(".parquet"))]
