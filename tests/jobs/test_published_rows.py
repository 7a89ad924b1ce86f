"""Rows of published corpora go through a run as pages do: what no rule takes comes out as it came in."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published.command import publish
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.shard.export import export_parquet
from tests.faults.inline import Inline, runs_inline
from tests.forget.victims import stored_images
from tests.stages.rows import made

SAID = Statement("Pages of a test", "cc-by-4.0")
AS_IT_CAME = ["doc_id", "url", "texts", "images", "image_urls", "metadata", "general_metadata", "language", "page_type"]
ROWS = 16
NO_WEB = "http://127.0.0.1:9"  # a proxy that is not there: who asks for anything fails
FEW = ["fetch.buckets=2", "dedup.buckets=1", "fetch.retries=0", "fetch.robots_txt=false", "reading.unit_rows=6"]

Row = dict[str, Any]


@pytest.fixture(scope="module")
def published(run_of_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Some rows of the demo's run, published."""
    folder = tmp_path_factory.mktemp("published")
    publish(str(run_of_demo), str(folder / "corpus"), SAID, open_engine=Inline)
    return pq.read_table(folder / "corpus/data").slice(0, ROWS)


def run_rows(config: str, inputs: Sequence[Path], output: Path, *sets: str, code: int = 0) -> dict[str, Ledger]:
    """Run a bundled config over files of rows; the ledgers of the run, each of which balances."""
    overrides = [part for value in (*FEW, *sets) for part in ("--set", value)]
    arguments = ["run", config, "--input", *map(str, inputs), "--output", str(output), "--yes", *overrides]
    with runs_inline():
        assert main(arguments) == code
    ledgers = read_manifest(output).ledgers
    assert all(ledger.balanced() for ledger in ledgers.values())
    return dict(ledgers)


def publish_again(run: Path, folder: Path) -> list[Row]:
    publish(str(run), str(folder), SAID, open_engine=Inline)
    return pq.read_table(folder / "data").to_pylist()


def pictures_by_url(run: Path) -> dict[str, bytes]:
    return {
        url: found.images[name]
        for found in all_documents(run)
        for url, name in zip(found.value["images"], found.value["files"], strict=True)
        if name is not None
    }


