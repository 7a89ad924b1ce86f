"""What each statistic of a Flamingo's loss finds of content farms, beside scores that are blind to images.

    python benchmarks/flamingo_farms.py BENCH.jsonl --model FOLDER [--images DIR] [--kenlm FOLDER] [--detector FILE.npz]
        [--scores FILE.jsonl] [--false-positives 0.01]

BENCH.jsonl has documents, {"text"} or {"texts", "images"}, with "id", "label" and "generator" a line; label 1 is
generated; of label 0, generators whose names begin with `hard_` are honest genres that look unusual. DIR has a file for
each image's URL, named by its sha256. FOLDER is of `obelics fit flamingo`; those of --kenlm and --detector are of
`obelics fit kenlm` and `detector`. Scores are kept in the file of --scores, and read from it where it is there.

Half of the documents, by a hash of their id, choose: for each statistic whether it is suspicious when high, when low or
on both sides, and the threshold that so many of the clean documents are above; and which statistic is best. Everything
that is printed is of the other half. `kept` is the share of all its documents below the threshold.

The last table has logistic regressions on several scores too, taught on the choosing half without the family (`a` of
`a_spin15`, else the whole name) whose recall is then told: what the loss adds to the blind scores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from filters.registry import build
from filters.text import Text
from models.flamingo.loading import LoadFlamingo
from models.flamingo.scorer import Scoring
from models.flamingo.statistics import COLUMNS
from models.pictures.sources import FolderImages, no_images
from obelics_pipeline.document import Document
from obelics_pipeline.fit.flamingo.command import COUNTS
from obelics_pipeline.fit.flamingo.documents import document_of
from obelics_pipeline.rates import Share, auc, mean, share_above, threshold

CLEAN, HARD = "clean", "hard_"
LOSS = tuple(name for name in COLUMNS if name not in ("flamingo_tokens", "images_seen"))
BLIND = ("farm_score", "perplexity", "worse_than_unigram_ratio", "type_token_ratio")
WITH_IMAGES = ("flamingo_loss_without_images", "flamingo_image_gain")
SIDES = ("high", "low", "both")
BLOCK = 128  # documents that are scored together

Row = Mapping[str, Any]
Suspicion = Callable[[Row], float]


def main() -> None:
    """Score, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--images", type=Path)
    parser.add_argument("--kenlm")
    parser.add_argument("--detector")
    parser.add_argument("--scores", type=Path)
    parser.add_argument("--false-positives", type=float, default=0.01)
    arguments = parser.parse_args()
    if arguments.scores is not None and arguments.scores.exists():
        rows = [json.loads(line) for line in arguments.scores.read_text("utf-8").splitlines()]
    else:
        rows = list(scored(arguments))
        if arguments.scores is not None:
            arguments.scores.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    print("\n".join(report(rows, arguments.false_positives)))


def scored(arguments: argparse.Namespace) -> Iterator[Row]:
    """Each document's label and scores."""
    given = [json.loads(line) for line in arguments.bench.read_text("utf-8").splitlines()]
    documents = [document_of(row) for row in given]
    assert all(isinstance(document, Document) for document in documents), "a row is no document"
    make = LoadFlamingo(
        str(arguments.model),
        FolderImages(arguments.images) if arguments.images else no_images,
        Scoring(batch_tokens=4096, overlap=64),  # of documents that are hardly longer than a window
        str(arguments.model / COUNTS),
        device="cpu",
    )
    flamingo, blind = make(), blind_scores(arguments.kenlm, arguments.detector)
    for begin in range(0, len(documents), BLOCK):
        some: Any = documents[begin : begin + BLOCK]
        for row, document, losses in zip(given[begin:], some, flamingo.score(some), strict=False):
            text = Text(document.text(), "en")
            yield (
                {name: row[name] for name in ("id", "label", "generator")}
                | losses
                | {name: score(text) for name, score in blind.items()}
            )


def blind_scores(kenlm: str | None, detector: str | None) -> dict[str, Callable[[Text], float | None]]:
    """The scores that look at the text alone, for which a model is given or none is needed."""
    made: dict[str, Callable[[Text], float | None]] = {"type_token_ratio": type_token_ratio}
    if kenlm:
        made |= {name: build(name, {"folder": kenlm}).score for name in ("perplexity", "worse_than_unigram_ratio")}
    if detector:
        made["farm_score"] = build("farm_score", {"paths": {"en": detector}}).score
    return made


def type_token_ratio(text: Text) -> float | None:
    """Distinct words by words."""
    words = re.findall(r"\w+", text.text.lower())
    return len(set(words)) / len(words) if words else None


