"""What scores of a text find of content farms, and what of honest text they take for one.

    python benchmarks/content_farms.py BENCH.jsonl [--columns farm_score word_repetition_ratio …] [--detector FILE.npz]
        [--kenlm FOLDER] [--classifier FILE.ftz]

BENCH.jsonl has {"id", "label", "generator", "text"} a line. Label 1 is generated; of label 0, generators whose names
begin with `hard_` are honest genres that look unusual. The threshold that one in a hundred of the other honest
documents is above is set on these documents; beside it is what the threshold in the detector's file does, and the bound
of the default config, with Wilson's 95 % intervals. Below each table is its CPU time on one core, and in the end that
of all columns together, each document measured by all of them in turn: `--columns perplexity worse_than_unigram_ratio
quality_score farm_score`. The models are those that the package ships, but where the command line names another.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from filters.registry import Filter, build
from filters.text import Text
from models.farm_detector.detector import bundled, load
from obelics_pipeline.config import load_config
from obelics_pipeline.rates import auc, mean, share_above, threshold

FALSE_POSITIVES = 0.01
CLEAN, HARD = "clean", "hard_"
SIGN = {"quality_score": -1, "distinct_word_ratio": -1, "lexical_cohesion": -1}  # low is what others are high for
WARM_UP = 20  # documents before the clock starts
STRETCHES = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01)  # of scores


def main() -> None:
    """Score, and print a table for each column."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("--columns", nargs="+", default=["farm_score"])
    parser.add_argument("--detector", help="in place of the shipped one")
    parser.add_argument("--kenlm", help="a folder as obelics fit kenlm writes it, in place of the shipped one")
    parser.add_argument("--classifier", help="a file as obelics fit classifier writes it, in place of the shipped one")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.bench.read_text("utf-8").splitlines()]
    given = options(arguments)
    made = {column: build(column, given.get(column, {})) for column in arguments.columns}
    for column in arguments.columns:
        seconds, found = timed([made[column]], rows)
        scores = [score for (score,) in found]
        by_generator: dict[str, list[float]] = defaultdict(list)
        for row, score in zip(rows, scores, strict=True):
            by_generator[row["generator"]].append(float("-inf") if score is None else SIGN.get(column, 1) * score)
        print(f"== {column}: {len(rows)} documents, {sum(s is None for s in scores)} without a score")
        print("\n".join(table(by_generator, thresholds(arguments.detector) if column == "farm_score" else ())))
        if column == "farm_score":
            print("\n".join(calibration(by_generator)))
        print(f"{speed(seconds, len(rows))}\n")
    if len(made) > 1:
        seconds, _ = timed(list(made.values()), rows)
        print(f"== {' + '.join(made)}: {speed(seconds, len(rows))}")


def options(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Of each column whose model the command line may name."""
    kenlm, classifier, detector = arguments.kenlm, arguments.classifier, arguments.detector
    return {
        "perplexity": {"folder": kenlm} if kenlm else {},
        "worse_than_unigram_ratio": {"folder": kenlm} if kenlm else {},
        "quality_score": {"model": classifier} if classifier else {},
        "farm_score": {"paths": {"en": detector}} if detector else {},
    }


def timed(measuring: Sequence[Filter], rows: Sequence[dict[str, Any]]) -> tuple[float, list[list[float | None]]]:
    """Seconds of CPU time, and what each filter says of each document; models have read some text before."""
    for row in rows[:WARM_UP]:
        for one in measuring:
            one.score(Text(row["text"], "en"))
    begin = time.process_time()
    found = []
    for row in rows:
        text = Text(row["text"], "en")
        found.append([one.score(text) for one in measuring])
    return time.process_time() - begin, found


def speed(seconds: float, documents: int) -> str:
    """Of one core."""
    return f"{documents / seconds:.0f} documents/s of one core, {seconds / documents * 1000:.2f} ms each"


def thresholds(path: str | None) -> list[float]:
    """The one that the detector's file has, where there is a detector; the bound of the default config."""
    file = path or bundled("en")
    bound = load_config("default").filters.document["farm_score"].max
    own = [] if file is None else [float(load(str(file)).about["threshold"])]
    return own if bound is None else [*own, float(bound)]


def table(by_generator: dict[str, list[float]], fixed: Sequence[float]) -> Iterator[str]:
    """Shares above the threshold at 1 % of the clean documents, and above fixed ones."""
    own = threshold(by_generator[CLEAN], FALSE_POSITIVES)
    farms = [name for name in sorted(by_generator) if name != CLEAN and not name.startswith(HARD)]
    hard = [name for name in sorted(by_generator) if name.startswith(HARD)]
    yield f"{'':26}{'n':>6}{'at 1 %':>10}{'AUC':>8}" + "".join(f"{f'over {over:.3f}':>22}" for over in fixed)
    for name in (*farms, *hard, CLEAN):
        scores = by_generator[name]
        line = f"{name:26}{len(scores):6}{share_above(scores, own).value:10.3f}{auc(scores, by_generator[CLEAN]):8.3f}"
        for over in fixed:
            share = share_above(scores, over)
            low, high = share.interval()
            line += f"{share.value:10.3f} ({low:.2f}-{high:.2f})"
        yield line
    for title, names in (("macro, generated", farms), ("macro, hard genres", hard)):
        if names:
            macro = [mean(share_above(by_generator[name], over).value for name in names) for over in (own, *fixed)]
            yield f"{title:26}{'':6}{macro[0]:10.3f}{'':8}" + "".join(f"{value:10.3f}{'':12}" for value in macro[1:])


def calibration(by_generator: dict[str, list[float]]) -> Iterator[str]:
    """Of each stretch of scores, what share would be generated if half of all documents were, each generator alike."""
    farms = [scores for name, scores in by_generator.items() if name != CLEAN and not name.startswith(HARD)]
    if farms:
        yield f"{'score':26}{'generated, of a half':>24}"
    for low, high in pairwise(STRETCHES) if farms else ():
        honest = mean(low <= score < high for score in by_generator[CLEAN])
        generated = mean(mean(low <= score < high for score in scores) for scores in farms)
        if honest + generated:
            yield f"{f'{low:g} to {min(high, 1):g}':26}{generated / (honest + generated):24.2f}"


if __name__ == "__main__":
    main()
