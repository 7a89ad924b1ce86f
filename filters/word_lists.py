"""Word lists by language: bundled ones, those of `stopwordsiso`, and files that a config names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from obelics_pipeline.core.errors import UserError


@cache
def bundled(kind: str, language: str) -> frozenset[str] | None:
    """The bundled list of a kind ("stopwords", "flagged", "spam"); None where the package has none."""
    file = files("obelics_pipeline.filters").joinpath("words", language, f"{kind}.txt")
    return frozenset(file.read_text("utf-8").split("\n")) - {""} if file.is_file() else None


@cache
def stop_words(language: str) -> frozenset[str] | None:
    """Stop words: the reference's for English, else those of `stopwordsiso`; None where there is no list."""
    own = bundled("stopwords", language)
    if own is not None:
        return own
    import stopwordsiso  # reads a file of 200 KB: only where a page is not English

    return frozenset(stopwordsiso.stopwords(language)) or None if stopwordsiso.has_lang(language) else None


def load_lists(filter_name: str, paths: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Read the lists that a config names, by language. Raises `UserError` for a file that cannot be read."""
    return {language: _load(f"filter {filter_name}, paths.{language}", path) for language, path in paths.items()}


@cache
def _load(where: str, path: str) -> frozenset[str]:
    try:
        content = Path(path).expanduser().read_text("utf-8")
        words = json.loads(content) if path.endswith(".json") else content.splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise UserError(f"{where}: {path} cannot be read ({reason}); give a text file, one word a line") from None
    if isinstance(words, dict):
        words = list(words)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UserError(f"{where}: {path} is no list of words; give a text file, one word a line, or a JSON list")
    found = frozenset(word.strip().lower() for word in words) - {""}
    if not found:
        raise UserError(f"{where}: {path} has no words; give a text file, one word a line")
    return found
