"""How far the heads of `farm_score` are shifted, so that each takes as many honest texts, of any length.

A detector's log odds are those of texts as long as those that it learned from. Shorter texts stray further, by chance.
Each head is shifted until as many honest texts of a length pass zero. Then all are shifted alike, until as few honest
texts pass the bound as are meant to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import inf, log
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.models.farm_heads.panel import Head, Panel, stored_shifts
from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.models.word_count import count_words

LENGTHS = (105, 130, 150, 180, 220, 280, 350, 450, 600)  # words to which texts are cut
ALIGNED = 0.05  # of honest texts of a length, whose log odds pass zero in each head; of fewer, the place is vague
PASSED = 0.004  # of honest texts, that pass `BOUND` in any head; sources have the same weight
BOUND = log(0.95 / 0.05)  # log odds of the bound of default.yaml
FEWEST = 150  # texts of a source that are as long: of fewer, one in a hundred is hardly one


def fit_farm_heads(honest: Sequence[str], paths: Sequence[str], output: Path, language: str, say: Say) -> None:
    """Tell how far each head is shifted at each length, and write it; what a file has of other languages stays.

    Raises UserError, in one line, for what the person can mend.
    """
    files = text_files(honest)
    texts: dict[str, list[str]] = {}
    for file in files:
        for row in file.texts():
            texts.setdefault(f"{file.where.name} {row.source}", []).append(row.text)
        say(str(file))
    panel = Panel.of(language, paths)
    if not panel.heads:
        raise UserError(f"language {language}: the package ships no detector for it, and none is given")
    aligned = {head.kind.name: falling(list(_shifts(head, texts))) for head in panel.heads}
    if not all(aligned.values()):
        raise UserError(f"too few honest texts: give {FEWEST} or more of one source, of more than {LENGTHS[0]} words")
    all_alike = round(BOUND - highest(_judged(panel, aligned, texts), PASSED), 2)
    found = {name: [(words, round(shift + all_alike, 2)) for words, shift in some] for name, some in aligned.items()}
    for name, shifts in found.items():
        say(f"{name}: {', '.join(f'{shift:g} at {words} words' for words, shift in shifts)}")
    try:
        stored = stored_shifts(output) if output.is_file() else {}
        record = {"shifts": dict(sorted({**stored, language: found}.items()))}
        output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{output}: cannot be read and written ({error})") from None


def _shifts(head: Head, texts: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, float]]:
    for words in LENGTHS:
        cut = {source: [begun for text in some if (begun := beginning(text, words))] for source, some in texts.items()}
        said = [_said(head, some) for _, some in sorted(cut.items()) if len(some) >= FEWEST]
        if said:
            yield words, -highest(said, ALIGNED)


def _judged(
    panel: Panel, shifts: Mapping[str, Sequence[tuple[int, float]]], texts: Mapping[str, Sequence[str]]
) -> list[list[float]]:
    """The highest that the shifted heads say of each text, by source; texts that no head judges are left out."""
    heads = [
        Head(head.kind, head.path, tuple((words, round(shift * SCALE)) for words, shift in shifts[head.kind.name]))
        for head in panel.heads
    ]
    judged = ([max(said) for text in some if (said := _all_said(heads, text))] for _, some in sorted(texts.items()))
    return [some for some in judged if len(some) >= FEWEST]


def _all_said(heads: Sequence[Head], text: str) -> list[float]:
    words = count_words(text)
    found = [head.log_odds(text, words) for head in heads] if words >= LENGTHS[0] else []
    return [said / SCALE for said in found if said is not None]


def falling(shifts: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The same, where no shorter text is shifted less than a longer one: one in a hundred of few texts is vague."""
    lowest, found = inf, []
    for words, shift in reversed(shifts):
        lowest = min(lowest, shift)
        found.append((words, lowest))
    return found[::-1]


def _said(head: Head, texts: Sequence[str]) -> list[float]:
    found = (head.kind.load(head.path).log_odds(text) for text in texts)
    return [said / SCALE for said in found if said is not None]


def beginning(text: str, words: int) -> str | None:
    """The first words of a text, as it is written; None of one that has no more."""
    found = re.match(rf"\s*(?:\S+\s+){{{words}}}(?=\S)", text)
    return found[0] if found else None


def highest(groups: Sequence[Sequence[float]], share: float) -> float:
    """The value that such a share of all values is above, where each group has the same weight."""
    ranked = sorted(((value, 1 / len(group) / len(groups)) for group in groups for value in group), reverse=True)
    above = 0.0
    for value, weight in ranked:
        above += weight
        if above > share:
            return value
    return ranked[-1][0]
