"""The kinds of detectors that `farm_score` asks, the cheapest first, and of which kind a file is."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.chat_detector import detector as chat
from obelics_pipeline.models.chat_detector.reasons import told as told_by_chat
from obelics_pipeline.models.coherence_detector import detector as coherence
from obelics_pipeline.models.coherence_detector.reasons import told as told_by_coherence
from obelics_pipeline.models.farm_detector import detector as network
from obelics_pipeline.models.farm_detector.reasons import told as told_by_network
from obelics_pipeline.models.told import Told
from obelics_pipeline.models.wording_detector import detector as wording
from obelics_pipeline.models.wording_detector.reasons import told as told_by_wording


class Detector(Protocol):
    """What judges a text."""

    def log_odds(self, text: str) -> int | None:
        """That a program made it, in 1 / `forest.SCALE`; None for a text of too few words."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of detector: its name, what it looks for, an array that its files alone have, and how they are used."""

    name: str
    looks_for: str
    array: str
    bundled: Callable[[], Mapping[str, str]]  # files that the package ships, by language
    load: Callable[[str], Any]  # raises UserError for any other file
    told: Callable[[Any, str], Told]
    one_writer: bool = False  # whether it takes a text for that of one person, whose sentences follow each other


KINDS = (
    Kind(
        "phrasing",
        "words, chains and forms that people do not write so",
        "sets",
        wording.all_of_phrasing,
        wording.load,
        told_by_wording,
    ),
    Kind("wording", "words put in the place of others", "pairs", wording.all_bundled, wording.load, told_by_wording),
    Kind("chat", "text of a chat model", "weights", chat.all_without_model, chat.load_without_model, told_by_chat),
    Kind(
        "coherence",
        "sentences that do not follow each other",
        "vectors_before",
        coherence.all_bundled,
        coherence.load,
        told_by_coherence,
        one_writer=True,
    ),
    Kind("network", "text put together by a program", "vocabulary", network.all_bundled, network.load, told_by_network),
)


@cache
def kind_of(path: str) -> Kind:
    """That of a detector's file. Raises UserError for any other file."""
    try:
        with zipfile.ZipFile(Path(path).expanduser()) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"detector {path}: cannot be read ({reason}); obelics fit makes one") from None
    for kind in KINDS:
        if f"{kind.array}.npy" in names:
            return kind
    raise UserError(
        f"detector {path}: cannot be read (it is no kind of detector for farm_score); obelics fit makes one"
    )
