"""`FetchImages`: the images of kept documents, fetched by host; then the documents' last cleaning and decision."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection

from obelics_pipeline.beam_jobs.child_process import ChildProcess
from obelics_pipeline.beam_jobs.counters import count, ledger_counts
from obelics_pipeline.beam_jobs.elements import by_id, from_bytes, is_kept
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, to_json
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import digest
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.filters.rule import paragraph_score
from obelics_pipeline.policy.tombstones.tombstones import configured
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.host import host_bucket
from obelics_pipeline.stages.fetch.image_rules import url_reason
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.shard.assemble import assemble

BUCKET_SECONDS = 6 * 3600.0  # a bucket that takes longer is killed and tried again; it goes on from its journal


class FetchImages(beam.PTransform[Any, Any]):
    """PCollection[Document] -> PCollection[Document].

    Every document comes out once. Of a kept one each image has its facts (sha256, format, size in pixels) or the reason
    why it has none, the last cleaning of `config.finish` is done, and `reason` says where too few images, or no text,
    are left. The bytes go to the image store at `images`, a folder that all workers reach. Dropped documents pass by.

    URLs are grouped by host (`config.fetch.buckets`), so that a host's limits hold; each distinct URL of a bucket is
    asked once. A runner that repeats a bundle asks again: for a crawl, where that must not be, use the main job. With
    `fetch.enabled: false` nothing is asked. Counters: `urls_ok`, `urls_dropped.…`, `urls_failed.…`, `images_*`.
    """

    def __init__(self, config: RunConfig, images: Location) -> None:
        super().__init__()
        self._config, self._images = config, images

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Ask by host, bring the answers back by document."""
        guard = ChildProcess(Path(tempfile.gettempdir()), BUCKET_SECONDS, ("obelics_pipeline.stages.fetch.bucket",))
        answers = (
            pcoll
            | "Requests" >> beam.ParDo(_Requests(self._config)).with_output_types(tuple[str, str])
            | "ByHost" >> beam.GroupByKey()
            | "Fetch" >> beam.ParDo(_Fetch(self._config, self._images, guard)).with_output_types(tuple[str, bytes])
        )
        documents = pcoll | "ById" >> beam.Map(by_id).with_output_types(tuple[str, bytes])
        return (
            {"documents": documents, "answers": answers}
            | "BringBack" >> beam.CoGroupByKey()
            | "Assemble" >> beam.ParDo(_Assemble(self._config)).with_output_types(Document)
        )


class _Requests(beam.DoFn):
    """(bucket, JSON of (URL, document)) for each image that may be asked for."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config

    def process(self, element: Document) -> Iterator[tuple[str, str]]:
        if not self._config.fetch.enabled or not is_kept(element):
            return
        for url in sorted({image.src for image in element.images()}):
            if url_reason(url, self._config.images) is None:
                yield str(host_bucket(url, self._config.fetch.buckets)), json.dumps([url, element.doc_id])


class _Fetch(beam.DoFn):
    def __init__(self, config: RunConfig, images: Location, guard: ChildProcess) -> None:
        self._config, self._images, self._guard = config, images, guard

    def setup(self) -> None:
        self._child: LocalEngine = self._guard.open().__enter__()

    def teardown(self) -> None:
        self._child.__exit__(None, None, None)

    def process(self, element: tuple[str, Iterable[str]]) -> Iterator[tuple[str, bytes]]:
        asked: list[list[str]] = [json.loads(value) for value in element[1]]
        fetch = partial(fetch_urls, config=self._config, images=self._images)
        (results,) = self._child.map(fetch, [sorted({url for url, _ in asked})])
        for result in results.values():
            count(f"urls_{result['status']}" + (f".{result['reason']}" if result["reason"] else ""))
        for url, doc_id in asked:
            yield doc_id, to_json(results[url]).encode("utf-8", "surrogatepass")


def fetch_urls(urls: list[str], *, config: RunConfig, images: Location) -> Mapping[str, Any]:
    """The result of each URL, by URL, as JSON. Runs in the guarded process; a second try goes on from its journal."""
    journal = Path(tempfile.gettempdir()) / f"obelics-fetch-{digest(urls, str(images))}.jsonl"
    store = ImageStore(images)
    measures = config.images.measures
    ingest = Ingest(config.fetch, config.image_safety, store, forgotten=configured(config), measures=measures)
    results = fetch_bucket(urls, config.fetch, store, {}, journal, ingest)
    journal.unlink(missing_ok=True)
    return {result.url: result.to_json() for result in results}


class _Assemble(beam.DoFn):
    def __init__(self, config: RunConfig) -> None:
        self._config = config

    def setup(self) -> None:
        self._forgotten = configured(self._config)

    def process(self, element: tuple[str, Mapping[str, Iterable[bytes]]]) -> Iterator[Document]:
        _, joined = element
        answers = [FetchResult(**json.loads(value.decode("utf-8", "surrogatepass"))) for value in joined["answers"]]
        results = {answer.url: answer for answer in answers}
        for document in map(from_bytes, joined["documents"]):
            if is_kept(document):
                images = assemble(document, results, self._config, paragraph_score, forgotten=self._forgotten)
                for name, n in ledger_counts([images]).items():
                    count(name, n)
            yield document