@dataclass(frozen=True)
class Halves:
    """Scored documents by what is done with them, and by their generator."""

    choosing: Mapping[str, Sequence[Row]]
    telling: Mapping[str, Sequence[Row]]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Halves:
        """By the parity of the id's sha256."""
        halves: tuple[dict[str, list[Row]], dict[str, list[Row]]] = ({}, {})
        for row in rows:
            parity = hashlib.sha256(str(row["id"]).encode()).digest()[0] % 2
            halves[parity].setdefault(row["generator"], []).append(row)
        return cls(*halves)

    def farms(self) -> list[str]:
        """Names of the generators."""
        return [name for name in sorted(self.telling) if name != CLEAN and not name.startswith(HARD)]

    def hard(self) -> list[str]:
        """Names of the honest genres that look unusual."""
        return [name for name in sorted(self.telling) if name.startswith(HARD)]


@dataclass(frozen=True)
class Rule:
    """One statistic, the side on which it is suspicious, and from where on; `chosen_by` is its recall in that half."""

    column: str
    side: str
    suspicion: Suspicion
    threshold: float
    chosen_by: float

    def suspicions(self, rows: Sequence[Row]) -> list[float]:
        """Of each document."""
        return [self.suspicion(row) for row in rows]

    def taken(self, rows: Sequence[Row]) -> Share:
        """How many documents are above the threshold."""
        return share_above(self.suspicions(rows), self.threshold)

    def caught(self, rows: Sequence[Row]) -> float:
        """The share of documents above the threshold."""
        return self.taken(rows).value


def best_rule(column: str, halves: Halves, false_positives: float) -> Rule:
    """With the side that finds most on the choosing half."""
    found = []
    for side in SIDES:
        suspicion = suspicion_of(column, side, halves.choosing[CLEAN])
        limit = threshold([suspicion(row) for row in halves.choosing[CLEAN]], false_positives)
        rule = Rule(column, side, suspicion, limit, 0.0)
        recall = mean([rule.caught(halves.choosing[name]) for name in halves.farms()])
        found.append(Rule(column, side, suspicion, limit, recall))
    return max(found, key=lambda rule: rule.chosen_by)  # of equals the first: one side before two


def suspicion_of(column: str, side: str, clean: Sequence[Row]) -> Suspicion:
    """How unlike a clean document's the score is. Without a score nothing is suspicious."""
    values = [row[column] for row in clean if row[column] is not None]
    low, middle, high = np.percentile(values, [5, 50, 95]) if values else (0.0, 0.0, 0.0)

    def suspicion(row: Row) -> float:
        value = row[column]
        if value is None:
            return -inf
        if side == "high":
            return float(value)
        if side == "low":
            return -float(value)
        return float(max((value - middle) / max(high - middle, 1e-9), (middle - value) / max(middle - low, 1e-9)))

    return suspicion


def report(rows: Sequence[Row], false_positives: float) -> Iterator[str]:
    """The tables, line by line."""
    halves = Halves.of(rows)
    columns = [name for name in (*LOSS, *BLIND) if any(row.get(name) is not None for row in rows)]
    rules = {name: best_rule(name, halves, false_positives) for name in columns}
    best = [max((n for n in columns if n in kind), key=lambda n: rules[n].chosen_by) for kind in (LOSS, BLIND)]
    clean = halves.telling[CLEAN]
    yield (
        f"{sum(map(len, halves.choosing.values()))} documents choose ({len(halves.choosing[CLEAN])} clean), "
        f"{sum(map(len, halves.telling.values()))} tell ({len(clean)} clean); thresholds at {false_positives:.0%}"
    )
    yield f"{'':32}{'side':6}{'recall':>8}{'clean taken':>22}{'hard':>8}{'AUC':>8}{'kept':>8}"
    for name, rule in rules.items():
        wrong, suspicions = rule.taken(clean), rule.suspicions(clean)
        low, high = wrong.interval()
        everything = [row for of_one in halves.telling.values() for row in of_one]
        recall = mean([rule.caught(halves.telling[g]) for g in halves.farms()])
        hard = mean([rule.caught(halves.telling[g]) for g in halves.hard()])
        area = mean(auc(rule.suspicions(halves.telling[g]), suspicions) for g in halves.farms())
        yield (
            f"{name:32}{rule.side:6}{recall:8.3f}{wrong.value:8.3f} ({low:.3f}-{high:.3f}){hard:8.3f}"
            f"{area:8.3f}{1 - rule.caught(everything):8.3f}" + (" *" if name in best else "")
        )
    yield "* chosen, of the loss and of the blind scores: the best on the choosing half"
    yield from by_generator(halves, rules, best, columns, false_positives)


