import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.storage import names_in, read_bytes, write_bytes
from obelics_pipeline.core.tables import PUBLISHED
from obelics_pipeline.jobs.main_job import run
from obelics_pipeline.jobs.score_rows import json_lines
from obelics_pipeline.stages.shard.export import export_parquet
from tests.core.storage.conftest import new_bucket
from tests.jobs.score_rows.rows import GERMAN, TEXT, published, read_lines, score, write_lines, write_parquet
from tests.refused import refused
from tests.stages.shard.runs import document, make_run

ROOT = Path(__file__).parents[3]


def lines(n: int) -> list[dict[str, Any]]:
    """Rows of different length, some of them broken."""
    draw = random.Random(5)
    rows: list[dict[str, Any]] = [
        {"id": i % 50, "text": " ".join([TEXT, GERMAN][i % 2 :] * draw.randint(1, 5))} for i in range(n)
    ]
    for i in range(7, n, 40):
        rows[i]["text"] = None
    return rows


def test_json_lines_come_back_in_order_with_their_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = lines(300)
    source = write_lines(tmp_path / "a.jsonl", rows)
    assert score(source, tmp_path / "out" / "b.jsonl") == 1
    found = read_lines(tmp_path / "out" / "b.jsonl")
    assert [{key: row[key] for key in ("id", "text")} for row in found] == rows
    assert all((row["word_count"] is None) == (row["text"] is None) for row in found)
    said = capsys.readouterr()
    assert said.out == f"300 rows = 292 scored + 8 failed (no_text 8); wrote {tmp_path}/out/b.jsonl\n"
    assert said.err.splitlines()[0] == f"{source} line 8: no_text (text is missing or null)"
    assert len(said.err.splitlines()) == 8
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.jsonl"]


def test_where_all_is_well_the_exit_code_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_lines(tmp_path / "a.jsonl", [{"text": TEXT}])
    assert score(source, tmp_path / "b.jsonl.gz", "") == 0
    (row,) = read_lines(tmp_path / "b.jsonl.gz")
    assert list(row) == ["text", *load_config("default").filters.document]
    assert capsys.readouterr().out.startswith("1 rows = 1 scored + 0 failed; wrote ")


@pytest.mark.parametrize("format_", ["jsonl", "jsonl.gz", "parquet"])
def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path, format_: str) -> None:
    source = tmp_path / f"a.{format_}"
    if format_ == "parquet":
        write_parquet(source, [published(i, text=TEXT * (i % 5 + 1)) for i in range(1500)])
    else:
        write_lines(source, lines(1500))
    written = []
    for workers in ("1", "2", "3"):
        score(source, tmp_path / f"{workers}.{format_}", "word_count", "--workers", workers)
        written.append((tmp_path / f"{workers}.{format_}").read_bytes())
    assert written[0] == written[1] == written[2]


