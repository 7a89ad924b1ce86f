"""The texts of a language must be in the order of their pages, and no stranger may be among those that are learned."""

import bz2
import gzip
import json
import struct
from pathlib import Path

import pytest

from benchmarks.language_texts import MOST, main, of_html, of_manual, of_strings, parts, speaks, text_of


def test_a_page_gives_its_blocks_once_and_in_their_order_without_what_frames_it() -> None:
    page = "<title>T</title><nav><p>menu</p></nav><h1>A</h1><p>one</p><ul><li><p>two</p></li><li>three</li></ul><h2>B"
    assert of_html(page).split("\n\n") == ["T", "A", "one", "two", "three", "B"]


def test_a_sentence_keeps_the_code_that_it_names_and_a_listing_is_left_out() -> None:
    page = "<p>A value of <code>x</code>, and of <code>y</code>.</p><pre>x = y</pre><para>Next.</para>"
    page += "<div class='para'>Publican's.</div><div>no text of its own</div>"
    assert of_html(page).split("\n\n") == ["A value of x, and of y.", "Next.", "Publican's."]


def test_strings_of_a_program_are_its_long_ones_without_their_marks() -> None:
    said = ["about the file", "short", "<b>ein</b> " + "langer " * 12 + "satz"]
    packed = [text.encode() for text in said]
    begins = [28 + 8 * 3 + sum(map(len, packed[:number])) for number in range(3)]
    places = b"".join(struct.pack("<2I", len(text), at) for text, at in zip(packed, begins, strict=True))
    catalogue = struct.pack("<7I", 0x950412DE, 0, 3, 0, 28, 0, 0) + places + b"".join(packed)
    assert of_strings(catalogue) == "ein " + "langer " * 12 + "satz"


@pytest.mark.parametrize("name", ["index.cache.bz2", "description.de.utf8", "page.html"])
def test_a_page_is_read_however_it_is_kept(tmp_path: Path, name: str) -> None:
    page = b"<h1>A</h1><p>one</p>"
    (tmp_path / name).write_bytes(bz2.compress(page) if name.endswith("bz2") else page)
    assert text_of(tmp_path / name) == "A\n\none"


def test_a_man_page_gives_its_prose() -> None:
    source = ".TH CP 1\n.SH NAME\n\ncp \\- kopiert \\fBDateien\\fP\n.PP\n\nZwei\nZeilen.\n"
    assert of_manual(source) == "cp - kopiert Dateien\n\nZwei Zeilen."


@pytest.mark.parametrize(
    ("file", "spoken"),
    [
        ("debian-handbook/usr/html/de-DE/a.html", True), ("debian-handbook/usr/html/fr-FR/a.html", False),
        ("manpages-de/usr/share/man/de/man1/a.1.gz", True), ("debian-reference-de/usr/share/ch01.de.html", True),
        ("libreoffice-help-de/usr/share/doc/a.html", False), ("stellarium-data/usr/share/a/description.de.utf8", True),
        ("stellarium-data/usr/share/a/description.fr.utf8", False),
    ],
)  # fmt: skip
def test_the_language_of_a_file_is_that_of_its_folder_or_package(file: str, spoken: bool) -> None:
    assert speaks(Path(file), "de") == spoken


def test_a_long_text_is_parted_between_paragraphs_and_a_short_one_left_out() -> None:
    text = "\n\n".join(f"{n} " + "w " * 99 for n in range(20))
    assert "\n\n".join(parts(text)) == text
    assert all(len(part.split()) < MOST + 101 for part in parts(text))
    assert not list(parts("too short"))


GERMAN = "Am Morgen ging der alte Mann mit seinem Boot zum Hafen und wartete. "


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_a_work_is_learned_from_or_a_stranger_and_never_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": f"{n}", "source": f"work {n % 20}", "text": f"{n} " + GERMAN * 8} for n in range(100)]
    rows += [{"id": "x", "source": "not German", "text": "This is another language than the one that was named. " * 9}]
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
    assert set.union(*works.values()) == {row["source"] for row in rows} - {"not German"}