def by_generator(
    halves: Halves, rules: Mapping[str, Rule], best: Sequence[str], columns: Sequence[str], false_positives: float
) -> Iterator[str]:
    """Recall for each generator: of the chosen statistics, of some others, and of several scores together."""
    blind = [name for name in columns if name in BLIND]
    loss = [name for name in columns if name in LOSS and name not in WITH_IMAGES]
    together = {"blind": blind, "loss": loss, "both": [*blind, *loss]}
    if any(name in columns for name in WITH_IMAGES):
        together["both, images"] = [*blind, *loss, *(name for name in WITH_IMAGES if name in columns)]
    shown = [*best, *(name for name in ("flamingo_image_gain",) if name in columns and name not in best)]
    names = [*(name.removeprefix("flamingo_") for name in shown), *together]
    yield ""
    yield f"{'':26}{'n':>5}" + "".join(f"{name:>{_wide(name)}}" for name in names) + "   (the last: together)"
    rows: dict[str, list[float]] = {}
    for g in [*halves.farms(), *halves.hard(), CLEAN]:
        found = [rules[name].caught(halves.telling[g]) for name in shown]
        for some in together.values():
            found.append(mean(list(taught_shares(some, halves, g, false_positives))))
        rows[g] = found
        cells = "".join(f"{value:{_wide(name)}.3f}" for name, value in zip(names, found, strict=True))
        yield f"{g:26}{len(halves.telling[g]):5}{cells}"
    for title, of in (("macro, generated", halves.farms()), ("macro, hard genres", halves.hard())):
        if of:
            means = [mean([rows[g][i] for g in of]) for i in range(len(names))]
            yield f"{title:31}" + "".join(f"{v:{_wide(n)}.3f}" for n, v in zip(names, means, strict=True))


def _wide(name: str) -> int:
    return max(8, len(name) + 2)


def family(generator: str) -> str:
    """Generators that are one program with other settings."""
    return generator.partition("_")[0] if len(generator.partition("_")[0]) == 1 else generator


def taught_shares(columns: Sequence[str], halves: Halves, generator: str, false_positives: float) -> Iterator[float]:
    """Shares caught of a generator by a regression that has not seen its family; of honest ones, by each of those."""
    farms = halves.farms()
    left_out = [family(generator)] if generator in farms else sorted({family(g) for g in farms})
    for out in left_out:
        seen = [row for g in farms if family(g) != out for row in halves.choosing[g]]
        clean = halves.choosing[CLEAN]
        read = Reader.of(columns, clean)
        weights = logistic(read(clean), read(seen))
        limit = threshold((read(clean) @ weights).tolist(), false_positives)
        yield float((read(halves.telling[generator]) @ weights > limit).mean())


@dataclass(frozen=True)
class Reader:
    """Scores as a matrix: each by its distance from the clean median on either side, and a one."""

    columns: tuple[str, ...]
    middle: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]

    @classmethod
    def of(cls, columns: Sequence[str], clean: Sequence[Row]) -> Reader:
        """Measured by the 5th and 95th percentile of clean documents."""
        known = [[row[name] for row in clean if row[name] is not None] or [0.0, 1.0] for name in columns]
        low, middle, high = np.array([np.percentile(values, [5, 50, 95]) for values in known]).T
        return cls(tuple(columns), middle, np.maximum(high - low, 1e-9) / 2)

    def __call__(self, rows: Sequence[Row]) -> npt.NDArray[np.float64]:
        """(rows, 2 * columns + 1); a score that is not there is as the median."""
        there = np.array([[np.nan if row[n] is None else row[n] for n in self.columns] for row in rows], np.float64)
        off = np.clip(np.nan_to_num((there - self.middle) / self.spread), -6, 6)
        return np.concatenate([np.maximum(off, 0), np.maximum(-off, 0), np.ones((len(rows), 1))], 1)


def logistic(honest: npt.NDArray[np.float64], generated: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Weights by Newton's method, both kinds counting the same; a little of a ridge, for scores that agree."""
    x = np.concatenate([honest, generated])
    y = np.concatenate([np.zeros(len(honest)), np.ones(len(generated))])
    share = np.concatenate([np.full(len(honest), 0.5 / len(honest)), np.full(len(generated), 0.5 / len(generated))])
    ridge = np.diag([*[0.003] * (x.shape[1] - 1), 1e-9])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (share * (p - y)) + ridge @ weights
        weights -= np.linalg.solve((x.T * (share * p * (1 - p))) @ x + ridge, gradient)
    return weights


if __name__ == "__main__":
    main()
