"""The names of the files of a run's index, one file or parts by number, and of the table of its tars."""

from __future__ import annotations

import re

INDEX, PARTS = "index.parquet", "index-*.parquet"  # a name, and the pattern of all names of parts


def part_name(number: int) -> str:
    """The file name of a part of the index by its number in the run, from 0."""
    return f"index-{number:06d}.parquet"


def is_index_name(name: str) -> bool:
    """Whether a file of a run's folder that is named so is its index, or a part of it."""
    return name == INDEX or re.fullmatch(r"index-[0-9]{6,}\.parquet", name) is not None


def is_shard_table(name: str) -> bool:
    """Whether a file of a run's folder that is named so is a table of its tars."""
    return re.fullmatch(r"shards-[0-9a-f]{16}-[0-9a-f]{12}\.parquet", name) is not None
