"""`obelics publish` writes a folder that opens by one line, and takes nothing for its own that it did not write."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.core.storage import file_sha256, names_in
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published import command
from obelics_pipeline.inspect.published.command import publish
from tests.core.storage.conftest import new_bucket

SAID = Statement("Pages of a test", "cc-by-4.0")


@pytest.fixture(scope="module")
def published(run_of_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's run, published as several files: for reading."""
    folder = tmp_path_factory.mktemp("published") / "corpus"
    assert len(publish(str(run_of_demo), str(folder), SAID, workers=2, target_bytes=400_000).parts) > 1
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def expected(run: Path) -> list[tuple[Any, ...]]:
    """Of each document of the shards: its id, its texts, the bytes of its pictures, a score."""
    return [
        (
            item.record.doc_id,
            item.value["texts"],
            [None if name is None else item.images[name] for name in item.value["files"]],
            item.row["word_count"],
        )
        for item in all_documents(run)
    ]


def of_table(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = table.select(["doc_id", "texts", "images", "word_count"]).to_pylist()
    return [(row["doc_id"], row["texts"], [p and p["bytes"] for p in row["images"]], row["word_count"]) for row in rows]


def by_datasets(folder: Path, cache: Path) -> list[tuple[Any, ...]]:
    import datasets

    table = datasets.load_dataset(str(folder), split="train", cache_dir=str(cache))
    assert table.features["images"] == datasets.List(datasets.Image())
    return of_table(table.data.table)


def by_datasets_as_a_stream(folder: Path, cache: Path) -> list[tuple[Any, ...]]:
    import datasets

    stream = datasets.load_dataset(str(folder), split="train", cache_dir=str(cache), streaming=True)
    rows = stream.cast_column("images", datasets.List(datasets.Image(decode=False)))
    return [(r["doc_id"], r["texts"], [p and p["bytes"] for p in r["images"]], r["word_count"]) for r in rows]


def by_duckdb(folder: Path, cache: Path) -> list[tuple[Any, ...]]:
    import duckdb

    return of_table(duckdb.sql(f"SELECT * FROM '{folder}/data/*.parquet'").to_arrow_table())


def by_pandas(folder: Path, cache: Path) -> list[tuple[Any, ...]]:
    import pandas

    table = pandas.read_parquet(folder / "data")
    return [
        (doc_id, list(texts), [p and p["bytes"] for p in images], words)
        for doc_id, texts, images, words in zip(
            table["doc_id"], table["texts"], table["images"], table["word_count"], strict=True
        )
    ]


def by_pyarrow(folder: Path, cache: Path) -> list[tuple[Any, ...]]:
    return of_table(pq.read_table(folder / "data"))


def by_polars(folder: Path, cache: Path) -> list[tuple[Any, ...]]:
    import polars

    return of_table(polars.read_parquet(f"{folder}/data/*.parquet").to_arrow())


READERS: list[Callable[[Path, Path], list[tuple[Any, ...]]]] = [
    by_datasets, by_datasets_as_a_stream, by_duckdb, by_pandas, by_polars, by_pyarrow,
]  # fmt: skip


@pytest.mark.parametrize("read", READERS)
def test_each_reader_finds_the_rows_and_pictures_of_the_shards(
    run_of_demo: Path, published: Path, tmp_path: Path, read: Callable[[Path, Path], list[tuple[Any, ...]]]
) -> None:
    assert read(published, tmp_path / "cache") == expected(run_of_demo)


READ_BY_RAY = """
import sys, ray, ray.data
ray.init(num_cpus=2, object_store_memory=100 * 2**20, include_dashboard=False)
ray.data.DataContext.get_current().enable_progress_bars = False
for row in ray.data.read_parquet(sys.argv[1]).sort("doc_id").take_all():
    print("ROW", row["doc_id"], len(row["texts"]), sum(len(p["bytes"]) for p in row["images"] if p is not None))
"""


@pytest.mark.slow
def test_ray_data_finds_the_rows_and_pictures_of_the_shards(run_of_demo: Path, published: Path) -> None:
    line = [sys.executable, "-c", READ_BY_RAY, str(published / "data")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    found = [row.split()[1:] for row in done.stdout.splitlines() if row.startswith("ROW")]
    assert found == sorted(
        [doc_id, str(len(texts)), str(sum(len(picture) for picture in pictures if picture is not None))]
        for doc_id, texts, pictures, _ in expected(run_of_demo)
    ), done.stderr


def test_datasets_decodes_the_pictures(published: Path, tmp_path: Path) -> None:
    import datasets
    from PIL import Image

    row = datasets.load_dataset(str(published), split="train", cache_dir=str(tmp_path))[0]
    assert len(row["images"]) == len(row["texts"])
    assert all((picture is None) != (text is None) for picture, text in zip(row["images"], row["texts"], strict=True))
    assert any(isinstance(picture, Image.Image) for picture in row["images"])


def test_each_piece_of_python_in_the_card_runs_beside_it(published: Path, tmp_path: Path) -> None:
    pieces = re.findall(r"```python\n(.*?)```", (published / "README.md").read_text("utf-8"), re.DOTALL)
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PYTHONPATH": ""}
    for code in pieces:
        line = [sys.executable, "-c", code]
        done = subprocess.run(line, cwd=published, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout
    assert len(pieces) == 3


def test_the_card_says_what_a_hub_reads(published: Path) -> None:
    front = yaml.safe_load((published / "README.md").read_text("utf-8").split("---\n")[1])
    assert front["configs"] == [
        {"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*.parquet"}]}
    ]
    assert {"name": "images", "sequence": "image"} in front["dataset_info"][0]["features"]
    assert "parquet" in front["tags"]
    assert (published / "config.yaml").is_file()


def test_the_list_of_files_has_their_hashes(published: Path) -> None:
    listed = json.loads((published / "published.json").read_text("utf-8"))["files"]
    assert [entry["name"] for entry in listed] == sorted(path.name for path in (published / "data").iterdir())
    assert all(file_sha256(published / "data" / entry["name"]) == entry["sha256"] for entry in listed)


def test_croissant_is_valid_and_reads_documents_and_pictures(run_of_demo: Path, published: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    from PIL import Image

    data = mlcroissant.Dataset(str(published / "croissant.json"))
    assert data.metadata.ctx.is_v1_1()
    assert not data.metadata.ctx.issues.errors
    rows = {row["documents/doc_id"].decode(): row for row in data.records(record_set="documents")}
    images = {row["images/doc_id"].decode(): row for row in data.records(record_set="images")}
    for doc_id, texts, pictures, words in expected(run_of_demo):
        row, shown = rows.pop(doc_id), images.pop(doc_id)
        assert [text and text.decode() for text in row["documents/texts"]] == texts
        assert row["documents/word_count"] == words
        sizes = [p and Image.open(io.BytesIO(p)).size for p in pictures]
        assert [p and p.size for p in row["documents/images"]] == sizes
        assert [p and p.size for p in shown["images/picture"]] == sizes
        names = [p and hashlib.sha256(p).hexdigest() for p in pictures]
        assert [name and name.decode().partition(".")[0] for name in shown["images/path"]] == names
        assert [(url is None) == (text is not None) for url, text in zip(shown["images/url"], texts, strict=True)]
    assert rows == images == {}


def test_croissant_says_what_responsible_use_needs(published: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    about = json.loads((published / "croissant.json").read_text("utf-8"))
    said = mlcroissant.Dataset(str(published / "croissant.json")).metadata
    assert about["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert said.data_limitations == about["rai:dataLimitations"]
    assert said.personal_sensitive_information[-1] == "People are named and shown in texts and images, as on the pages."
    assert len(said.data_preprocessing_protocol) > 3
    assert any(line.startswith("Documents by languages: ") for line in said.data_biases)
    assert said.cite_as.startswith("@misc{pages-of-a-test, title = {Pages of a test}")


def test_the_corpus_has_its_own_citation(published: Path) -> None:
    said = yaml.safe_load((published / "CITATION.cff").read_text("utf-8"))
    assert (said["cff-version"], said["type"], said["title"]) == ("1.2.0", "dataset", "Pages of a test")
    assert said["license"] == "CC-BY-4.0"
    assert {"message", "authors"} <= said.keys()


def test_the_lineage_leads_from_the_warc_files_to_the_published_files(run_of_demo: Path, published: Path) -> None:
    events = [json.loads(line) for line in (published / "lineage.jsonl").read_text("utf-8").splitlines()]
    whole = events[-1]
    assert (whole["job"]["name"], whole["eventType"]) == ("default", "COMPLETE")
    assert {item["name"] for item in whole["inputs"]} == {"input/demo-00000.warc.gz", "input/demo-00001.warc.gz"}
    assert [item["name"] for item in whole["outputs"]] == sorted(
        f"data/{p.name}" for p in (published / "data").iterdir()
    )
    stages = json.loads((run_of_demo / "run.json").read_text())["value"]["code"]
    assert {e["job"]["name"] for e in events} == {"default", *(f"default.{stage}" for stage in stages)}
    assert str(run_of_demo) not in (published / "lineage.jsonl").read_text("utf-8")


def test_equal_runs_give_equal_bytes_and_a_second_command_changes_nothing(
    run_of_demo: Path, published: Path, tmp_path: Path
) -> None:
    publish(str(run_of_demo), str(tmp_path / "corpus"), SAID, workers=1, target_bytes=400_000)
    once = files(tmp_path / "corpus")
    assert once == files(published)
    publish(str(run_of_demo), str(tmp_path / "corpus"), SAID, workers=1, target_bytes=400_000)
    assert files(tmp_path / "corpus") == once


def test_a_command_that_was_stopped_goes_on_with_the_files_that_are_there(
    run_of_demo: Path, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(command, "_beside", stop)
        publish(str(run_of_demo), str(tmp_path / "corpus"), SAID, workers=1, target_bytes=400_000)
    assert not (tmp_path / "corpus/published.json").exists()
    before = {path: path.stat().st_ino for path in (tmp_path / "corpus/data").iterdir()}
    publish(str(run_of_demo), str(tmp_path / "corpus"), SAID, workers=1, target_bytes=400_000)
    assert {path: path.stat().st_ino for path in (tmp_path / "corpus/data").iterdir()} == before
    assert files(tmp_path / "corpus") == files(published)


def test_files_of_an_earlier_publication_go_with_it(run_of_demo: Path, tmp_path: Path) -> None:
    publish(str(run_of_demo), str(tmp_path / "corpus"), SAID, workers=1, target_bytes=400_000)
    publish(str(run_of_demo), str(tmp_path / "corpus"), SAID, workers=1)
    assert [path.name for path in (tmp_path / "corpus/data").iterdir()] == ["train-00000-of-00001.parquet"]


@pytest.mark.parametrize("name", ["data/other.parquet", "README.md", "config.yaml"])
def test_what_others_wrote_is_not_touched(run_of_demo: Path, tmp_path: Path, name: str) -> None:
    other = tmp_path / "corpus" / name
    other.parent.mkdir(parents=True)
    other.write_text("mine")
    with pytest.raises(UserError, match=f"holds {name}, which publish did not write; give an empty or new folder"):
        publish(str(run_of_demo), str(tmp_path / "corpus"), SAID)
    assert files(tmp_path / "corpus") == {name: b"mine"}


@pytest.mark.parametrize("inside", [".", "published"])
def test_a_folder_in_the_run_is_refused(run_of_demo: Path, inside: str) -> None:
    with pytest.raises(UserError, match="lies in the run's own folder; give a folder outside"):
        publish(str(run_of_demo), str(run_of_demo / inside), SAID)


def test_a_folder_without_a_finished_run_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", str(tmp_path), "--output", str(tmp_path / "corpus")]) == 2
    assert "give the --output of a run" in capsys.readouterr().err.replace("obelics run", "a run")
    assert not (tmp_path / "corpus").exists()


def test_a_corpus_is_published_to_an_object_store(run_of_demo: Path, s3: str, published: Path) -> None:
    target = new_bucket("published") / "corpus"
    publish(str(run_of_demo), str(target), SAID, workers=1, target_bytes=400_000)
    assert (target / "published.json").read_bytes() == (published / "published.json").read_bytes()
    for part in (published / "data").iterdir():
        assert (target / "data" / part.name).read_bytes() == part.read_bytes()
    assert names_in(target) == names_in(published)
