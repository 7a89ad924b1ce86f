"""Texts must be found in every form that we and others write them in, and a bad row must cost itself only."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.document import interleave
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.fit import texts as module
from obelics_pipeline.fit.texts import FoundText, TextFile, text_files
from obelics_pipeline.stages.shard.export import export_parquet
from tests.stages.shard.runs import document, make_run


def read(path: Path | str) -> list[FoundText]:
    return [found for file in text_files([str(path)]) for found in file.texts()]


def written(path: Path, lines: bytes) -> Path:
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_json_lines_are_read_with_their_source(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, b'{"id": 1, "text": "one\\n\\ntwo", "source": "news"}\n\n{"text": "three"}')
    assert read(path) == [FoundText("one\n\ntwo", "news"), FoundText("three", "")]


def test_a_bad_row_costs_itself_only_and_is_counted(tmp_path: Path) -> None:
    lines = [b"{", b"\xff\xfe", b'"a string"', b"[1]", b"{}", b'{"text": 3}', b'{"text": " \\n"}', b"[" * 100_000]
    path = written(tmp_path / "a.jsonl", b"\n".join([*lines, b'{"text": "good"}']))
    file = TextFile(path)
    assert [found.text for found in file.texts()] == ["good"]
    assert file.skipped == {"not JSON": 3, "not an object": 2, "without text": 2, "with empty text": 1}
    assert str(file).startswith("a.jsonl: 1 texts; 8 rows skipped: 3 not JSON, ")


def test_a_line_without_end_is_skipped_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 40)
    path = written(tmp_path / "a.jsonl", b'{"text": "' + b"x" * 500 + b'"}\n{"text": "short"}\n{"text": "' + b"y" * 99)
    file = TextFile(path)
    assert [found.text for found in file.texts()] == ["short"]
    assert file.skipped == {"too long": 2}


def test_a_lone_surrogate_becomes_what_utf8_can_say(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path / "a.jsonl", b'{"text": "a\\ud800b", "source": "\\udfff"}'))
    assert found == FoundText("a\ufffdb", "\ufffd")


def test_our_export_gives_the_text_of_each_document(tmp_path: Path) -> None:
    documents = [document(i) for i in range(5)]
    make_run(tmp_path / "run", documents)
    (path,) = export_parquet(tmp_path / "run", tmp_path / "out")
    published = ["\n\n".join(t for t in interleave(d.nodes, d.url).texts if t) for d in documents]
    assert [found.text for found in read(path)] == published
    assert all(published)


def test_of_a_runs_own_file_the_kept_documents_are_read(tmp_path: Path) -> None:
    kept, dropped = document(1), document(2)
    dropped.reason = "word_count"
    with DocumentWriter(tmp_path / "a.parquet", [], []) as writer:
        writer.write(kept)
        writer.write(dropped)
    file = TextFile(tmp_path / "a.parquet")
    assert len(list(file.texts())) == 1
    assert file.skipped == {"dropped": 1}


def test_parquet_with_a_column_of_texts_is_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one", None, ""], "source": ["news", "b", None]}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == [FoundText("one", "news")]


def test_files_come_in_the_order_they_were_named_and_once(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.jsonl"):
        written(tmp_path / name, b'{"text": "x"}')
    found = text_files([str(tmp_path / "c.jsonl"), str(tmp_path / "*.jsonl")])
    assert [file.where.name for file in found] == ["c.jsonl", "a.jsonl", "b.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"text\n", r"a\.csv: not a file of texts; valid are names that end in \.jsonl,"),
        ("a.jsonl.gz", b"not gzip", "cannot be read"),
        ("a.parquet", b"not Parquet", "cannot be read"),
    ],
)
def test_what_is_no_file_of_texts_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=said) as error:
        read(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "one"}\n' * 999)[:-9])
    with pytest.raises(UserError, match="cannot be read"):
        read(path)


def test_a_table_without_text_says_what_it_has(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": ["x"], "body": ["y"]}), tmp_path / "a.parquet")
    with pytest.raises(UserError, match="has no column texts or text; it has url, body"):
        read(tmp_path / "a.parquet")


def test_a_name_that_nothing_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        read(tmp_path / "none*.jsonl")
