"""Texts that people wrote in a language, to make its models of, and others to judge the models by.

    python benchmarks/language_texts.py LANGUAGE OUTPUT --packages DIR [--novels FILE.jsonl.gz] [--run DIR]

It writes trusted.jsonl.gz, unusual.jsonl.gz (pages and manuals) and strangers.jsonl.gz, a line {"id", "source", "text"}
each. DIR has Debian packages, each unpacked (`dpkg-deb -x`) into a folder of its name; `PACKAGES` says what they are
for, and `OTHER` what all others are for. Of novels, lines {"id", "source", "text"}, one work in five is a stranger; of
a run's pages, those of every other domain, and so of manuals. What is not in the language is left out. The same files
give the same bytes.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.core.storage import location
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.models.language_id import LanguageModel

# Packages: the kind of their texts, and the file that these are for; None is unusual or strangers, by the name.
TRUSTED, UNUSUAL, STRANGERS = "trusted", "unusual", "strangers"
PACKAGES = {
    "libreoffice-help-*": ("help", TRUSTED),
    "gnome-user-docs": ("help", TRUSTED),
    "gimp-help-*": ("help", TRUSTED),
    "debian-reference-*": ("reference", TRUSTED),
    "aptitude-doc-*": ("reference", TRUSTED),
    "debian-edu-doc-*": ("reference", TRUSTED),
    "maint-guide-*": ("reference", TRUSTED),
    "kicad-doc-*": ("reference", TRUSTED),
    "linuxcnc-doc-*": ("reference", TRUSTED),
    "doublecmd-help-*": ("help", TRUSTED),
    "fortunes-*": ("sayings", TRUSTED),
    "wesnoth-*": ("stories", TRUSTED),
    "stellarium-data": ("sky", TRUSTED),
    "debian-handbook": ("handbook", STRANGERS),
    "installation-guide-amd64": ("guide", STRANGERS),
    "developers-reference-*": ("guide", STRANGERS),
    "debian-faq-*": ("questions", STRANGERS),
    "gnucash-docs": ("accounts", STRANGERS),
    "lilypond-doc-html-*": ("music", STRANGERS),
    "manpages-*": ("manual", None),
}
OTHER = ("help", TRUSTED)  # packages of programs, for their manuals
FEWEST, MOST = 60, 700  # words of a text; a longer page is several
PAGES = 600  # of a package at most, chosen by their names
_SENTENCE = 12  # words of a translated string, and more: shorter ones are labels
_BLOCKS = frozenset("title h1 h2 h3 h4 p li dt dd td para".split())
_NESTED = frozenset("p li dd para".split())
# What frames a page, and listings; code within a sentence is a part of it.
_LEFT_OUT = (
    "script, style, nav, header, footer, pre, screen, programlisting, noscript, "
    ".navheader, .navfooter, .navCenter, .nav_table, .header, .nav-panel"
)
_TAG = re.compile(r"<[^<>]*>")
_MACRO = re.compile(r"^[.'].*$", re.M)
_ESCAPE = re.compile(r"\\f(\[[A-Z]*\]|\(..|.)|\\[&|,/^%]|\\s[-+]?\d")
_CREDIT = re.compile(r"<(mal:)?(info|credit)\b.*?</\1?\2>", re.S)


def main() -> None:
    """Write both files and tell how many texts of which source they have."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("language")
    parser.add_argument("output", type=Path)
    parser.add_argument("--packages", type=Path, required=True, help="folder of unpacked Debian packages")
    parser.add_argument("--novels", nargs="*", default=[], metavar="FILE.jsonl.gz")
    parser.add_argument("--run", type=Path, help="finished run of obelics run default")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[dict[str, str]]] = {TRUSTED: [], UNUSUAL: [], STRANGERS: []}
    seen: set[str] = set()
    languages = LanguageModel.load()
    for file, source, name, text in found(arguments):
        for number, part in enumerate(parts(text)):
            if part not in seen and languages.predict(part)[0] == arguments.language:
                seen.add(part)
                rows[file].append({"id": f"{name}#{number}", "source": source, "text": part})
    for name, of_file in rows.items():
        path = arguments.output / f"{name}.jsonl.gz"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            packed.writelines((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in of_file)
        count = Counter(row["source"] for row in of_file)
        words = sum(len(row["text"].split()) for row in of_file)
        print(f"{name}: {words:,} words;", ", ".join(f"{source} {n:,}" for source, n in sorted(count.items())))


def found(arguments: argparse.Namespace) -> Iterator[tuple[str, str, str, str]]:
    """The file, source, name and text of all that there is."""
    for file in text_files(arguments.novels) if arguments.novels else ():
        for row in file.texts():
            stranger = crc32(row.source.encode()) % 5 == 0
            yield STRANGERS if stranger else TRUSTED, "novels", row.source, row.text
    for name in sorted((arguments.run / "extract").glob("*.parquet")) if arguments.run else ():
        for document in read_documents(location(str(name))):
            if document.language == arguments.language and document.reason is None and document.url:
                host = document.url.split("/")[2].removeprefix("www.")
                yield half(host), "pages", document.url, document.text()
    for package in sorted(arguments.packages.iterdir()):
        source, use = next((told for pattern, told in PACKAGES.items() if package.match(pattern)), OTHER)
        files = [file for file in package.rglob("*") if file.is_file() and not file.is_symlink()]
        of_it = sorted(file for file in files if speaks(file.relative_to(arguments.packages), arguments.language))
        for file in of_it[:: -(-len(of_it) // PAGES) or 1]:
            if text := text_of(file):
                yield use or half(file.name), source, str(file.relative_to(package)), text


def half(name: str) -> str:
    """The file of what is dealt out by its name."""
    return STRANGERS if crc32(name.encode()) % 2 == 0 else UNUSUAL


def speaks(file: Path, language: str) -> bool:
    """Whether a file of a package is in a language, by its folders, else by the name of its package."""
    spoken = re.compile(rf"{language}([-_][A-Za-z]+)?")
    if any(spoken.fullmatch(part) for part in (*file.parts[1:-1], *file.name.split(".")[1:-1])):
        return True
    package = file.parts[0]
    return bool(re.search(rf"-{language}(-[a-z]+)?$", package)) and not package.startswith("libreoffice")


def text_of(file: Path) -> str:
    """The text of a page, man page or collection of sayings; empty for other files."""
    if file.suffix == ".html" or file.name.startswith("description."):
        return of_html(file.read_text("utf-8", "replace"))
    if file.name == "index.cache.bz2":
        return of_html(bz2.decompress(file.read_bytes()).decode("utf-8", "replace"))
    if file.suffix == ".mo":
        return of_strings(file.read_bytes())
    if file.suffix == ".page":
        return of_html(_CREDIT.sub("", file.read_text("utf-8", "replace")))
    if re.search(r"/man/.*\.\d\w*\.gz$", str(file)):
        return of_manual(gzip.decompress(file.read_bytes()).decode("utf-8", "replace"))
    if "fortunes" in file.parts and not file.suffix:
        return file.read_text("utf-8", "replace").replace("\n%\n", "\n\n")
    return ""


def of_html(page: str) -> str:
    """Its headings, paragraphs, lists and cells, but for what frames the page."""
    tree = LexborHTMLParser(page)
    for node in tree.css(_LEFT_OUT):
        node.decompose()
    nodes = (node for node in tree.root.traverse() if is_block(node)) if tree.root else ()
    blocks = (" ".join(node.text().split()) for node in nodes if not any(map(is_nested, inside(node))))
    return "\n\n".join(dict.fromkeys(block for block in blocks if block))


def is_block(node: LexborNode) -> bool:
    """Whether a node holds a text of its own."""
    return node.tag in _BLOCKS or is_paragraph(node)


def is_nested(node: LexborNode) -> bool:
    """Whether it does within another block."""
    return node.tag in _NESTED or is_paragraph(node)


def is_paragraph(node: LexborNode) -> bool:
    """Whether it is one as Publican writes them."""
    return node.tag == "div" and node.attributes.get("class") == "para"


def of_strings(catalogue: bytes) -> str:
    """The longer ones of a program's translated strings, in the order of its .mo file: GNU gettext's manual, 10.3."""
    _, _, count, _, begin = struct.unpack_from("<5I", catalogue)
    strings = range(1, count)  # the first one is about the file
    places = (struct.unpack_from("<2I", catalogue, begin + 8 * number) for number in strings)
    said = (_TAG.sub("", catalogue[at : at + size].decode("utf-8", "replace")) for size, at in places)
    return "\n\n".join(" ".join(text.split()) for text in said if len(text.split()) >= _SENTENCE)


def inside(node: LexborNode) -> Iterator[LexborNode]:
    """What a node holds, at any depth."""
    return (one for one in node.traverse() if one.mem_id != node.mem_id)


def of_manual(source: str) -> str:
    """The prose of a man page."""
    blocks = _MACRO.sub("\n", source).split("\n\n")
    plain = (" ".join(_ESCAPE.sub("", block).replace(r"\-", "-").split()) for block in blocks)
    return "\n\n".join(block for block in plain if block and "\\" not in block)


def parts(text: str) -> Iterator[str]:
    """A text, or the parts of a long one, each of whole paragraphs; what is too short is left out."""
    taken: list[str] = []
    count = 0
    for paragraph in text.split("\n\n"):
        taken.append(paragraph)
        count += len(paragraph.split())
        if count >= MOST:
            yield "\n\n".join(taken)
            taken, count = [], 0
    if count >= FEWEST:
        yield "\n\n".join(taken)


if __name__ == "__main__":
    main()