def test_the_published_form_is_taken_as_it_is_and_keeps_every_column(tmp_path: Path) -> None:
    more = {"number": 2**60, "nan": float("nan"), "nested": [{"a": [1, None]}], "nothing": None, "när": "é"}
    rows = [published(i, text=[TEXT, GERMAN][i % 2]) | more for i in range(10)]
    rows[4] |= {"texts": None}
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"somebody": "else's"})
    pq.write_table(table, tmp_path / "a.parquet")
    assert score(tmp_path / "a.parquet", tmp_path / "b.parquet", "language,image_count,word_count") == 1
    found = pq.read_table(tmp_path / "b.parquet")
    assert found.column_names == [*table.column_names, "language", "image_count", "word_count"]
    assert found.schema.metadata[b"somebody"] == b"else's"
    assert repr(found.select(table.column_names).to_pylist()) == repr(rows)
    assert found["language"].to_pylist() == ["en", "de", "en", "de", None, "de", "en", "de", "en", "de"]
    assert found["image_count"].to_pylist() == [1.0, 1.0, 1.0, 1.0, None, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_what_the_datasets_library_wrote_comes_back_through_it_with_the_scores(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    source = datasets.Dataset.from_list([published(i) for i in range(3)])
    source.to_parquet(str(tmp_path / "a.parquet"))
    assert b"huggingface" in pq.read_schema(tmp_path / "a.parquet").metadata
    assert score(tmp_path / "a.parquet", tmp_path / "b.parquet") == 0
    cache = str(tmp_path / "cache")
    table = datasets.load_dataset("parquet", data_files=str(tmp_path / "b.parquet"), split="train", cache_dir=cache)
    assert table.column_names == [*source.column_names, "word_count", "language"]
    assert table.remove_columns(["word_count", "language"]).to_list() == source.to_list()
    assert table["language"][:] == ["en"] * 3


def test_a_parquet_file_with_one_text_column_is_taken_too(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "a.parquet", [{"id": 1, "text": TEXT}], None)
    assert score(source, tmp_path / "b.parquet") == 0
    assert pq.read_table(tmp_path / "b.parquet").to_pylist() == [
        {"id": 1, "text": TEXT, "word_count": 19.0, "language": "en"}
    ]


def test_our_own_export_is_taken(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [document(i) for i in range(3)])
    (path,) = export_parquet(tmp_path / "run", tmp_path / "export")
    assert score(path, tmp_path / "b.parquet") == 0
    assert pq.read_table(tmp_path / "b.parquet")["word_count"].null_count == 0


@pytest.mark.slow
def test_the_scores_are_those_of_the_run_that_made_the_documents(tmp_path: Path, warcs: list[Path]) -> None:
    assert run("default", list(map(str, warcs)), tmp_path / "run", workers=1, stages=["extract"]) == 0
    sources = sorted((tmp_path / "run" / "extract").glob("*.parquet"))
    table = pa.concat_tables([pq.read_table(path) for path in sources])
    kept = table.filter(pc.is_null(table["reason"]))
    pq.write_table(kept.select(PUBLISHED.names), tmp_path / "a.parquet")
    names = ["language", "language_score", *load_config("default").filters.document]
    assert score(tmp_path / "a.parquet", tmp_path / "b.parquet", ",".join(names)) == 0
    # A run knows the language before it drops paragraphs; all else is measured of those that are kept.
    whole = [all(node["reason"] is None for node in nodes) for nodes in kept["nodes"].to_pylist()]
    assert len(whole) > sum(whole) > 20
    expected, found = (t.select(names).to_pylist() for t in (kept, pq.read_table(tmp_path / "b.parquet")))
    for row, again, nothing_dropped in zip(expected, found, whole, strict=True):
        certain = {"language_score": again["language_score"]} if not nothing_dropped else {}
        assert row | certain == again


def test_a_table_of_a_run_is_taken_with_its_working_columns(tmp_path: Path, warcs: list[Path]) -> None:
    assert run("default", list(map(str, warcs)), tmp_path / "run", workers=1, stages=["extract"]) == 0
    source = min((tmp_path / "run" / "extract").glob("*.parquet"))
    assert score(source, tmp_path / "c.parquet", "word_count", "--replace") == 0
    before, after = pq.read_table(source), pq.read_table(tmp_path / "c.parquet")
    assert after.column_names == before.column_names
    assert after.drop_columns("word_count") == before.drop_columns("word_count")


POISON = """
import os, signal

class Deadly:
    def score(self, text):
        if "poison" in text.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0
"""


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["jsonl", pytest.param("parquet", marks=pytest.mark.by_hand)])
def test_a_row_that_kills_its_workers_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "theirs"
    (package / "theirs-1.0.dist-info").mkdir(parents=True)
    (package / "theirs-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    points = "[obelics_pipeline.filters]\ndeadly = deadly:Deadly\n"
    (package / "theirs-1.0.dist-info" / "entry_points.txt").write_text(points)
    (package / "deadly.py").write_text(POISON)
    monkeypatch.syspath_prepend(package)
    rows = [{"text": text} for text in (TEXT, GERMAN, "a poison", TEXT, TEXT)]
    source = tmp_path / f"a.{format_}"
    write_parquet(source, rows, None) if format_ == "parquet" else write_lines(source, rows)
    assert score(source, tmp_path / f"b.{format_}", "deadly") == 1
    output = tmp_path / f"b.{format_}"
    found = pq.read_table(output).to_pylist() if format_ == "parquet" else read_lines(output)
    assert [row["deadly"] for row in found] == [1.0, 1.0, None, 1.0, 1.0]
    assert "5 rows = 4 scored + 1 failed (worker_lost 1)" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["jsonl", pytest.param("parquet", marks=pytest.mark.by_hand)])
def test_ray_gives_the_same_bytes(tmp_path: Path, format_: str) -> None:
    pytest.importorskip("ray")
    source = tmp_path / f"a.{format_}"
    if format_ == "parquet":
        write_parquet(source, [published(i) for i in range(500)])
    else:
        write_lines(source, lines(500))
    local = score(source, tmp_path / f"b.{format_}")
    there = score(source, tmp_path / "out" / f"b.{format_}", "word_count,language", "--engine", "ray", "--workers", "2")
    assert there == local
    assert (tmp_path / "out" / f"b.{format_}").read_bytes() == (tmp_path / f"b.{format_}").read_bytes()
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"b.{format_}"]


