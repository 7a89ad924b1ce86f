"""Input: what a person may name, what it is called, and one line for each mistake."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.registry import _registry

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import ReadTask, plan_ranges
from tests.stages.read.warcs import gz, pages, write

CONFIG = ReadingConfig()
MEMBERS = gz(pages(3))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a/one.warc.gz", "a/two.warc.gz", "b/deep/one.warc.gz", "b/plain.warc", "b/frames.warc.zst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path, name, MEMBERS)
    return tmp_path


def names(*patterns: str, config: ReadingConfig = CONFIG) -> list[str]:
    return [warc.name for warc in resolve_inputs(patterns, config).warcs]


def test_a_file_is_called_by_its_path_below_the_fixed_part_of_the_pattern(tree: Path) -> None:
    assert names(f"{tree}/a/one.warc.gz") == ["one.warc.gz"]
    assert names(f"{tree}/a/*.warc.gz") == ["one.warc.gz", "two.warc.gz"]
    assert names(f"{tree}/**/*.warc*") == [
        "a/one.warc.gz",
        "a/two.warc.gz",
        "b/deep/one.warc.gz",
        "b/frames.warc.zst",
        "b/plain.warc",
    ]
    assert names(f"file://{tree}/b/plain.warc") == ["plain.warc"]


def test_relative_patterns_work(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    assert names("a/*.warc.gz") == ["one.warc.gz", "two.warc.gz"]
    assert names("*/one.warc.gz") == ["a/one.warc.gz"]


def test_the_same_file_counts_once_and_order_does_not_matter(tree: Path) -> None:
    patterns = [f"{tree}/a/two.warc.gz", f"{tree}/a/*.warc.gz", f"{tree}/a/../a/two.warc.gz", f"{tree}/b/*.warc"]
    assert resolve_inputs(patterns, CONFIG).warcs[0].name == "one.warc.gz"
    assert names(*patterns) == names(*reversed(patterns)) == ["one.warc.gz", "plain.warc", "two.warc.gz"]


def test_two_files_of_one_name_are_refused(tree: Path) -> None:
    with pytest.raises(UserError, match=r"both named one\.warc\.gz"):
        names(f"{tree}/a/one.warc.gz", f"{tree}/b/deep/one.warc.gz")


def test_brackets_in_an_existing_name_are_no_pattern(tmp_path: Path) -> None:
    write(tmp_path, "x[1].warc.gz", MEMBERS)
    assert names(f"{tmp_path}/x[1].warc.gz") == ["x[1].warc.gz"]


def test_a_list_names_paths_beside_it_or_absolute(tree: Path) -> None:
    listing = tree / "list.txt"
    listing.write_text(f"# comment\n\na/one.warc.gz\n  {tree}/b/plain.warc  \nb/deep/../*.zst\n")
    assert names(str(listing)) == ["frames.warc.zst", "one.warc.gz", "plain.warc"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_list_of_crawl_keys_is_relative_to_the_pointer_root(tmp_path: Path, packed: bool) -> None:
    keys = ["crawl-data/CC-MAIN-2024-10/segments/1/warc/x-00000.warc.gz", "crawl-data/CC-MAIN-2024-10/b.warc.gz"]
    for key in keys:
        (tmp_path / "root" / key).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / "root", key, MEMBERS)
    data = "\n".join(keys).encode()
    listing = tmp_path / ("warc.paths.gz" if packed else "warc.paths")
    listing.write_bytes(gzip.compress(data) if packed else data)
    config = ReadingConfig(pointer_root=str(tmp_path / "root"))
    assert names(str(listing), config=config) == sorted(keys)


def table(path: Path, **columns: pa.Array) -> str:
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_a_pointer_table_is_told_from_its_columns(tmp_path: Path) -> None:
    columns = {
        "url": pa.array(["http://a/"] * 5),
        "warc_filename": pa.array(["x.warc.gz"] * 5).dictionary_encode(),
        "warc_record_offset": pa.array(range(5), pa.int32()),
        "warc_record_length": pa.array(range(5), pa.int64()),
    }
    path = table(tmp_path / "p.parquet", extra=pa.array(range(5)), **columns)
    inputs = resolve_inputs([path], CONFIG)
    assert [(source.name, source.rows) for source in inputs.pointers] == [("p.parquet", 5)]
    tasks = plan_ranges(inputs, ReadingConfig(pointer_rows=2))
    assert [(task.kind, task.start, task.end) for task in tasks] == [
        ("pointers", 0, 2),
        ("pointers", 2, 4),
        ("pointers", 4, 5),
    ]
    columns.pop("warc_record_length")
    with pytest.raises(UserError, match="missing: warc_record_length"):
        resolve_inputs([table(tmp_path / "q.parquet", **columns)], CONFIG)
    columns["warc_record_length"] = pa.array(["1"] * 5)
    with pytest.raises(UserError, match="warc_record_length is string, must be integer"):
        resolve_inputs([table(tmp_path / "r.parquet", **columns)], CONFIG)
    with pytest.raises(UserError, match="cannot be read as Parquet"):
        resolve_inputs([str(write(tmp_path, "s.parquet", MEMBERS))], CONFIG)


def test_each_mistake_gets_one_line_that_says_what_to_do(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree, "notes.pdf", [b"x"])
    write(tree, "empty.txt", [b"# nothing\n"])
    write(tree, "broken.paths.gz", [b"\x1f\x8b\x08garbage"])
    write(tree, "bad.paths", [b"../../etc/passwd\n"])
    monkeypatch.setitem(sys.modules, "s3fs", None)
    for protocol in ("s3", "s3a"):
        monkeypatch.delitem(_registry, protocol, raising=False)  # another test may have loaded it
    mistakes = {
        "": "no input given",
        f"{tree}/none.warc.gz": "no such file",
        f"{tree}/*.arc": "matches no file",
        f"{tree}/a": "is a folder; give its files",
        f"{tree}/notes.pdf": "unknown kind of input; valid are",
        f"{tree}/empty.txt": "the list is empty",
        f"{tree}/gone.txt": "cannot be read: No such file",
        f"{tree}/broken.paths.gz": "cannot be read",
        f"{tree}/bad.paths": "is no key relative to",
        "s3://bucket/x.warc.gz": r"pip install 'obelics-pipeline\[s3\]'",
        "quux://bucket/x.warc.gz": "valid are paths and URLs of s3",
    }
    for pattern, message in mistakes.items():
        with pytest.raises(UserError, match=message) as caught:
            resolve_inputs([pattern] if pattern else [], CONFIG)
        assert "\n" not in str(caught.value)


def test_missing_inputs_are_named_together_the_first_few_and_how_many_more(tree: Path) -> None:
    write(tree, "list.txt", [b"a/one.warc.gz\nl0.warc.gz\nl1.warc.gz\n"])
    write(tree, "keys.paths", [b"k0.warc.gz\na/one.warc.gz\nk1.warc.gz\n"])
    here, near = f"{tree}/b/plain.warc", ReadingConfig(pointer_root=str(tree))
    with pytest.raises(UserError) as caught:
        resolve_inputs([f"{tree}/n0.warc", here, f"{tree}/list.txt", f"{tree}/*.arc"], CONFIG)
    message = str(caught.value)
    assert message.startswith(f"4 inputs are missing: {tree}/n0.warc: no such file; ")
    assert all(f"{tree}/{name}" in message for name in ("l0.warc.gz", "l1.warc.gz", "*.arc: matches no file"))
    with pytest.raises(UserError, match=r"^2 inputs are missing: \S+k0.warc.gz: no such file; \S+k1.warc.gz: no such"):
        resolve_inputs([f"{tree}/keys.paths"], near)
    with pytest.raises(
        UserError, match=r"^30 inputs are missing: .*/n4.warc: no such file; and 25 more; give a path"
    ) as caught:
        resolve_inputs([f"{tree}/n{i}.warc" for i in range(30)], CONFIG)
    assert "n5.warc" not in str(caught.value)


def test_ranges_cover_each_file_and_labels_are_safe_unique_and_stable(tree: Path) -> None:
    write(tree, "a/ü ..#?.warc.gz", MEMBERS)
    inputs = resolve_inputs([f"{tree}/**/*.warc*"], CONFIG)
    tasks = plan_ranges(inputs, ReadingConfig(unit_bytes=500))
    for warc in inputs.warcs:
        mine = [task for task in tasks if task.path == warc.path]
        assert [task.start for task in mine] == list(range(0, warc.size, 500))
        assert [task.end for task in mine] == [*range(500, warc.size, 500), warc.size]
    labels = [task.label for task in tasks]
    assert len(set(labels)) == len(labels)
    assert all(label.isascii() and "/" not in label and " " not in label for label in labels)
    alone = plan_ranges(resolve_inputs([f"{tree}/*/ü*"], CONFIG), ReadingConfig(unit_bytes=500))
    assert {task.label for task in alone} <= set(labels)
    assert plan_ranges(resolve_inputs([f"{tree}/a/one.warc.gz"], CONFIG), CONFIG)[0].label == "one-000000000000"


def test_a_task_survives_json(tree: Path) -> None:
    for task in plan_ranges(resolve_inputs([f"{tree}/**/*.warc*"], CONFIG), CONFIG):
        assert ReadTask.from_json(task.to_json()) == task


def test_the_version_changes_with_the_file(tree: Path) -> None:
    before = resolve_inputs([f"{tree}/b/plain.warc"], CONFIG).warcs[0]
    write(tree, "b/plain.warc", MEMBERS[:2])
    after = resolve_inputs([f"{tree}/b/plain.warc"], CONFIG).warcs[0]
    assert before.name == after.name
    assert before.version != after.version
