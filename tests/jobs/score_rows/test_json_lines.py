import gzip
import json
from pathlib import Path

import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.score_rows import json_lines
from obelics_pipeline.jobs.score_rows.columns import ask
from obelics_pipeline.jobs.score_rows.json_lines import (
    BOM,
    LINES_PER_BATCH,
    LineBatch,
    LineWriter,
    LongLine,
    ScoredLines,
    count_lines,
    read_lines,
    score_lines,
)
from tests.jobs.score_rows.rows import TEXT, write_lines

ASKED = ask(["word_count", "language"], load_config("default"))
NULLS = b',"word_count":null,"language":null}\n'


def scored(*lines: bytes, replace: bool = False) -> ScoredLines:
    return score_lines(LineBatch("x.jsonl", list(range(1, len(lines) + 1)), list(lines)), ASKED, replace)


def test_a_line_keeps_every_character_and_gets_its_scores() -> None:
    line = '{"id": 7, "n": 1.00, "x": NaN, "é": "\\u00e9\\ud800", "text": "the boy and the girl 😀"}'.encode()
    (data,) = scored(line).data
    assert data == line[:-1] + b',"word_count":5.0,"language":"en"}\n'


@pytest.mark.parametrize(
    ("line", "reason", "carried"),
    [
        (b"nope", "not_json", b'{"unread_line":"nope"'),
        (b'{"text":"a"', "not_json", b'{"unread_line":"{\\"text\\":\\"a\\""'),
        (b'["text"]', "not_json", b'{"unread_line":"[\\"text\\"]"'),
        (b"[" * 100_000, "not_json", None),
        (b'{"text":' + b"9" * 5000 + b"}", "not_json", None),
        (b'\xff\xfe{"text":"a"}', "not_utf8", b'{"unread_line":"\\udcff\\udcfe{\\"text\\":\\"a\\"}"'),
        (b"{}", "no_text", b"{"),
        (b'{"text":null}', "no_text", b'{"text":null'),
        (b'{"text":3}', "wrong_type", b'{"text":3'),
        (b'{"texts":["a"],"images":[]}', "lengths_differ", b'{"texts":["a"],"images":[]'),
    ],
)
def test_a_broken_line_costs_itself_and_stays_with_nulls(line: bytes, reason: str, carried: bytes | None) -> None:
    found = scored(b'{"text":"one"}', line, b'{"text":"two"}')
    first, broken, last = b"".join(found.data).splitlines(keepends=True)
    assert b'"word_count":1.0' in first and b'"word_count":1.0' in last
    assert json.loads(broken)["word_count"] is None
    assert [(place, error.reason) for place, error in found.failures] == [("x.jsonl line 2", reason)]
    assert found.rows == 3
    if carried is not None:
        assert broken == carried + NULLS.removeprefix(b"," if carried == b"{" else b"")


def test_a_line_that_could_not_be_read_can_be_had_back() -> None:
    line = 'Größe \x00 "quoted" \\'.encode() + b"\xff\xc3"
    (data,) = scored(line).data
    assert json.loads(data)["unread_line"].encode("utf-8", "surrogateescape") == line


def test_a_key_that_is_a_score_already_is_refused_or_replaced() -> None:
    line = b'{"word_count": 99, "text": "the boy", "z": 1}'
    with pytest.raises(UserError, match=r"^x.jsonl line 2: has a word_count already; .* or give --replace$"):
        scored(b'{"text":"fine"}', line)
    (data,) = scored(line, replace=True).data
    assert data.startswith(b'{"word_count": 2.0, "text": "the boy", "z": 1,"language":"')


def test_lines_are_read_without_blanks_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(BOM + b'{"a":1}\r\n\r\n  \n{"b":"\xe2\x80\xa8\x0b"}\n\n{"c":3}')
    (batch,) = read_lines(path)
    assert isinstance(batch, LineBatch)
    assert batch.lines == [b'{"a":1}', b'{"b":"\xe2\x80\xa8\x0b"}', b'{"c":3}']
    assert batch.numbers == [1, 4, 6]


def test_gzip_is_known_by_its_bytes_and_may_have_members(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(b'{"a":1}\n{"b"') + gzip.compress(b":2}\n"))
    (batch,) = read_lines(path)
    assert isinstance(batch, LineBatch)
    assert batch.lines == [b'{"a":1}', b'{"b":2}']


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_gzip_file_is_one_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_lines(path, [{"text": f"{TEXT} {i}"} for i in range(3000)])
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:-9] if damage == "cut" else bytes(data[:-6]) + b"\0\0" + bytes(data[-4:]))
    with pytest.raises(UserError, match=r"a.jsonl.gz: cannot be read beyond line 3000 \(.*\); nothing was written"):
        list(read_lines(path))


def test_batches_are_bounded_in_lines_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "a.jsonl", [b"{}"] * (LINES_PER_BATCH + 1))
    assert [len(batch) for batch in read_lines(path) if isinstance(batch, LineBatch)] == [LINES_PER_BATCH, 1]
    monkeypatch.setattr(json_lines, "BYTES_PER_BATCH", 10)
    path = write_lines(tmp_path / "b.jsonl", [b"1" * 4, b"2" * 4, b"3" * 40, b"4"])
    assert [len(batch) for batch in read_lines(path) if isinstance(batch, LineBatch)] == [2, 1, 1]


def test_a_line_beyond_the_limit_comes_in_pieces_and_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "MAX_LENGTH", 10)
    monkeypatch.setattr(json_lines, "PIECE", 4)
    path = write_lines(tmp_path / "a.jsonl", [b"1" * 10, "é".encode() * 20, b"3" * 10, b"4" * 11])
    found = []
    for part in read_lines(path):
        found.append((part.number, list(part.pieces)) if isinstance(part, LongLine) else part.lines)
    assert found[0] == [b"1" * 10] and found[2] == [b"3" * 10]
    assert found[1][0] == 2 and b"".join(found[1][1]) == "é".encode() * 20 + b"\n"
    assert max(map(len, found[1][1])) == 11
    assert found[3] == (4, [b"4" * 11, b"\n"])


def test_a_long_line_that_nobody_reads_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LENGTH", 10)
    path = write_lines(tmp_path / "a.jsonl", [b"2" * 100, b"3"])
    _, batch = read_lines(path)
    assert isinstance(batch, LineBatch) and batch.lines == [b"3"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_equal_rows_give_equal_bytes_and_are_counted_as_they_stand(tmp_path: Path, name: str) -> None:
    for folder in (tmp_path / "1", tmp_path / "2"):
        folder.mkdir()
        with LineWriter(folder / name) as writer:
            writer.write(ScoredLines([b'{"a":1}\n', b'{"b":', b"2}\n"], 2, []))
    assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert count_lines(tmp_path / "1" / name) == 2
    if name.endswith(".gz"):
        assert (tmp_path / "1" / name).read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # no name, no time