def test_several_inputs_are_one_output_in_the_order_given_each_file_once(tmp_path: Path) -> None:
    for name in "cab":
        write_lines(tmp_path / f"{name}.jsonl{'.gz' if name == 'a' else ''}", [{"id": name, "text": TEXT}])
    assert score([tmp_path / "c.jsonl", tmp_path / "*.jsonl*"], tmp_path / "out" / "x.jsonl") == 0
    assert [row["id"] for row in read_lines(tmp_path / "out" / "x.jsonl")] == ["c", "a", "b"]


@pytest.mark.parametrize("format_", ["jsonl", "jsonl.gz", "parquet"])
def test_no_rows_are_no_trouble(tmp_path: Path, format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / f"a.{format_}"
    write_parquet(source, []) if format_ == "parquet" else write_lines(source, [])
    assert score(source, tmp_path / f"b.{format_}") == 0
    assert "0 rows = 0 scored + 0 failed" in capsys.readouterr().out
    if format_ == "parquet":
        assert pq.read_schema(tmp_path / "b.parquet").names == [*PUBLISHED.names, "word_count", "language"]


def test_a_line_beyond_the_limit_stays_in_its_place_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(json_lines, "MAX_LENGTH", 500)
    monkeypatch.setattr(json_lines, "PIECE", 7)
    long = json.dumps({"text": "é\x00" * 300}, ensure_ascii=False).encode() + b"\xff\r"
    source = write_lines(tmp_path / "a.jsonl", [{"text": TEXT}, long, {"text": GERMAN}, long])
    assert score(source, tmp_path / "b.jsonl") == 1
    first, second, third, fourth = read_lines(tmp_path / "b.jsonl")
    assert (first["language"], third["language"]) == ("en", "de")
    assert second == fourth
    assert second["unread_line"].encode("utf-8", "surrogateescape").rstrip(b"\r") == long.rstrip(b"\r")
    assert second["word_count"] is None
    said = capsys.readouterr()
    assert "4 rows = 2 scored + 2 failed (too_long 2)" in said.out
    assert said.err.splitlines()[0] == f"{source} line 2: too_long (more than 500 bytes)"


def test_names_that_are_there_already_are_replaced_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_lines(tmp_path / "a.jsonl", [{"text": TEXT}, {"word_count": "mine", "text": TEXT}])
    line = refused(capsys, score(source, tmp_path / "b.jsonl"))
    assert line == f"obelics: {source} line 2: has a word_count already; leave it out of --columns, or give --replace"
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
    assert score(source, tmp_path / "b.jsonl", "word_count,language", "--replace") == 0
    assert [list(row) for row in read_lines(tmp_path / "b.jsonl")] == [
        ["text", "word_count", "language"], ["word_count", "text", "language"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("inputs", "output", "more", "said"),
    [
        (["a.jsonl"], "b.parquet", [], "b.parquet: another format than the input; its name must end in .jsonl or "),
        (["a.jsonl"], "b.csv", [], "b.csv: unknown format; valid are *.parquet, *.jsonl and *.jsonl.gz"),
        (["a.txt.csv"], "b.jsonl", [], "a.txt.csv: unknown format; valid are *.parquet, *.jsonl and *.jsonl.gz"),
        (["a.jsonl", "a.parquet"], "b.jsonl", [], "a.parquet: another format than "),
        (["none.jsonl"], "b.jsonl", [], "none.jsonl: no such file"),
        (["none*.jsonl"], "b.jsonl", [], "none*.jsonl: matches no file"),
        (["."], "b.jsonl", [], ": is a folder; give its files, e.g. "),
        (["a.jsonl"], "a.jsonl", [], "a.jsonl: is an input; give another file"),
        (["a.jsonl"], "folder.jsonl", [], "folder.jsonl: is a folder; give a file"),
        (["a.jsonl"], "a.jsonl/b.jsonl", [], "cannot be written"),
        (["a.jsonl"], "b.jsonl", ["--images", "fetch"], "--images fetch: none of the columns looks at images"),
        (["a.jsonl"], "b.jsonl", ["--columns", "nonsense"], "--columns nonsense: unknown; valid names: language, "),
        (["a.jsonl"], "b.jsonl", ["--set", "filters.words=x"], "filters.words: Input should be"),
        (["a.jsonl"], "b.jsonl", ["--ray-address", "auto"], "--ray-address: valid only with --engine ray"),
        (["a.parquet"], "b.parquet", [], "cannot be read as Parquet"),
    ],
)
def test_a_wrong_command_is_one_line_and_writes_nothing(
    tmp_path: Path, inputs: list[str], output: str, more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path / "a.jsonl", [{"text": TEXT}])
    for name in ("a.parquet", "a.txt.csv"):
        (tmp_path / name).write_bytes(b"{}")
    (tmp_path / "folder.jsonl").mkdir()
    before = sorted(tmp_path.rglob("*"))
    code = score([tmp_path / name for name in inputs], tmp_path / output, "word_count", *more)
    assert said in refused(capsys, code)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_output_that_was_there_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    output = tmp_path / "b.jsonl"
    output.write_text("old")
    taken = write_lines(tmp_path / "taken.jsonl", [*lines(500), {"word_count": 1, "text": TEXT}])
    assert score(taken, output) == 2
    assert output.read_text() == "old"
    assert score(write_lines(tmp_path / "a.jsonl", [{"text": TEXT}]), output) == 0
    assert len(read_lines(output)) == 1


def command(source: Path, output: Path) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    arguments = ["score", "default", "--input", str(source), "--output", str(output), "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "obelics_pipeline", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_leaves_nothing_behind(tmp_path: Path, sign: signal.Signals) -> None:
    source = write_lines(tmp_path / "a.jsonl", lines(30_000))
    process = command(source, tmp_path / "out" / "b.jsonl")
    while not any(path.stat().st_size for path in (tmp_path / "out").glob("*")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(sign)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 3
    assert printed.splitlines()[-1] == "obelics: stopped; run the same command again to continue"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB; only a superuser may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_a_full_disk_is_one_line_and_leaves_nothing_behind(
    small_disk: Path, tmp_path: Path, format_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, draw = tmp_path / f"a.{format_}", random.Random(1)
    rows = [published(i, text=f"{TEXT} {draw.randbytes(2000).hex()}") for i in range(400)]
    write_parquet(source, rows) if format_ == "parquet" else write_lines(source, rows)
    assert score(source, small_disk / f"b.{format_}", "word_count") == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("obelics: disk full")
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("format_", ["jsonl", "jsonl.gz", "parquet"])
def test_a_bucket_is_read_and_written_as_a_disk_is(
    s3: str, tmp_path: Path, format_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket = new_bucket(f"score-{format_.replace('.', '-')}")
    rows = [published(i) for i in range(200)]
    source = tmp_path / f"a.{format_}"
    write_parquet(source, rows) if format_ == "parquet" else write_lines(source, rows)
    write_bytes(bucket / "in" / f"a.{format_}", source.read_bytes())
    assert score(source, tmp_path / f"b.{format_}") == 0
    assert score(bucket / "in" / f"a*.{format_}", bucket / "out" / f"b.{format_}") == 0
    assert read_bytes(bucket / "out" / f"b.{format_}") == (tmp_path / f"b.{format_}").read_bytes()
    assert names_in(bucket / "out") == [f"b.{format_}"]
    capsys.readouterr()
    missing = bucket / "in" / f"none.{format_}"
    assert refused(capsys, score(missing, tmp_path / f"c.{format_}")) == f"obelics: input {missing}: no such file"
