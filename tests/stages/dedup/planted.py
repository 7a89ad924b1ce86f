"""A made corpus with duplicates of every kind planted in it, as extracted units, and what must become of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.corpus import Corpus
from obelics_pipeline.core.document import Document, ImageNode, TextNode, make_doc_id
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger, total
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.publish import publish
from obelics_pipeline.jobs.stages import STAGES, columns_of, names_of
from obelics_pipeline.stages.fetch.value import FETCH
from obelics_pipeline.stages.job import Documents, Job

VOCABULARY = 20_000  # made-up words: two texts by chance share no shingle
NOTICE = "We and our partners store cookies on your device for this site"


@dataclass
class Planted:
    """The documents in the order of the input, and what is expected of those that are not clean."""

    documents: list[Document] = field(default_factory=list)
    duplicates: dict[str, tuple[str, str]] = field(default_factory=dict)  # doc_id -> (reason, doc_id that is kept)
    paragraphs: dict[str, str] = field(default_factory=dict)  # doc_id -> the paragraph that it loses
    images: dict[str, str] = field(default_factory=dict)  # doc_id -> the image URL that it loses
    # What only those know who have the images:
    copies: dict[str, str] = field(default_factory=dict)  # URL -> another one with the same bytes
    looks: dict[str, str] = field(default_factory=dict)  # URL -> its perceptual hash, where others have it as well
    same_bytes: dict[str, tuple[str, str]] = field(default_factory=dict)  # as `duplicates`
    same_looks: dict[str, str] = field(default_factory=dict)  # as `images`


def words(random_: random.Random, count: int) -> list[str]:
    return [f"w{random_.randrange(VOCABULARY)}" for _ in range(count)]


class Maker:
    """Makes documents one after the other; each is clean unless something is planted in it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.planted = Planted()

    def document(self, **values: object) -> Document:
        n = len(self.planted.documents)
        day = self._random.randrange(1, 29)
        host = values.get("host", f"site{n % 997}.example")
        text = values.get("text") or words(self._random, 60)
        nodes = [TextNode(" ".join(text[i : i + 20])) for i in range(0, len(text), 20)]  # type: ignore[index, arg-type]
        nodes += [TextNode(str(extra)) for extra in values.get("extra", ())]  # type: ignore[attr-defined]
        images = values.get("images") or [f"https://img.example/{n}-{i}.jpg" for i in range(2)]
        document = Document(
            doc_id=make_doc_id("planted.warc.gz", n),
            url=str(values.get("url", f"https://{host}/page-{n}")),
            warc_filename="planted.warc.gz",
            warc_record_offset=n,
            warc_record_length=1,
            nodes=[*nodes, *(ImageNode(url, url) for url in images)],  # type: ignore[attr-defined]
            general={"warc_date": str(values.get("date", f"2024-03-{day:02d}T00:00:00Z"))},
            language="en",
            scores={"word_count": float(len(text))},  # type: ignore[arg-type]
        )
        self.planted.documents.append(document)
        return document

    def clean(self, count: int) -> None:
        for _ in range(count):
            self.document()

    def captures(self, spellings: Sequence[str]) -> None:
        """One page, captured again and again; the newest is kept."""
        n = len(self.planted.documents)
        made = [
            self.document(url=spelling.format(n=n), date=f"2024-{month:02d}-01T00:00:00Z")
            for month, spelling in enumerate(spellings, 1)
        ]
        for document in made[:-1]:
            self.planted.duplicates[document.doc_id] = ("duplicate_url", made[-1].doc_id)

    def near_copies(self, count: int, changed: int) -> None:
        """A text on several sites, `changed` words of 300 replaced in each copy; the newest is kept."""
        text = words(self._random, 300)
        made = []
        for i in range(count):
            copy = list(text)
            for at in self._random.sample(range(300), changed if i else 0):
                copy[at] = f"x{self._random.randrange(VOCABULARY)}"
            date = f"2024-{12 - i:02d}-02T00:00:00Z"
            made.append(self.document(text=copy, date=date))
        for document in made[1:]:
            self.planted.duplicates[document.doc_id] = ("duplicate_text", made[0].doc_id)

    def boilerplate(self, pages: int) -> None:
        """A paragraph on so many pages of one site."""
        n = len(self.planted.documents)
        notice = f"{NOTICE} {n}"
        for _ in range(pages):
            document = self.document(host=f"shop{n}.example", extra=[notice])
            if pages >= 3:
                self.planted.paragraphs[document.doc_id] = notice

    def banner(self, documents: int) -> None:
        """An image on so many documents."""
        n = len(self.planted.documents)
        url = f"https://ads.example/{n}.jpg"
        for i in range(documents):
            document = self.document(images=[url, f"https://img.example/{n}/{i}.jpg"])
            if documents > 10:
                self.planted.images[document.doc_id] = url

    def same_images(self, documents: int) -> None:
        """Other texts around the same two images; the newest is kept."""
        n = len(self.planted.documents)
        urls = [f"https://press.example/{n}-{i}.jpg" for i in range(2)]
        made = [
            self.document(images=urls[:: 1 if i % 2 else -1], date=f"2024-{12 - i:02d}-03T00:00:00Z")
            for i in range(documents)
        ]
        for document in made[1:]:
            self.planted.duplicates[document.doc_id] = ("duplicate_image_set", made[0].doc_id)

    def mirrored_images(self, documents: int) -> None:
        """Other texts around the same two images, which each site has under addresses of its own."""
        n = len(self.planted.documents)
        made = []
        for i in range(documents):
            urls = [f"https://mirror{i}.example/{n}-{j}.jpg" for j in range(2)]
            self.planted.copies |= {url: f"https://mirror0.example/{n}-{j}.jpg" for j, url in enumerate(urls)}
            made.append(self.document(images=urls, date=f"2024-{12 - i:02d}-04T00:00:00Z"))
        for document in made[1:]:
            self.planted.same_bytes[document.doc_id] = ("duplicate_image_set", made[0].doc_id)

    def placeholder(self, documents: int) -> None:
        """An image on so many documents, each time under another address and stored anew."""
        n = len(self.planted.documents)
        for i in range(documents):
            url = f"https://stock.example/{n}-{i}.jpg"
            self.planted.looks[url] = f"{n:016x}"
            document = self.document(images=[url, f"https://img.example/{n}/{i}.jpg"])
            if documents > 10:
                self.planted.same_looks[document.doc_id] = url


