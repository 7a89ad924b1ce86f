"""Where a publication goes: what a folder and a repository of the hub have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import TEMPORARY, Location
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.inspect.card.command import CARD, CROISSANT
from obelics_pipeline.inspect.published.parquet_part import PartMaker, WrittenPart
from obelics_pipeline.inspect.published.parts import Part

DATA, CONFIG, LIST = "data", "config.yaml", "published.json"
CITATION, LINEAGE = "CITATION.cff", "lineage.jsonl"
NOTES = ".publishing"  # what is written of a publication that is not finished
FORMAT = "obelics-published-2"  # of LIST and of the columns; part of what a file says it was made of
BESIDE = (CARD, CROISSANT, CONFIG, CITATION, LINEAGE)  # in the order in which they are named where others wrote them
OURS = re.compile(r"train-\d{5}-of-\d{5}\.parquet")


class Target(Protocol):
    """A place for Parquet files and what lies beside them."""

    def refuse_strangers(self, run: Location) -> None:
        """Raise UserError where the place holds what `publish` did not write, or lies in the run's own folder."""
        ...

    def write_parts(self, engine: Engine, maker: PartMaker, parts: Sequence[Part]) -> list[WrittenPart]:
        """Have all files there, in their order; those that are there and whole stay. The list of files is gone."""
        ...

    def finish(self, parts: Sequence[WrittenPart], beside: Mapping[str, bytes]) -> Sequence[str]:
        """Write what lies beside the files, the list of files last, and remove what is no part of this publication.

        Returns advice on what was written; raises UserError where the hub's viewer would not show it, without the list.
        """
        ...


def strangers(data: Iterable[str], top: Iterable[str]) -> list[str]:
    """What `publish` did not write: of the names in `data/`, and of those at the top where `data/` has none of ours."""
    names = [name for name in data if TEMPORARY not in name]
    found = [f"{DATA}/{name}" for name in names if not OURS.fullmatch(name)]
    if not any(OURS.fullmatch(name) for name in names):
        found += [name for name in BESIDE if name in set(top)]
    return found


def refuse(output: str, found: Sequence[str], advice: str) -> None:
    """Raise UserError for the first that `publish` did not write."""
    if found:
        raise UserError(f"--output {output}: holds {found[0]}, which publish did not write; {advice}")


def demand_viewable(output: str, problems: Sequence[str]) -> None:
    """Raise UserError for the first of the viewer's needs that is not met."""
    if problems:
        raise UserError(f"{output}: {problems[0]}; this is a bug of publish, please report it")


def list_of(parts: Iterable[WrittenPart]) -> bytes:
    """The list of a publication's files."""
    return as_json({"format": FORMAT, "files": [asdict(part) for part in parts]})


def listed(data: bytes) -> list[WrittenPart]:
    """The files that a list names; none where it cannot be read."""
    try:
        return [WrittenPart(**entry) for entry in json.loads(data)["files"]]
    except (ValueError, TypeError, KeyError):
        return []


def as_json(value: object) -> bytes:
    """As all that `publish` writes of it."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()
