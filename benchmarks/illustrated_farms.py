"""Trusted texts with pictures of what they name, to learn from; others of them, and what farms make of these, to judge.

    python benchmarks/illustrated_farms.py TEXTS.jsonl.gz --thesaurus th_en_US_v2.dat --output DIR

There is no trusted text with its own photographs at hand, so each passage of about a hundred words gets a picture that
the demo's painter draws of the scene whose words it has most of: the sea, a town, a kitchen, ten in all. Where it has
no such word it gets none. A picture tells which of ten scenes a passage is about, and nothing else.

DIR/train.jsonl      documents {"id", "texts", "images"}, every other one without its pictures
DIR/bench.jsonl      documents that are not of the works learned from, with "label" and "generator": `clean`; `hard_…`,
                     the same laid out as verse or a list, or with a learner's mistakes; the detector's families of
                     generated text with the pictures of the text they were made of, or of any other where they were
                     made of many; and `images_exchanged`, untouched text with the pictures of another document
DIR/images/          the pictures, named by the sha256 of their URLs
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from obelics_pipeline.demo.pictures import SCENE_OF, draw
from obelics_pipeline.fit.farm_detector.boilerplate import boilerplate
from obelics_pipeline.fit.farm_detector.chains import Chains
from obelics_pipeline.fit.farm_detector.layouts import bullets, verse
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, count_words, marked, plain, sentences
from obelics_pipeline.fit.farm_detector.shuffling import mixed_sentences, sentences_out_of_order, words_out_of_order
from obelics_pipeline.fit.farm_detector.spinning import Spinner
from obelics_pipeline.fit.farm_detector.splicing import spliced
from obelics_pipeline.fit.farm_detector.templates import stuffed_templates
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.farm_detector.unusual import learner
from obelics_pipeline.fit.farm_detector.wrong_words import wrong_words

BLOCK = 100  # words at least that share a picture
BLOCKS = 3  # of a document
WORKS = 40  # parts of a file whose texts stand together, and may be of one work
JUDGED = 8  # one part in so many is not learned from
SIDE = 72  # pixels of a picture
EACH = 50  # documents of a family
CLEAN = 300


@dataclass(frozen=True)
class Illustrated:
    """Passages of one text, each with the URL of its picture, or None."""

    name: str
    passages: tuple[str, ...]
    pictures: tuple[str | None, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(self.passages)

    def shares(self) -> list[tuple[float, str]]:
        """How much of the words stands in front of each picture."""
        words = [count_words(passage) for passage in self.passages]
        before = [sum(words[:i]) / sum(words) for i in range(len(words))]
        return [(share, url) for share, url in zip(before, self.pictures, strict=True) if url is not None]


def blocks(text: str) -> Iterator[str]:
    """Whole paragraphs of a hundred words or so; a longer paragraph is cut behind a sentence."""
    taken: list[str] = []
    for paragraph in text.split("\n\n"):
        for part in _cut(paragraph):
            taken.append(part)
            if sum(map(count_words, taken)) >= BLOCK:
                yield "\n\n".join(taken)
                taken = []


def _cut(paragraph: str) -> Iterator[str]:
    taken: list[str] = []
    for sentence in sentences(paragraph):
        taken.append(sentence)
        if sum(map(count_words, taken)) >= BLOCK:
            yield " ".join(taken)
            taken = []
    if taken:
        yield " ".join(taken)


def picture_of(passage: str, number: str) -> str | None:
    """The URL of a picture of the scene whose words the passage has most of."""
    words = [w for word in re.findall("[a-z]+", passage.lower()) if (w := word.removesuffix("s")) in SCENE_OF]
    scenes = Counter(SCENE_OF[word] for word in words)
    if not scenes:
        return None
    scene = max(sorted(scenes), key=scenes.__getitem__)
    word, _ = Counter(word for word in words if SCENE_OF[word] == scene).most_common(1)[0]
    return f"http://pictures.example/{word}-{number}-{SIDE}x{SIDE}.jpg"


def illustrated(number: int, text: str) -> Iterator[Illustrated]:
    """Documents of three passages each."""
    found = list(blocks(text))
    for begin in range(0, len(found) - BLOCKS + 1, BLOCKS):
        passages = tuple(found[begin : begin + BLOCKS])
        pictures = tuple(picture_of(p, f"{number}{begin + i:04d}") for i, p in enumerate(passages))
        yield Illustrated(f"{number}-{begin}", passages, pictures)


def interleaved(text: str, shares: Sequence[tuple[float, str]]) -> dict[str, list[str | None]]:
    """A text with pictures, each at the end of a sentence behind about as many of the words as it was before."""
    found = re.split(r"(?<=[.!?])(\s+)|(\n+)", text)
    parts = [part for part in found if part]
    total, words, left = count_words(text), 0, list(shares)
    texts: list[str | None] = []
    images: list[str | None] = []
    taken = ""
    for part in parts:
        while left and words >= left[0][0] * total - BLOCK // 20:
            if taken.strip():
                texts, images, taken = [*texts, taken.strip()], [*images, None], ""
            texts, images = [*texts, None], [*images, left.pop(0)[1]]
        taken += part
        words += count_words(part)
    texts, images = ([*texts, taken.strip()], [*images, None]) if taken.strip() else (texts, images)
    for _, url in left:
        texts, images = [*texts, None], [*images, url]
    return {"texts": texts, "images": images}


class OneOf(TrustedTexts):
    """Trusted texts of which the passage is always the same."""

    def __init__(self, of: TrustedTexts, text: str) -> None:
        self.__dict__.update(of.__dict__)
        self._text = text

    def passage(self, random: Random, words: int | None = None) -> str:
        """That text."""
        return self._text


def generators(trusted: TrustedTexts, thesaurus: Thesaurus) -> Mapping[str, Callable[[str, Random], str]]:
    """What a farm, or an honest writer of an unusual genre, makes of a text. Some do not look at it."""
    spinner, chains = Spinner(thesaurus), Chains(trusted)

    def of_many(make: Callable[[TrustedTexts, Random], MarkedText]) -> Callable[[str, Random], str]:
        return lambda _text, random: plain(make(trusted, random))

    def of_one(make: Callable[[TrustedTexts, Random], MarkedText]) -> Callable[[str, Random], str]:
        return lambda text, random: plain(make(OneOf(trusted, text), random))

    return {
        "hard_verse": lambda text, random: plain(verse(marked(text), random)),
        "hard_bullets": lambda text, random: plain(bullets(marked(text), random)),
        "hard_learner": lambda text, random: plain(learner(marked(text), random)),
        "spinning": lambda text, random: plain(spinner.spin(text, random)),
        "wrong_words": of_one(wrong_words),
        "words_out_of_order": of_one(words_out_of_order),
        "sentences_out_of_order": of_one(sentences_out_of_order),
        "mixed_sentences": of_many(mixed_sentences),
        "splicing": of_many(spliced),
        "chains": lambda _text, random: plain(chains.make(random)),
        "templates": of_many(stuffed_templates),
        "boilerplate": of_many(boilerplate),
    }


def judged_rows(
    documents: Sequence[Illustrated], trusted: TrustedTexts, thesaurus: Thesaurus
) -> Iterator[dict[str, Any]]:
    """The rows of the benchmark, the same in every run."""
    random = Random(1)
    documents = [document for document in documents if len(document.shares()) > 1]
    random.shuffle(documents)
    clean, rest = documents[:CLEAN], documents[CLEAN:] or documents
    for document in clean:
        yield {"id": f"clean-{document.name}", "label": 0, "generator": "clean"} | interleaved(
            document.text, document.shares()
        )
    for name, make in generators(trusted, thesaurus).items():
        for document in random.sample(rest, min(EACH, len(rest))):
            yield {
                "id": f"{name}-{document.name}",
                "label": int(not name.startswith("hard_")),
                "generator": name,
            } | interleaved(make(document.text, random), document.shares())
    for document, other in zip(rest[:EACH], [*rest[1:EACH], rest[0]], strict=True):
        places = [(share, url) for (share, _), (_, url) in zip(document.shares(), other.shares() * 2, strict=False)]
        yield {
            "id": f"images_exchanged-{document.name}",
            "label": 1,
            "generator": "images_exchanged",
        } | interleaved(document.text, places)


def write_pictures(rows: Sequence[Mapping[str, Any]], folder: Path) -> int:
    """Draw what the rows show; returns how many pictures there are."""
    folder.mkdir(exist_ok=True)
    urls = {url for row in rows for url in row["images"] if url is not None}
    for url in sorted(urls):
        drawn = draw(url)
        assert drawn is not None, url
        (folder / hashlib.sha256(url.encode()).hexdigest()).write_bytes(drawn[0])
    return len(urls)


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts", type=Path, help='.jsonl.gz of {"text": …}')
    parser.add_argument("--thesaurus", type=Path, required=True, help="as for `obelics fit detector`")
    parser.add_argument("--most", type=int, default=2500, help="documents to learn from, about (default: 2500)")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    with gzip.open(arguments.texts, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    learned: list[Illustrated] = []
    judged: list[Illustrated] = []
    kept_apart: list[str] = []
    for number, text in enumerate(texts):
        apart = number * WORKS // len(texts) % JUDGED == JUDGED // 2
        (judged if apart else learned).extend(illustrated(number, text))
        kept_apart += [text] if apart else []
    step = max(1, len(learned) // arguments.most)
    training = [
        {"id": document.name} | interleaved(document.text, document.shares() if i % 2 else [])
        for i, document in enumerate(learned[::step])
    ]
    write(training, "train", arguments.output)
    bench = list(judged_rows(judged, TrustedTexts(kept_apart), Thesaurus.load(arguments.thesaurus)))
    write(bench, "bench", arguments.output)
    print(", ".join(f"{name} {count}" for name, count in Counter(row["generator"] for row in bench).items()))


def write(rows: Sequence[Mapping[str, Any]], name: str, folder: Path) -> None:
    """Rows as JSON lines, and their pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    images = write_pictures(rows, folder / "images")
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text, "utf-8")
    print(f"{name}: {len(rows):,} documents, {sum(map(_words, rows)):,} words, {images:,} pictures", flush=True)


def _words(row: Mapping[str, Any]) -> int:
    return sum(count_words(text) for text in row["texts"] if text)


if __name__ == "__main__":
    main()
