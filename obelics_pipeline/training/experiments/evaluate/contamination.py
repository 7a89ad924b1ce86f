"""Whether a task's examples stand in the documents that a plan trains on. Examples learned by heart measure nothing.

Images are compared by what they look like (`stages.fetch.phash`), texts by runs of words.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from obelics_pipeline.stages.fetch.phash import phash_of
from obelics_pipeline.training.experiments.evaluate.task import Example, Task
from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.stored_rows import read_members_of

RUN = 8  # words of a run: by chance two texts hardly share one (GPT-3, appendix C, took 13; questions are short)
SHORTEST = 5  # words of a text that is looked for as a whole; what is shorter anybody writes
FLAT = 2  # bits of a phash: a picture of one colour has hardly one, and looks like any other
_WORD = re.compile(r"\w+")


@dataclass
class Overlap:
    """Ids of a task's examples that were found."""

    images: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def as_json(self, examples: int) -> dict[str, Any]:
        """The record: whether the task is contaminated, the share of its examples, and their ids."""
        found = sorted(self.images | self.texts)
        return {
            "contaminated": bool(found),
            "share": len(found) / examples,
            "images": sorted(self.images),
            "texts": sorted(self.texts),
        }


def contamination(tasks: Iterable[Task], plan: Plan) -> dict[str, dict[str, Any]]:
    """Of each task, what of it a plan's documents have. One pass over the documents that are in the plan's order."""
    tasks = list(tasks)
    by_phash: dict[str, list[tuple[str, str]]] = {}
    by_run: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for task in tasks:
        for example in (*task.asked, *task.shown):
            who = (task.about.name, example.id)
            content = task.image(example)
            phash = None if content is None else phash_in(content)
            if phash is not None:
                by_phash.setdefault(phash, []).append(who)
            for run in _runs_of(example):
                by_run.setdefault(run, []).append(who)
    found = {task.about.name: Overlap() for task in tasks}
    lengths = sorted({len(run) for run in by_run})
    for number in _trained_on(plan):
        record, files = read_members_of(plan.document(number))
        for content in files if by_phash else ():
            for name, example_id in by_phash.get(phash_in(content) or "", ()):
                found[name].images.add(example_id)
        for run in _runs(_words(record), lengths):
            for name, example_id in by_run.get(run, ()):
                found[name].texts.add(example_id)
    return {task.about.name: found[task.about.name].as_json(len(task.asked) + len(task.shown)) for task in tasks}


def _trained_on(plan: Plan) -> list[int]:
    return sorted(set(plan.arrays().spans.document.tolist()))


def phash_in(content: bytes) -> str | None:
    """The perceptual hash of an image; None where it cannot be decoded, or is of one colour."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as image:
            phash = phash_of(image)
    except Exception:  # untrusted bytes in a decoder
        return None
    return phash if min((bits := int(phash, 16).bit_count()), 64 - bits) >= FLAT else None


def _runs_of(example: Example) -> Iterator[tuple[str, ...]]:
    """The runs by which an example's question with its answer is known."""
    words = _WORD.findall(f"{example.question} {example.choices[example.answer]}".lower())
    if len(words) >= SHORTEST:
        yield from _runs(words, [min(RUN, len(words))])


def _words(record: Mapping[str, Any]) -> list[str]:
    return _WORD.findall("\n".join(text for text in record["texts"] if text).lower())


def _runs(words: list[str], lengths: Iterable[int]) -> Iterator[tuple[str, ...]]:
    for n in lengths:
        yield from (tuple(words[i : i + n]) for i in range(len(words) - n + 1))
