"""Images with the text that their page gives them: what a trainer takes as image-text pairs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.shards.flamingo_record import without_special

SOURCES = ("caption", "alt_text")  # keys of an image's metadata; a caption is written for readers, so it comes first
EXTENSIONS = ("jpg", "png")  # what open_flamingo's loader picks from a sample; it skips webp (2.0.1, data.py)

# LAION-400M dropped pairs with less than 5 characters of alt text or less than 5 KB of image (Schuhmann et al. 2021).
MIN_CHARACTERS = 5
MIN_BYTES = 5000

NO_TEXT, SHORT, FILE_NAME, NO_WORDS = "no_text", "short_text", "file_name", "no_words"
FORMAT, SMALL = "format", "small_file"
_FILE_NAME = re.compile(r"\S+\.(jpe?g|png|gif|webp|avif|bmp|tiff?|svg)", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Pair:
    """The text for an image, and which key of its metadata it is from."""

    text: str
    source: str


def pair_of(about: Mapping[str, Any], file: str, n_bytes: int) -> Pair | str:
    """The text that goes with an image, or the reason why there is no pair.

    `about` is the image's metadata, `file` its name, for the format. Reasons, in this order: format, small_file, and of
    the first text that there is: short_text, file_name, no_words; no_text if the image has no text.
    """
    if file.rpartition(".")[2] not in EXTENSIONS:
        return FORMAT
    if n_bytes < MIN_BYTES:
        return SMALL
    reasons = []
    for source in SOURCES:
        if not isinstance(about.get(source), str) or not about[source].strip():
            continue
        text = " ".join(without_special(about[source]).split())
        if (reason := text_reason(text)) is None:
            return Pair(text, source)
        reasons.append(reason)
    return reasons[0] if reasons else NO_TEXT


def text_reason(text: str) -> str | None:
    """Why a text does not describe an image; None if it may."""
    if len(text) < MIN_CHARACTERS:
        return SHORT
    if _FILE_NAME.fullmatch(text):
        return FILE_NAME
    if len(_LETTER.findall(text)) < 2:  # two, for scripts in which a letter is a word
        return NO_WORDS
    return None
