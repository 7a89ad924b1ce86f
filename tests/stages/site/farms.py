"""Made corpora: sites of pages with scores, links and dates, as extracted units."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode, make_doc_id
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure, Work
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.stages import STAGES, names_of
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.site.value import SITE
from tests.stages.dedup.planted import job_on, run_job, words

SCORE = "farm_score"


class Corpus:
    """Documents, one after the other, each of a record of its own unless it says which."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.documents: list[Document] = []

    def page(self, url: str, score: float | None = None, **values: object) -> Document:
        """A page; `text` are its words, `record` another document whose part it is, the rest general metadata."""
        n = len(self.documents)
        text, reason = values.pop("text", None), values.pop("reason", None)
        record, language = values.pop("record", None), values.pop("language", "en")
        extra = [TextNode(str(paragraph)) for paragraph in values.pop("extra", ())]  # type: ignore[attr-defined]
        offset = record.warc_record_offset if isinstance(record, Document) else n
        image = f"https://img.example/{n}.jpg"
        document = Document(
            doc_id=make_doc_id("made.warc.gz", offset, part=n if isinstance(record, Document) else 0),
            url=url,
            warc_filename="made.warc.gz",
            warc_record_offset=offset,
            warc_record_length=1,
            nodes=[
                TextNode(str(text) if text is not None else " ".join(words(self.random, 60))),
                *extra,
                ImageNode(image, image),
            ],
            general={"warc_date": f"2024-01-01T00:{n // 60 % 60:02d}:{n % 60:02d}Z", **values},
            language=str(language),
            scores={SCORE: score},
            reason=None if reason is None else str(reason),
        )
        self.documents.append(document)
        return document


def mixed(seed: int, sites: int = 12) -> Corpus:
    """Sites of every kind: with copies, boilerplate, captures, parts, languages, dates, pages that a filter dropped."""
    corpus = Corpus(seed)
    dice = corpus.random
    shared = " ".join(words(dice, 80))
    for number in range(sites):
        domain = f"s{number}.example"
        for i in range(dice.choice([1, 1, 2, 5, 20])):
            score = None if dice.random() < 0.1 else round(dice.random() ** (1 + number % 3), 4)
            links = {"link_count": 20, "outbound_link_count": dice.randrange(20), "affiliate_link_count": number % 3}
            date = {"published": f"2023-0{1 + i % 9}-1{number % 9}"} if dice.random() < 0.7 else {}
            url = f"https://{dice.choice(['www', 'm', 'news'])}.{domain}/p{i}"
            made = corpus.page(
                url,
                score,
                text=shared if dice.random() < 0.1 else None,
                language=dice.choice(["en", "en", "de"]),
                reason=SCORE if score is not None and score > 0.8 else None,
                extra=["Share this with everybody you know"] if number % 2 else [],
                **links,
                **date,
            )
            if dice.random() < 0.2:
                corpus.page(url, score, record=made, text=" ".join(words(dice, 60)), part=1, parts=2, **links)
            if dice.random() < 0.1:
                corpus.page(url, score, text=made.text(), **links)  # captured again
    corpus.page("https://10.0.0.1/x", 0.5)
    corpus.page("nothing at all", 0.9)
    corpus.page(f"https://{'long.' * 10_000}example/", 0.9)
    return corpus


def sentences(dice: random.Random, number: int) -> list[str]:
    """Sentences of a person: function words and others as they come."""
    function = (
        "the of and to in that it was for on with as but at by from they this which or one had not are we".split()
    )
    return [
        " ".join(dice.choice(function) if dice.random() < 0.5 else words(dice, 1)[0] for _ in range(22)) + "."
        for _ in range(number)
    ]


def neighbours(corpus: Corpus, sites: int = 12, pages: int = 5) -> list[list[str]]:
    """Add honest sites; the sentences of each page."""
    said = [sentences(corpus.random, 12) for _ in range(sites * pages)]
    for number, page in enumerate(said):
        corpus.page(f"https://honest{number % sites}.example/{number}", 0.1, text=" ".join(page))
    return said


def config_of(dedup: dict[str, object] | None = None, **sections: object) -> RunConfig:
    """Scores are made up, so nothing is measured again."""
    return RunConfig.model_validate(
        {
            "fetch": {"enabled": False},
            "filters": {"document": {SCORE: {}}},
            "site": {"enabled": True},
            "dedup": {"measure_again": False, **(dedup or {})},
            **sections,
        }
    )


def write_units(corpus: Corpus, folder: Path, cuts: Sequence[int]) -> list[Manifest]:
    """Extracted units that end at these places and at the end; a record is never cut in two."""
    documents, manifests, start = corpus.documents, list[Manifest](), 0
    for number, end in enumerate([*sorted(set(cuts)), len(documents)]):
        while end < len(documents) and documents[end].warc_record_offset != end:
            end += 1
        ledger = Ledger("documents")
        with Attempt(folder, Unit("extract", "0" * 16, f"u-{number:06d}")) as attempt:
            with DocumentWriter(attempt.file("data", ".parquet"), [SCORE], []) as writer:
                for document in documents[start:end]:
                    writer.write(document)
                    if document.reason is None:
                        ledger.keep()
                    else:
                        ledger.drop(document.reason)
            manifests.append(attempt.commit([ledger]))
        start = max(start, end)
    return manifests


class Here(LocalEngine):
    """The local engine with its shuffle, but units are done in this process: starting others is what takes time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(1, folder, 600.0)

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        for unit in units:
            yield unit, work(unit)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        return map(function, items)


def run(corpus: Corpus, output: Path, config: RunConfig | None = None, cuts: Sequence[int] = ()) -> Job:
    """From extracted units to shards."""
    extracted = write_units(corpus, RunFolder(output).extract, cuts)
    return run_job(Here(output), output, extracted, config or config_of())


def judge(corpus: Corpus, output: Path, config: RunConfig | None = None, cuts: Sequence[int] = ()) -> Job:
    """From extracted units to the documents of the stage `site`, and no further."""
    folder, config = RunFolder(output), config or config_of()
    extracted = write_units(corpus, folder.extract, cuts)
    events = EventLog(folder.events)
    runner = StageRunner(Here(output), events, Display(Console(quiet=True)), names_of(STAGES))
    job = job_on(extracted, folder, config, runner)
    for stage in STAGES[1 : STAGES.index(SITE) + 1]:
        stage.do(job)
    events.close()
    assert runner.failures == []
    return job


def rows(output: Path, folder: str = "site") -> dict[str, dict[str, object]]:
    """What stands in the documents of a stage, by id, the nodes and the texts left out."""
    found: dict[str, dict[str, object]] = {}
    for path in sorted((output / folder).glob("*.parquet")):
        table = pq.read_table(path)
        table = table.drop_columns(["nodes", "texts", "images", "metadata"])
        found |= {value["doc_id"]: value for value in table.to_pylist()}
    return found