def test_what_was_published_comes_out_as_it_came_in_and_no_host_is_asked(
    published: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)
    for name, part in (("a", published.slice(0, 7)), ("b", published.slice(7))):
        pq.write_table(part, tmp_path / f"{name}.parquet", row_group_size=3)
    ledgers = run_rows("published", [tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "run")
    assert (ledgers["records"].entered, ledgers["records"].kept) == (ROWS, ROWS)
    assert ledgers["urls"].kept == ledgers["urls"].entered > 0
    before = {row["doc_id"]: row for row in published.to_pylist()}
    after = publish_again(tmp_path / "run", tmp_path / "second")
    assert len(after) == ledgers["documents"].kept == ROWS - ledgers["documents"].dropped.total() > ROWS / 2
    for row in after:
        came = before[row["doc_id"]]
        assert {name: row[name] for name in AS_IT_CAME} == {name: came[name] for name in AS_IT_CAME}

    # Once more: nothing is left to change, so not one byte of the table does.
    files = sorted((tmp_path / "second/data").glob("*.parquet"))
    run_rows("published", files, tmp_path / "third-run")
    publish_again(tmp_path / "third-run", tmp_path / "third")
    assert [path.read_bytes() for path in sorted((tmp_path / "third/data").iterdir())] == [
        path.read_bytes() for path in files
    ]


def test_a_changed_bound_reads_no_row_again_and_keeps_the_images(
    published: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)
    pq.write_table(published, tmp_path / "a.parquet")
    run_rows("published", [tmp_path / "a.parquet"], tmp_path / "run")
    before = pictures_by_url(tmp_path / "run")
    monkeypatch.setattr("obelics_pipeline.stages.extract.stage.read_rows", None)  # whoever calls it now fails
    ledgers = run_rows(
        "published", [tmp_path / "a.parquet"], tmp_path / "run", "filters.document.word_count={min: 200}"
    )
    assert ledgers["documents"].dropped["word_count"] > 0
    after = pictures_by_url(tmp_path / "run")
    assert after.items() <= before.items()
    assert after


def test_each_row_that_is_broken_is_counted_by_what_is_wrong_with_it(
    published: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)
    rows = published.to_pylist()
    at = next(i for i, picture in enumerate(rows[0]["images"]) if picture is not None)
    rows[0]["images"][at]["bytes"] = b"<html>no picture</html>"
    rows[1]["doc_id"] = "../../1"
    rows[2]["texts"] = rows[2]["texts"][1:]
    rows[3]["metadata"] = "{"
    rows[4] = rows[5]
    rows[6]["general_metadata"] = json.dumps(json.loads(rows[6]["general_metadata"]) | {"link_count": "many"})
    pq.write_table(pa.Table.from_pylist(rows, published.schema), tmp_path / "a.parquet")
    pq.write_table(published.slice(8), tmp_path / "b.parquet")  # the same documents in another file
    ledgers = run_rows("published", [tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "run")
    failed = {"wrong_type": 2, "lengths_differ": 1, "broken_metadata": 1, "repeated_id": 1}
    assert ledgers["records"].failed == failed
    assert ledgers["records"].entered == ROWS + ROWS - 8
    assert ledgers["urls"].failed == {"html": 1}
    ids = [found.row["doc_id"] for found in all_documents(tmp_path / "run")]
    assert len(ids) == len(set(ids)) > 0


def test_images_of_the_published_obelics_are_fetched(
    run_of_demo: Path, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    (file,) = export_parquet(run_of_demo, tmp_path / "corpus")
    table = pq.read_table(file).slice(0, 8)
    pq.write_table(table, tmp_path / "a.parquet")
    ledgers = run_rows("obelics-rows", [tmp_path / "a.parquet"], tmp_path / "run")
    assert ledgers["records"].kept == 8
    found, expected = pictures_by_url(tmp_path / "run"), pictures_by_url(run_of_demo)
    assert found.items() <= expected.items()
    assert len(found) > 8
    before = {json.loads(row["general_metadata"])["url"]: row for row in table.to_pylist()}
    for document in all_documents(tmp_path / "run"):
        row = before[document.row["url"]]
        assert json.loads(document.value["general_metadata"]) == json.loads(row["general_metadata"])
        assert document.record.doc_id in {known.record.doc_id for known in all_documents(run_of_demo)}


def test_what_was_exported_for_curator_comes_back(
    run_of_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)
    assert main(["export", str(run_of_demo), "--format", "curator", "--output", str(tmp_path / "curator")]) == 0
    (file,) = (tmp_path / "curator").glob("*.parquet")
    as_published = "dedup.paragraphs={min_count: null}"  # what repeats on a site went when they were made
    ledgers = run_rows("curator", [file], tmp_path / "run", "reading.unit_rows=500", as_published)
    before = {found.record.doc_id: found for found in all_documents(run_of_demo)}
    assert ledgers["records"].kept == len(before)
    found = list(all_documents(tmp_path / "run"))
    assert 0.8 * len(before) < len(found) <= len(before)  # scores are measured again
    for document in found:
        known = before[document.record.doc_id]
        assert [document.value[key] for key in ("texts", "images")] == [known.value[key] for key in ("texts", "images")]
        assert list(document.images.values()) == list(known.images.values())
        assert json.loads(document.value["general_metadata"]) == json.loads(known.value["general_metadata"])


def as_mmc4(row: Row) -> Row:
    sentences = [text for text in row["texts"] if text is not None]
    infos: list[Row] = []
    number = 0
    for text, url, picture in zip(row["texts"], row["image_urls"], row["images"], strict=True):
        if text is not None:
            number += 1
            continue
        about: Row = {"raw_url": url, "image_name": "a.jpg", "matched_text_index": min(number, len(sentences) - 1)}
        if not infos:  # the first is in the row, as in what open_flamingo trains on
            about["image_base64"] = base64.b64encode(picture["bytes"]).decode()
        infos.append(about)
    return {"text_list": sentences, "image_info": infos, "url": row["url"], "could_have_url_duplicate": 0}


def as_mint1t(row: Row) -> tuple[Row, dict[str, bytes]]:
    names = [None if picture is None else f"page_0_image_{i}" for i, picture in enumerate(row["images"])]
    files = {f"{name}.{picture['path'].rpartition('.')[2]}": picture["bytes"]
             for name, picture in zip(names, row["images"], strict=True) if picture is not None}  # fmt: skip
    return {"texts": row["texts"], "images": names, "url": row["url"], "pdf_name": "a.pdf"}, files


def as_omnicorpus(row: Row) -> Row:
    about = [{"width": 640, "height": 480, "bytes": 9} for url in row["image_urls"] if url is not None]
    general = {"url": row["url"], "id": row["doc_id"], "domain": ["a.example"], "fluency_prob": 0.5}
    return {"texts": row["texts"], "images": row["image_urls"], "metadata": about, "general_metadata": general}


def write_layout(layout: str, rows: Sequence[Row], folder: Path) -> Path:
    if layout == "mmc4":
        path = folder / "docs_shard_0.jsonl.gz"
        path.write_bytes(gzip.compress("".join(json.dumps(as_mmc4(row)) + "\n" for row in rows).encode()))
        return path
    if layout == "omnicorpus":
        return made.parquet(folder / "a.parquet", [as_omnicorpus(row) for row in rows])
    members: list[tuple[str, bytes]] = []
    for number, (value, files) in enumerate(map(as_mint1t, rows)):
        members += [(f"{number:05d}.json", json.dumps(value).encode())]
        members += [(f"{number:05d}.{name}", data) for name, data in files.items()]
    return made.tar(folder / "a.tar", members)


@pytest.mark.parametrize("layout", ["mmc4", "mint1t", "omnicorpus"])
def test_a_foreign_layout_becomes_shards(
    layout: str, published: pa.Table, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    rows = published.slice(0, 6).to_pylist()
    path = write_layout(layout, rows, tmp_path)
    ledgers = run_rows(layout, [path], tmp_path / "run")
    assert ledgers["records"].kept == len(rows)
    assert ledgers["documents"].kept >= len(rows) - 1
    content: Mapping[str, set[bytes]] = {row["url"]: {p["bytes"] for p in row["images"] if p} for row in rows}
    for document in all_documents(tmp_path / "run"):
        assert document.row["warc_filename"] == path.name
        assert set(document.images.values()) <= content[document.row["url"]]
        assert len(document.images) >= 1
    config = json.dumps(json.loads((tmp_path / "run/manifest.json").read_text())["counts"])
    assert run_rows(layout, [path], tmp_path / "run")["records"].kept == len(rows)  # nothing to do
    assert json.dumps(json.loads((tmp_path / "run/manifest.json").read_text())["counts"]) == config


def test_a_file_of_another_kind_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.warc.gz").write_bytes(b"")
    assert main(["run", "mmc4", "--input", str(tmp_path / "a.warc.gz"), "--output", str(tmp_path / "run")]) == 2
    line = capsys.readouterr().err
    assert "valid with reading.layout mmc4 are *.jsonl, *.jsonl.gz, *.jsonl.zst, *.parquet" in line
    assert line.count("\n") == 1


@pytest.mark.slow
def test_another_engine_makes_the_same(published: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)
    pq.write_table(published, tmp_path / "a.parquet")
    run_rows("published", [tmp_path / "a.parquet"], tmp_path / "here")
    overrides = [part for value in (*FEW, "ray.shuffle_partitions=4") for part in ("--set", value)]
    arguments = ["run", "published", "--input", str(tmp_path / "a.parquet"), "--output", str(tmp_path / "there")]
    assert main([*arguments, "--engine", "ray", *overrides]) == 0
    assert read_manifest(tmp_path / "there").index == read_manifest(tmp_path / "here").index


def test_a_removed_image_that_came_with_a_row_leaves_the_store_and_others_stay(
    published: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)
    pq.write_table(published, tmp_path / "a.parquet")
    run_rows("published", [tmp_path / "a.parquet"], tmp_path / "run")
    before = pictures_by_url(tmp_path / "run")
    stored = stored_images(tmp_path / "run")
    url = next(url for url, data in before.items() if list(before.values()).count(data) == 1)
    (tmp_path / "urls.txt").write_text(f"{url}\n")
    assert main(["forget", str(tmp_path / "run"), "--urls", str(tmp_path / "urls.txt")]) == 0
    after = pictures_by_url(tmp_path / "run")
    assert url not in after
    assert after.items() <= before.items()
    left = stored_images(tmp_path / "run")
    gone = hashlib.sha256(before[url]).hexdigest()
    assert gone in stored.keys() - left.keys()
    assert {hashlib.sha256(data).hexdigest() for data in after.values()} <= left.keys()
    assert not RunImages(tmp_path / "run/images").lost(list(left.values()))
    assert not is_stored(before[url], tmp_path / "run")
    assert main(["validate", str(tmp_path / "run")]) == 0
    assert run_rows("published", [tmp_path / "a.parquet"], tmp_path / "run")["images"].dropped["forgotten"] == 1
    assert not is_stored(before[url], tmp_path / "run")


def is_stored(data: bytes, run: Path) -> bool:
    return any(data in path.read_bytes() for path in (run / "images").glob("*/*"))
