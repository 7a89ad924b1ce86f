"""Images that came with rows are judged as fetched ones are, stored nowhere before, and asked of no host."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, committed
from obelics_pipeline.core.config import FetchingConfig, ImageSafetyConfig
from obelics_pipeline.core.document import CARRIED, Document, ImageNode, TextNode
from obelics_pipeline.core.storage import files_below
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.stages.extract.row_documents import CARRIED as CARRIED_SCHEMA
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.carried import RowImages, bucket_of
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.requests import request_unit, request_units
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.stage import documents_with
from tests.stages.fetch.site import picture
from tests.stages.rows import made


def key(content: bytes) -> str:
    return CARRIED + hashlib.sha256(content).hexdigest()


def test_bytes_of_rows_are_judged_and_what_is_refused_is_stored_nowhere(tmp_path: Path) -> None:
    good, page, large = picture("PNG"), b"<html></html>", b"\x89PNG\r\n\x1a\n" + b"0" * 5000
    asked: list[str] = []

    def carried(keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        asked.extend(keys)
        yield from ((key(content), content) for content in (good, page, large))

    config, store = FetchingConfig(max_bytes=4000), ImageStore(tmp_path / "images")
    wanted = [key(content) for content in (good, page, large, b"not there")]
    ingest = Ingest(config, ImageSafetyConfig(), store)
    results = fetch_bucket(wanted, config, store, {}, tmp_path / "journal", ingest, (), carried)
    assert sorted(asked) == sorted(wanted)
    assert {result.url: (result.status, result.reason) for result in results} == {
        key(good): ("ok", None),
        key(page): ("failed", "html"),
        key(large): ("dropped", "too_large"),
        key(b"not there"): ("failed", "not_in_row"),
    }
    assert [Path(name).name for name in files_below(tmp_path / "images")] == [hashlib.sha256(good).hexdigest()]


def test_where_time_is_over_an_image_of_a_row_is_not_taken_for_missing(tmp_path: Path) -> None:
    contents = [picture("PNG", (40 + n, 30)) for n in range(3)]
    config, store = FetchingConfig(), ImageStore(tmp_path / "images")

    def round_(previous: list[FetchResult]) -> list[FetchResult]:
        known = {result.url: result for result in previous}
        wanted, journal = [key(content) for content in contents], tmp_path / f"journal{len(previous)}"
        return fetch_bucket(wanted, config, store, known, journal, None, (), carried, until=Deadline(0))

    def carried(keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        yield from ((key(content), content) for content in contents if key(content) in keys)

    one = round_([])
    two = round_(one)
    assert [len(one), len(two)] == [1, 2] and {result.status for result in round_(two)} == {"ok"}


def extracted(folder: Path, file: Path, contents: Sequence[bytes]) -> str:
    """A unit of a document with the images of the first row of a file, and one that is fetched; its name."""
    carried = [ImageNode(made.FIRST, made.FIRST, sha256=hashlib.sha256(content).hexdigest()) for content in contents]
    fetched = ImageNode(made.SECOND, made.SECOND)
    with Attempt(folder, Unit("extract", "0" * 16, "u")) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), [], []) as writer:
            writer.write(Document("1", made.PAGE, "w", 0, 1, [TextNode("text"), *carried, fetched]))
        rows = [{"sha256": node.sha256, "row": 0, "place": place} for place, node in enumerate(carried)]
        pq.write_table(pa.Table.from_pylist(rows, CARRIED_SCHEMA), attempt.file("carried", ".parquet"))
        return attempt.commit([], {"rows": {"file": file.name, "start": 0, "end": 1}}).unit


def test_a_unit_asks_by_the_hash_and_the_rows_give_the_bytes(tmp_path: Path) -> None:
    contents = [b"one", b"two"]
    infos = made.mmc4()["image_info"]
    rows = [made.with_picture(made.mmc4(image_info=[infos[0]]), contents[0])]
    rows[0]["image_info"].append(made.with_picture(made.mmc4(), contents[1])["image_info"][0])
    file = made.lines(tmp_path / "a.jsonl", rows)
    name = extracted(tmp_path / "extract", file, [*contents, b"replaced since"])
    (unit,) = request_units([committed(tmp_path / "extract", name)], FetchingConfig(buckets=7), "rules")
    manifest = request_unit(
        unit,
        folder=tmp_path / "requests",
        document_folder=tmp_path / "extract",
        buckets=7,
        url_reason=lambda url: "image_banned_word" if url.startswith(CARRIED) else None,
        carried=True,
    )
    asked = pq.read_table(manifest.path(tmp_path / "requests", "data")).to_pylist()
    keys = [key(content) for content in (*contents, b"replaced since")]
    assert sorted(row["url"] for row in asked) == sorted([*keys, made.SECOND])  # the rule saw the addresses
    assert {row["bucket"] for row in asked if row["url"] in keys} == {bucket_of(name, 7)}
    images = RowImages("mmc4", {file.name: str(file)}, {}, [tmp_path / "extract"])
    pairs = [(row["partition"], row["url"]) for row in asked]
    assert dict(images.read(pairs, keys)) == {key(content): content for content in contents}
    assert [found["doc_id"] for found in documents_with(keys[0], rows=pairs, folders=[tmp_path / "extract"])] == ["1"]
