"""Honest texts of files: paragraphs without the frame of a page, passages of a length, and no version twice."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks import honest_genres


def words(begin: int, count: int = 120) -> str:
    return " ".join(f"w{number}" for number in range(begin, begin + count))


def made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> list[dict[str, object]]:
    monkeypatch.setattr(sys, "argv", ["honest_genres", *arguments])
    honest_genres.main()
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_pages_and_plain_text_give_passages_by_domain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (
        f"<nav><p>Home</p></nav><h1>Title</h1><p>{words(0)}</p><pre>code</pre><ul><li>one</li><li><p>two</p></li></ul>"
    )
    (tmp_path / "a.html").write_text(page, "utf-8")
    with gzip.open(tmp_path / "b.gz", "wt") as file:
        file.write("\n%\n".join(words(begin) for begin in range(1000, 1600, 120)))
    rows = made(capsys, monkeypatch, f"help={tmp_path}/a.html", f"sayings={tmp_path}/*.gz")
    assert {row["label"] for row in rows} == {0}
    texts = {str(row["domain"]): str(row["text"]).split("\n\n") for row in rows}
    assert texts["help"] == ["Title", words(0), "one", "two"]
    of_sayings = [len(str(row["text"]).split()) for row in rows if row["domain"] == "sayings"]
    assert sorted(of_sayings) == [240, 360]


def test_versions_of_a_text_and_short_ones_are_left_out_and_the_order_of_files_is_no_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("1", words(0)), ("2", words(10)), ("3", words(500)), ("4", "few words")):
        (tmp_path / name).write_text(text, "utf-8")
    rows = made(capsys, monkeypatch, f"a={tmp_path}/*")
    assert len(rows) == 2 and any(row["text"] == words(500) for row in rows)
    globs = [f"a={tmp_path}/{name}" for name in "4321"]
    assert made(capsys, monkeypatch, *globs) == rows


def test_an_argument_without_a_domain_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["honest_genres", "file.html"])
    with pytest.raises(SystemExit, match="usage"):
        honest_genres.main()
