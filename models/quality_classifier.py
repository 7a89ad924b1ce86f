"""A fastText classifier of documents: how likely a text is one of the wanted kind."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError

PREFIX = "__label__"  # fastText's: what begins with it on a line of training text is a label
POSITIVE, NEGATIVE = "positive", "negative"  # the labels that `obelics fit classifier` gives
ENDING = ".ftz"  # <language>.ftz: the classifier of a language
# The package's own: honest texts against those of farm families. <language>.json beside each says what made it.
SHIPPED = str(Path(__file__).parent / "quality")

_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKS = ".!?,;:\"'/()<>"  # set apart as in fastText's own tutorial, and what ends a sentence of its own
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # as good as spaces: fastText splits at some


def line_of(text: str) -> str:
    """A text as fastText reads it, in training as in scoring: one line, lower-cased, marks set apart.

    `<`, `>` and `/` are set apart too, for fastText ends a line at `</s>`; a text cannot state a label of its own.
    """
    line = _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text).lower())
    for mark in _MARKS:
        line = line.replace(mark, f" {mark} ")
    return " ".join(line.split()).replace(PREFIX, "label ").strip()


class QualityClassifier:
    """A loaded classifier that knows a label. Predictions depend on the text alone."""

    def __init__(self, classifier: Any, label: str) -> None:
        self._classifier = classifier
        self._label = PREFIX + label

    @classmethod
    def load(cls, path: str, label: str = POSITIVE) -> QualityClassifier:
        """A fastText file, loaded once per process. Raises `UserError` for any other file, or an unknown label."""
        file = Path(path).expanduser()
        if not file.is_file():
            raise UserError(f"filter quality_score: {path}: no such file; obelics fit classifier makes one")
        state = file.stat()
        classifier = _loaded(str(file), (state.st_ino, state.st_size, state.st_mtime_ns))
        labels = sorted(str(name).removeprefix(PREFIX) for _, name in classifier.predict("\n", -1, 0.0, "replace"))
        if label not in labels:
            raise UserError(
                f"filter quality_score: {path} has no label {label}; options.label is one of {_few(labels)}"
            )
        return cls(classifier, label)

    def probability(self, text: str) -> float | None:
        """0 to 1; None for a text without a word."""
        line = line_of(text)
        if not line:
            return None
        # Asked below its Python layer, which fasttext 0.9.3 cannot under NumPy 2 (docs/decisions/0001-fasttext.md).
        for probability, label in self._classifier.predict(line + "\n", -1, 0.0, "strict"):
            if label == self._label:
                return min(float(probability), 1.0)
        return None


def _few(labels: list[str]) -> str:
    return ", ".join(labels[:5]) + (", …" if len(labels) > 5 else "")


@cache
def _loaded(path: str, state: object) -> Any:
    """`state` tells a file from another that took its place under the same path."""
    try:
        import fasttext
    except ImportError:
        raise UserError("filter quality_score: no module fasttext; pip install fasttext-predict") from None
    try:
        return fasttext.load_model(path).f
    except Exception as error:
        reason = " ".join(str(error).split())
        raise UserError(f"filter quality_score: {path}: not a fastText model ({reason})") from None