CAPTURES = (
    "http://www.page{n}.example/a?utm_source=feed",
    "https://page{n}.example/a/#top",
    "https://page{n}.example/a",
)


def plant(count: int, seed: int = 7) -> Planted:
    """A corpus of `count` documents: a hundredth part of each kind of duplicate, the rest clean, well mixed."""
    maker, random_ = Maker(seed), random.Random(seed)
    kinds: list[int] = []
    while len(maker.planted.documents) < count:
        maker.clean(random_.randrange(20, 120))
        kinds = kinds or random_.sample(range(8), 8)  # all in turn, in no order
        kind = kinds.pop()
        if kind == 0:
            maker.captures(CAPTURES[: random_.randrange(2, 4)] if random_.random() < 0.9 else CAPTURES[::-1])
        elif kind == 1:
            maker.near_copies(random_.randrange(2, 9), changed=3)
        elif kind == 2:
            maker.near_copies(3, changed=0)
        elif kind == 3:
            maker.boilerplate(random_.randrange(2, 9))
        elif kind == 4:
            maker.banner(random_.randrange(9, 13))
        elif kind == 5:
            maker.same_images(random_.randrange(2, 5))
        elif kind == 6:
            maker.mirrored_images(random_.randrange(2, 5))
        elif kind == 7:
            maker.placeholder(random_.randrange(9, 13))
    return maker.planted


def write_units(documents: Sequence[Document], folder: Path, per_unit: int, label: str = "u") -> list[Manifest]:
    """Extracted units of these documents, in order."""
    manifests = []
    for number, start in enumerate(range(0, len(documents), per_unit)):
        ledger = Ledger("documents")
        with Attempt(folder, Unit("extract", "0" * 16, f"{label}-{number:06d}")) as attempt:
            with DocumentWriter(attempt.file("data", ".parquet"), ["word_count"], []) as writer:
                for document in documents[start : start + per_unit]:
                    writer.write(document)
                    ledger.keep()
            manifests.append(attempt.commit([ledger]))
    return manifests


def config_of(**sections: object) -> RunConfig:
    """The default rules of dedup, without fetching or filters."""
    return RunConfig.model_validate({"fetch": {"enabled": False}, **sections})


def run_job(
    engine: Engine,
    output: Path,
    extracted: Sequence[Manifest],
    config: RunConfig,
    earlier: Sequence[Corpus] = (),
    fetch: Callable[[Documents], Partitions] | None = None,
) -> Job:
    """From extracted units to shards; `fetch` is asked in place of the web."""
    folder, events = RunFolder(output), EventLog(output / "events.jsonl")
    runner = StageRunner(engine, events, Display(Console(quiet=True)), names_of(STAGES))
    job = job_on(extracted, folder, config, runner, earlier)
    for stage in STAGES[1:]:
        if stage is FETCH and fetch:
            job.answers = fetch(job.documents)
        else:
            stage.do(job)
    publish(job, STAGES)
    events.close()
    assert job.lost() == []
    assert runner.failures == []
    return job


def job_on(
    extracted: Sequence[Manifest],
    folder: RunFolder,
    config: RunConfig,
    runner: StageRunner,
    earlier: Sequence[Corpus] = (),
) -> Job:
    """A job whose first stage is done."""
    job = Job(folder, config, runner, columns_of(STAGES, config), earlier)
    runner.ledgers["extract"] = {"documents": total("documents", (m.ledgers["documents"] for m in extracted))}
    job.extracted, job.documents = extracted, Documents(extracted, folder.extract)
    return job


def shard_documents(output: Path) -> Iterator[dict[str, object]]:
    """The assembled documents of a finished run that are in its shards, in order."""
    import json
    import tarfile

    for path in sorted((output / "shards").glob("*.tar")):
        with tarfile.open(path) as tar:
            for member in tar:
                if member.name.endswith(".json"):
                    file = tar.extractfile(member)
                    assert file is not None
                    yield json.load(file)
