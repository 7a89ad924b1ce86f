"""Uses of the public names, for type checkers: they must find nothing wrong, and the types that are stated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import obelics_pipeline as op
from obelics_pipeline import filters
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.stages.read.page import Page


@op.filter
def shouting_ratio(text: filters.Text, minimum: int = 1) -> float | None:
    """Share of capital letters."""
    return sum(c.isupper() for c in text.text) / len(text.text) if len(text.text) >= minimum else None


def pages(path: Path) -> list[op.Document]:
    """The measured documents of a WARC file."""
    config = op.load_config("default", ["filters.document.word_count.min=50"])
    assert_type(config, RunConfig)
    assert_type(op.read_warc(path), Iterator[Page])
    found: list[op.Document] = []
    for page in op.read_warc(str(path), config, on_skip=print):
        try:
            documents = op.extract(page.html, page.url, config)
        except op.PageRefused as refused:
            print(refused.reason)
        else:
            assert_type(documents, list[op.Document])
            found += [op.measure(document, config) for document in documents]
    return found


def look(folder: str) -> None:
    """What a finished run gives."""
    try:
        run = op.Run(folder)
    except op.UserError as error:
        raise SystemExit(str(error)) from None
    for document in run.documents():
        assert_type(document, op.Document)
        assert_type(document.scores, dict[str, float | None])
    for image in run.images():
        assert_type(image.data, bytes)
    assert_type(len(run), int)
    print(run.manifest.counts()["documents"], run.to_pandas(["url", "word_count"]).head())
    print(run.torch_dataset()[0]["texts"])
    assert_type(shouting_ratio(filters.Text("STOP")), float | None)
    assert_type(filters.build("word_count").score("some text"), float | None)
    assert_type(op.score("default", ["rows.jsonl"], ["word_count"], "scored.jsonl", workers=1), int)
    assert_type(op.run("default", ["pages.warc.gz"], folder), int)
