"""The texts of a language must be in the order of their pages, and no stranger may be among those that are learned."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.language_texts import MOST, main, of_html, of_manual, parts, speaks


def test_a_page_gives_its_blocks_once_and_in_their_order_without_what_frames_it() -> None:
    page = "<title>T</title><nav><p>menu</p></nav><h1>A</h1><p>one</p><ul><li><p>two</p></li><li>three</li></ul><h2>B"
    assert of_html(page).split("\n\n") == ["T", "A", "one", "two", "three", "B"]


def test_a_man_page_gives_its_prose() -> None:
    source = ".TH CP 1\n.SH NAME\n\ncp \\- kopiert \\fBDateien\\fP\n.PP\n\nZwei\nZeilen.\n"
    assert of_manual(source) == "cp - kopiert Dateien\n\nZwei Zeilen."


@pytest.mark.parametrize(
    ("file", "spoken"),
    [
        ("debian-handbook/usr/html/de-DE/a.html", True), ("debian-handbook/usr/html/fr-FR/a.html", False),
        ("manpages-de/usr/share/man/de/man1/a.1.gz", True), ("debian-reference-de/usr/share/ch01.de.html", True),
        ("libreoffice-help-de/usr/share/doc/a.html", False),
    ],
)  # fmt: skip
def test_the_language_of_a_file_is_that_of_its_folder_or_package(file: str, spoken: bool) -> None:
    assert speaks(Path(file), "de") == spoken


def test_a_long_text_is_parted_between_paragraphs_and_a_short_one_left_out() -> None:
    text = "\n\n".join(f"{n} " + "w " * 99 for n in range(20))
    assert "\n\n".join(parts(text)) == text
    assert all(len(part.split()) < MOST + 101 for part in parts(text))
    assert not list(parts("too short"))


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_a_work_is_learned_from_or_a_stranger_and_never_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": f"{n}", "source": f"work {n % 20}", "text": f"{n} " * 80} for n in range(100)]
    (tmp_path / "novels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "packages").mkdir()
    arguments = ["de", str(tmp_path / "out"), "--packages", str(tmp_path / "packages")]
    monkeypatch.setattr("sys.argv", ["x", *arguments, "--novels", str(tmp_path / "novels.jsonl")])
    main()
    of = {
        name: {json.loads(line)["id"] for line in lines_of(tmp_path / "out" / f"{name}.jsonl.gz")}
        for name in ("trusted", "strangers")
    }
    works = {name: {found.split("#")[0] for found in ids} for name, ids in of.items()}
    assert works["trusted"] and works["strangers"] and not works["trusted"] & works["strangers"]
    assert set.union(*works.values()) == {row["source"] for row in rows}
