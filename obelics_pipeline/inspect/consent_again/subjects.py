"""The addresses to ask: of the pages and the image files in the shards of a run, dealt out by host."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from obelics_pipeline.core.shards.check_record import parse_json
from obelics_pipeline.core.shards.source import StoredDocument, all_documents
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.consent_again.answer import Subject, known_of_page
from obelics_pipeline.stages.fetch.host import host_bucket

_ENDING = ".jsonl"


def deal_out(run: Location, folder: Path, buckets: int) -> None:
    """Write a file of addresses per bucket of hosts. Every shard is read once, one document is held in memory.

    Raises UserError where a shard is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        files = [stack.enter_context(_file(folder, bucket).open("w", encoding="utf-8")) for bucket in range(buckets)]
        for document in all_documents(run):
            for subject in subjects_of(document):
                files[host_bucket(subject.url, buckets)].write(json.dumps(vars(subject)) + "\n")


def subjects_of(document: StoredDocument) -> Iterator[Subject]:
    """The page of a document, and the images of which the shard has the file."""
    general = parse_json(document.value["general_metadata"])
    yield Subject(document.row["url"], True, False, *known_of_page(general if isinstance(general, dict) else {}))
    for url, file in zip(document.value["images"], document.value["files"], strict=True):
        if url is not None and file is not None:
            yield Subject(url, False, True)


def bucket_of(folder: Path, bucket: int) -> list[Subject]:
    """The distinct addresses of one bucket, sorted: they are held in memory."""
    found: dict[str, Subject] = {}
    with _file(folder, bucket).open(encoding="utf-8") as lines:
        for line in lines:
            subject = Subject(**json.loads(line))
            before = found.get(subject.url)
            found[subject.url] = subject if before is None else before.with_(subject)
    return [found[url] for url in sorted(found)]


def _file(folder: Path, bucket: int) -> Path:
    return folder / f"{bucket:05d}{_ENDING}"
