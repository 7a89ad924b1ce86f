"""What the statistics of a text cost: compiled, in Python, and as plainly as they can be written.

    python benchmarks/text_statistics.py WARC... [--documents N] [--repeats N]

Pages are read and extracted first, then the variants take turns over the same documents; figures are the medians, in
milliseconds of CPU time per document. `plain` cuts the text into words anew for every statistic and counts with a
Counter, as the reference does. All variants are checked to give equal values.
"""

from __future__ import annotations

import argparse
import copy
import math
import re
import statistics as average
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from filters import Text, build, pure, statistics
from filters.characters import SPECIAL, SPECIAL_STRING
from filters.word_lists import bundled, stop_words
from models.language_id import LanguageModel
from obelics_pipeline.config import load_config
from obelics_pipeline.document import Document, TextNode
from obelics_pipeline.extract.measure import Measurer
from obelics_pipeline.extract.page import PageRejected, extract_page
from obelics_pipeline.read.inputs import resolve_inputs
from obelics_pipeline.read.page import Page
from obelics_pipeline.read.ranges import plan_ranges
from obelics_pipeline.read.records import read_task

NAMES = ("word_count", "character_repetition_ratio", "word_repetition_ratio", "special_character_ratio",
         "stopword_ratio", "flagged_word_ratio", "punctuation_ratio", "spam_word_ratio")  # fmt: skip
FUNCTIONS = ("lowered_words", "count_characters", "count_members", "count_punctuation", "character_repetition",
             "word_repetition")  # fmt: skip

Scores = list[float | None]


def documents(paths: Sequence[str], rules: str, at_most: int) -> Iterator[Document]:
    """The documents of the responses of WARC files that have any text."""
    config = load_config(rules)
    tasks = plan_ranges(resolve_inputs(paths, config.reading), config.reading)
    for page in (item for task in tasks for item in read_task(task, config.reading) if isinstance(item, Page)):
        try:
            nodes = extract_page(page.html, page.url, config.extract).nodes
        except PageRejected:
            continue
        document = Document("", page.url, page.warc_filename, page.offset, page.length, nodes)
        if document.text() and at_most:
            at_most -= 1
            yield document


def use(module: object) -> None:
    """Let the filters use the functions of one implementation."""
    for name in FUNCTIONS:
        setattr(statistics, name, getattr(module, name))


def by_filters(texts: Sequence[str]) -> Callable[[], list[Scores]]:
    """All statistics of each text, by the filters, on one tokenisation."""
    built = [build(name) for name in NAMES]
    return lambda: [[f.score(text) for f in built] for text in (Text(t, "en") for t in texts)]


def plain(texts: Sequence[str]) -> Callable[[], list[Scores]]:
    """The same statistics, each for itself."""
    lists = [stop_words("en"), bundled("flagged", "en"), bundled("spam", "en")]
    return lambda: [_plain_scores(text, [words or frozenset() for words in lists]) for text in texts]


def _plain_scores(text: str, lists: Sequence[frozenset[str]]) -> Scores:
    grams = Counter(text[i : i + 10] for i in range(len(text) - 9))
    top = sorted((n for n in grams.values() if n > 1), reverse=True)[: math.isqrt(len(grams))]
    words = _plain_words(text)
    phrases = Counter(tuple(words[i : i + 5]) for i in range(len(words) - 4))
    tokens = re.findall(r"[\w']+|[,;:?!.]", text)
    ratios = [sum(w in members for w in _plain_words(text)) / max(len(_plain_words(text)), 1) for members in lists]
    return [
        float(len(_plain_words(text))),
        sum(top) / max(sum(grams.values()), 1),
        sum(n for n in phrases.values() if n > 1) / max(sum(phrases.values()), 1),
        sum(c in SPECIAL for c in text) / max(len(text), 1),
        *ratios[:2],
        sum(t in ",;:?!." for t in tokens) / max(len(tokens), 1),
        ratios[2],
    ]


def _plain_words(text: str) -> list[str]:
    tokens = text.lower().replace("\n", " ").replace("\t", " ").split(" ")
    return [word for token in tokens if (word := token.strip(SPECIAL_STRING))]


def take_turns(variants: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each variant."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(repeats):
        for name, run in variants.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    return {name: average.median(values) for name, values in seconds.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    found = list(documents(arguments.warcs, "default", arguments.documents))
    texts = [d.text() for d in found]
    paragraphs = [n.text for d in found for n in d.nodes if isinstance(n, TextNode)]
    characters = average.mean(map(len, texts))
    print(f"{len(texts)} documents, mean {characters:.0f} characters, {len(paragraphs) / len(texts):.0f} paragraphs")

    fast = {name: getattr(statistics, name) for name in FUNCTIONS}
    compiled = type("Compiled", (), {name: staticmethod(f) for name, f in fast.items()})

    def with_(module: object, run: Callable[[], object]) -> Callable[[], object]:
        def turn() -> object:
            use(module)
            try:
                return run()
            finally:
                use(compiled)

        return turn

    expected = plain(texts)()
    if with_(compiled, by_filters(texts))() != expected or with_(pure, by_filters(texts))() != expected:
        raise SystemExit("the variants do not agree")
    model = LanguageModel.load()
    measurers = {
        rules: Measurer(load_config(rules).filters, load_config(rules).language) for rules in ("obelics", "default")
    }
    copies = {rules: [copy.deepcopy(found) for _ in range(arguments.repeats)] for rules in measurers}
    variants: dict[str, Callable[[], object]] = {
        "documents, plain": plain(texts),
        "documents, in Python": with_(pure, by_filters(texts)),
        "documents, compiled" if statistics.COMPILED else "documents, again": with_(compiled, by_filters(texts)),
        "paragraphs, plain": plain(paragraphs),
        "paragraphs, in Python": with_(pure, by_filters(paragraphs)),
        "paragraphs, compiled" if statistics.COMPILED else "paragraphs, again": with_(compiled, by_filters(paragraphs)),
        "language, whole text": lambda: [model.predict(text) for text in texts],
        "language, 2,000 characters": lambda: [model.predict(text, 2000) for text in texts],
        **{
            f"Measurer.measure, {rules}.yaml": lambda rules=rules: [  # type: ignore[misc]
                measurers[rules].measure(document)  # type: ignore[func-returns-value]
                for document in copies[rules].pop()
            ]
            for rules in measurers
        },
    }
    for name, seconds in take_turns(variants, arguments.repeats).items():
        print(f"{seconds / len(texts) * 1000:8.3f} ms  {name}")


if __name__ == "__main__":
    main()
