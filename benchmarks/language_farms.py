"""What a detector finds of farms in its language that are made by strangers to it, and what it takes of honest texts.

    python -m benchmarks.language_farms LANGUAGE STRANGERS.jsonl.gz DICTIONARY.index [--detector FILE.npz]
        [--column wording_score] [--write FILE.jsonl]

STRANGERS are honest texts that no model has seen, lines {"id", "source", "text"} as benchmarks/language_texts.py
writes them; DICTIONARY.index is a dictionary from another language, of dictd, with its .dict.dz, and not one that the
detector learned from. It prints the share of pages of each generator in benchmarks/stranger_farms/ above the score that
one in a hundred of the honest texts is above that are no novels, and above the bound of the default config, then the
share of honest texts of each source above the bound, all with Wilson's 95 % intervals, and the highest honest texts.
--column is another score, of the package's model: perplexity and quality_score have no bound, and of quality_score low
is what others are high for. --write keeps the pages.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from random import Random

from benchmarks.stranger_farms.chained import Chain
from benchmarks.stranger_farms.spun import others, spun
from benchmarks.stranger_farms.templated import templated
from obelics_pipeline.core.rates import Share, auc, share_above, threshold
from obelics_pipeline.filters.registry import build
from obelics_pipeline.filters.text import Text
from obelics_pipeline.fit.texts import FoundText, text_files

PAGES, HONEST = 150, 200  # of each generator; of each source at most
LENGTHS = (150, 400)  # words of a page
FALSE_POSITIVES, BOUND = 0.01, 0.95  # of the honest texts; of default.yaml
LEARNED = "novels"  # the source of most that detectors learn from: other works of it are easy to tell
HIGHEST = 5  # honest texts that are told
BOUNDED, SIGN = ("farm_score", "wording_score"), {"quality_score": -1}  # low is what others are high for


def main() -> None:
    """Make the pages, score them and the honest texts, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("language")
    parser.add_argument("strangers")
    parser.add_argument("dictionary", type=Path, metavar="DICTIONARY.index")
    parser.add_argument("--detector", help="in place of the shipped one")
    parser.add_argument("--column", default=BOUNDED[0], help="another score than farm_score")
    parser.add_argument("--write", type=Path, metavar="FILE.jsonl")
    arguments = parser.parse_args()
    random = Random(7)
    texts = [found for file in text_files([arguments.strangers]) for found in file.texts()]
    by_source = {source: chosen(texts, source, random) for source in sorted({text.source for text in texts})}
    pages = farms(arguments.language, list(by_source.values()), arguments.dictionary, random)
    if arguments.write:
        rows = ({"generator": name, "text": text} for name, made in pages.items() for text in made)
        arguments.write.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    options = {"paths": {arguments.language: arguments.detector}} if arguments.detector else {}
    measure, sign = build(arguments.column, options), SIGN.get(arguments.column, 1)
    bound = BOUND if arguments.column in BOUNDED else inf

    def scored(found: Sequence[str]) -> list[float]:
        scores = (measure.score(Text(text, arguments.language)) for text in found)
        return [sign * score for score in scores if score is not None]

    honest = {source: scored(found) for source, found in by_source.items()}
    every = [score for scores in honest.values() for score in scores]
    if not every:
        parser.exit(2, f"no text has a score: is there a model for {arguments.language}?\n")
    judging = [score for source, scores in honest.items() if source != LEARNED for score in scores]
    over = threshold(judging or every, FALSE_POSITIVES)
    half = threshold(every, 0.5)
    print(f"{arguments.language}: {len(every)} honest texts, half of them above {half:.3f}")
    print(f"{len(judging or every)} of them are no {LEARNED}; 1 % of these are above {over:.3f}")
    for name, made in pages.items():
        scores = scored(made)
        at_one, at_bound = told(share_above(scores, over)), told(share_above(scores, bound))
        print(f"{name:10} at 1 %: {at_one}  over {bound}: {at_bound}  AUC {auc(scores, every):.3f}")
    for source, scores in {**honest, "all": every}.items():
        print(f"honest {source:10} over {bound}: {told(share_above(scores, bound))}")
    ranked = sorted(((score, source) for source, scores in honest.items() for score in scores), reverse=True)
    print("highest:", ", ".join(f"{source} {score:.3f}" for score, source in ranked[:HIGHEST]))


def chosen(texts: Sequence[FoundText], source: str, random: Random) -> list[str]:
    """Some texts of a source."""
    of_it = [found.text for found in texts if found.source == source]
    return random.sample(of_it, min(HONEST, len(of_it)))


def farms(language: str, sources: Sequence[Sequence[str]], index: Path, random: Random) -> dict[str, list[str]]:
    """Pages of each generator, made of texts of all sources alike."""
    same, every = others(index), [text for texts in sources for text in texts]
    chains = [Chain(every, order, random) for order in (1, 2, 2)]
    copied = [random.choice(random.choice(sources)) for _ in range(PAGES)]
    lengths = [random.randint(*LENGTHS) for _ in range(PAGES)]
    return {
        "spun": [spun(" ".join(text.split(" ")[: LENGTHS[1]]), same, random) for text in copied],
        "chained": [random.choice(chains).page(length, random) for length in lengths],
        "templated": [templated(language, length, random) for length in lengths],
    }


def told(share: Share) -> str:
    """With its interval."""
    low, high = share.interval()
    return f"{share.value:.3f} ({low:.2f}-{high:.2f}) of {share.of}"


if __name__ == "__main__":
    main()
