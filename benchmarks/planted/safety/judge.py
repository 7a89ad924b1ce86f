"""What became of each case, from the shards of a finished run; the reasons of what is not there, from its stages."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from PIL import Image

from benchmarks.planted.safety.drawing import GPS, LATITUDE, ORIENTATION
from benchmarks.planted.safety.site import Case, Site
from obelics_pipeline.core.shards.source import StoredDocument, documents

_PSEUDONYM = re.compile(
    r"person-\w+@example\.com|\+999[ \d]+|192\.0\.2\.\d+|198\.51\.100\.\d+|203\.0\.113\.\d+|2001:db8:[0-9a-f:]+"
    r"|00:00:5e:00:53:\w\w|ZZ00[ \d]+|9999[ \d]+|ZZ-\d+"
)
_TRADE = re.compile(r"Watch .* and .* videos of")


@dataclass(frozen=True)
class Verdict:
    """Whether a case was found (a near miss: taken); None where its page was lost for something else."""

    taken: bool | None
    shown: str


class Run:
    """A finished run by the addresses of its pages."""

    def __init__(self, folder: Path) -> None:
        self.found: dict[str, StoredDocument] = {str(one.row["url"]): one for one in documents(folder)}
        self.reasons = dict(_reasons(folder))

    def texts(self, url: str) -> str:
        """All text of a document, with one space where there were any."""
        lines = "\n".join(text for text in self.found[url].value["texts"] if text).splitlines()
        return "\n".join(" ".join(line.split()) for line in lines)

    def said(self, url: str) -> Mapping[str, Any]:
        """What is known of the page."""
        said: Mapping[str, Any] = json.loads(self.found[url].value["general_metadata"])
        return said

    def file(self, url: str, source: str) -> bytes | None:
        """The bytes of a picture of a document."""
        one = self.found[url]
        for address, name in zip(one.value["images"], one.value["files"], strict=True):
            if address == source:
                return one.images[name]
        return None


def _reasons(folder: Path) -> Iterator[tuple[str, str]]:
    """Of pages that were dropped, by record or by document."""
    for row in _rows(folder / "extract" / "records", ["url", "reason"]):
        if row["reason"]:
            yield row["url"], row["reason"]
    for stage in ("extract", "dedup", "consent", "assembled", "scored"):
        for row in _rows(folder / stage, ["general_metadata", "reason"]):
            if row["reason"]:
                yield json.loads(row["general_metadata"])["url"], row["reason"]


def _rows(folder: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.parquet")):
        yield from pq.read_table(path, columns=columns).to_pylist()


def verdict(case: Case, run: Run, site: Site) -> Verdict:
    """What became of a case."""
    lost = run.reasons.get(case.url, "")
    if case.judge == "page":
        return _page(case, run, lost)
    if case.url not in run.found:
        return Verdict(None, f"page lost: {lost or 'no reason found'}")
    return {"text": _text, "twice": _text, "image": _image, "licence": _licence, "place": _place}[case.judge](
        case, run, site
    )


def _page(case: Case, run: Run, lost: str) -> Verdict:
    if case.what == "flagged_word_ratio":  # the paragraph may go alone
        return Verdict(case.url not in run.found or (case.planted and not _TRADE.search(run.texts(case.url))), lost)
    if case.url in run.found:
        return Verdict(False, "kept")
    right = lost.startswith(case.what)
    return Verdict(True if right else None if lost else False, lost or "no reason found")


def _text(case: Case, run: Run, site: Site) -> Verdict:
    before, after = (" ".join(part.split()) for part in case.around)
    text, value = run.texts(case.url), " ".join(case.what.split())
    if f"{before}{value}{after}".replace(" ", "") in text.replace(" ", ""):
        return Verdict(False, f"{before} [{value}] {after}")
    match = re.search(rf"{re.escape(before)} ?(.{{1,120}}?) ?" + (re.escape(after) if after else r"(?= \||\n|$)"), text)
    if not match:
        return Verdict(None, f"not there: {before} [{value}] {after}")
    left = _PSEUDONYM.sub("", match[1])
    whole = not (case.planted and (re.search(r"\d\d|@", left) or value in str(run.found[case.url].value)))
    if case.judge == "twice":
        whole = len(found := _PSEUDONYM.findall(match[0] + text[match.end() :])) == 2 and len(set(found)) == 1
    return Verdict(whole, f"{before} [{value}] {after} -> {match[1]}")


def _image(case: Case, run: Run, site: Site) -> Verdict:
    there = run.file(case.url, case.image) is not None
    asked = case.image in site.asked
    if case.what.startswith(("opt_out_domains", "opt_out_urls", "opt_out_service", "blocked")):
        return Verdict(not asked if case.planted else not there, "asked for" if asked else "not asked for")
    return Verdict(not there, "kept" if there else "not kept")


def _licence(case: Case, run: Run, site: Site) -> Verdict:
    licence = run.said(case.url).get("licence")
    return Verdict(licence == case.what if case.planted else licence is not None, f"{case.what}: read as {licence}")


def _place(case: Case, run: Run, site: Site) -> Verdict:
    data, sent = run.file(case.url, case.image), site.pictures[case.image]()
    if data is None:
        return Verdict(None, "the picture is not there")
    if not case.planted:
        return Verdict(data != sent, "changed" if data != sent else "as it came")
    ours, theirs = Image.open(io.BytesIO(data)), Image.open(io.BytesIO(sent))
    wrong = {
        "a place": bool(ours.getexif().get_ifd(GPS)) or LATITUDE.encode() in data,
        "orientation": ours.getexif().get(ORIENTATION) != theirs.getexif().get(ORIENTATION),
        "pixels": ours.tobytes() != theirs.tobytes(),
    }
    return Verdict(not any(wrong.values()), ", ".join(name for name, is_so in wrong.items() if is_so) or "gone")


def forgotten(case: Case, run: Run) -> Verdict:
    """Whether it is gone, after the lists were obeyed."""
    there = case.url in run.found
    if case.image and not there:
        return Verdict(None, "the page is gone with its picture")
    if case.image:
        there = run.file(case.url, case.image) is not None
    return Verdict(not there, "kept" if there else "gone")
