"""Texts to learn from, each with who wrote it and what it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.fit.texts import TextFile
from obelics_pipeline.models.chat_detector.form import FEWEST_WORDS, enough, form_of, tokens_of

PEOPLE = ""  # in place of the name of a generator
TRUSTED = "trusted"  # the domain of texts that the language model knows


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text in the form that is judged."""

    form: str
    generator: str  # `PEOPLE`, or what wrote it
    domain: str
    id: str = ""


def labelled(files: Sequence[TextFile], generators: Sequence[str]) -> list[LabelledText]:
    """Rows {"text", "label", "generator", "domain"}: label 1 is a machine's, and only of these generators, if any.

    Raises UserError where a file cannot be read.
    """
    columns = ("id", "text", "label", "generator", "domain")
    found = [one for file in files for one in file.rows(columns, _labelled)]
    return [one for one in found if one.generator == PEOPLE or not generators or one.generator in generators]


def trusted(files: Sequence[TextFile]) -> Iterator[LabelledText]:
    """Texts that people wrote. Raises UserError where a file cannot be read."""
    for file in files:
        for row in file.texts():
            form = form_of(row.text)
            if enough(tokens_of(form)):
                yield LabelledText(form, PEOPLE, TRUSTED)


def fair_weights(texts: Sequence[LabelledText]) -> NDArray[np.float64]:
    """A weight for each text: people's and machines' come to the same, and so does, about, each generator and domain.

    No text has more than a hundredth of its kind's weight, before both kinds are made to come to a half.
    """
    cells = [(one.generator, one.domain) for one in texts]
    weights = np.zeros(len(texts))
    for people in (True, False):
        of_kind = sorted({cell for cell in cells if (cell[0] == PEOPLE) == people})
        kind = np.array([(cell[0] == PEOPLE) == people for cell in cells])
        for cell in of_kind:
            of_cell = np.array([one == cell for one in cells])
            weights[of_cell] = min(1 / len(of_kind) / of_cell.sum(), 0.01)
        weights[kind] /= 2 * max(weights[kind].sum(), 1e-300)
    return weights


def _labelled(row: Mapping[str, Any]) -> LabelledText | str:
    text, label, generator, domain = (row.get(name) for name in ("text", "label", "generator", "domain"))
    if not isinstance(text, str):
        return "without text"
    if label not in (0, 1) or (label and not isinstance(generator, str)):
        return "without a label and a generator"
    form = form_of(text)
    if not enough(tokens_of(form)):
        return f"of fewer than {FEWEST_WORDS} words"
    of = domain if isinstance(domain, str) else ""
    return LabelledText(form, str(generator) if label else PEOPLE, of, str(row.get("id") or ""))
