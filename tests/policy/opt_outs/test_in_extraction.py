"""The extract stage: what a list names is not looked at, what a page is under decides, what it said is recorded."""

import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import Manifest, names_by_label
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.policy.opt_outs.lists import prepare
from obelics_pipeline.stages.extract import stage
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges
from tests.stages.read.warcs import record

CC = "https://creativecommons.org/licenses"
HTML = ("Content-Type", "text/html; charset=utf-8")
WORDS = """The harbour of this small town has been rebuilt twice since the great storm, and each time the fishermen
argued for months about where the wall should stand. Visitors come for the market on Saturdays, when the boats return
early and the stalls along the quay are full of mackerel, crab and bread from the bakery behind the church. In winter
it is quiet here; the ferry leaves once a day, and the school closes when the wind turns to the north."""


def page(number: int, head: str = "", headers: Sequence[tuple[str, str]] = (), host: str = "") -> bytes:
    body = f"<html><head><title>{number}</title>{head}</head><body><h1>Page {number}</h1>"
    body += f'<img src="{host}/{number}.jpg"><p>{number} {WORDS}</p></body></html>'
    body = body.replace("harbour", ("harbour", "bridge", "castle", "station", "library", "theatre")[number])
    return record(body.encode(), f"https://site{number}.example/page", headers=(HTML, *headers))


PAGES = [
    page(0, f'<link rel="license" href="{CC}/by/4.0/">'),
    page(1, f'<link rel="license" href="{CC}/by-nc/4.0/">'),
    page(2),
    page(3, '<meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://site3.example/p">'),
    page(4, headers=[("tdm-reservation", "1"), ("X-Robots-Tag", "noindex, otherbot: nofollow")]),
    page(5, '<meta name="tdm-reservation" content="0">', headers=[("TDM-Reservation", "1")]),
]


class Extracted:
    """One unit, extracted by a config."""

    def __init__(self, folder: Path, sets: Sequence[str], pages: Sequence[bytes] = PAGES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        warc = folder / "in.warc.gz"
        warc.write_bytes(b"".join(gzip.compress(page, mtime=0) for page in pages))
        config = load_config(
            "default", ["consent={}", "language.min_score=0", "filters.document={word_count: {min: 10}}", *sets]
        )
        self.lists = prepare(config.consent.lists, folder / "lists", {})
        self.folder = folder / "extract"
        self.unit = self.unit_of(config, warc)
        self.manifest: Manifest = extract_unit(self.unit, folder=self.folder, config=config, opt_outs=self.lists)

    def unit_of(self, config: RunConfig, warc: Path) -> Any:
        tasks = plan_ranges(resolve_inputs([str(warc)], config.reading), config.reading)
        return extract_units(tasks, config, opt_outs=self.lists, earlier=names_by_label(self.folder))[0]

    def documents(self) -> dict[str, Document]:
        return {d.url.split(".")[0][-1]: d for d in read_documents(self.manifest.path(self.folder, "data"))}

    def reasons(self, noun: str) -> Counter[str]:
        return self.manifest.ledgers[noun].dropped

    def content(self) -> list[bytes]:
        return [self.manifest.path(self.folder, role).read_bytes() for role in ("data", "records")]


def listed(folder: Path, text: str, kind: str = "domains", name: str = "mine") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "list.txt").write_text(text)
    return f"consent.lists={{{name}: {{path: {folder / 'list.txt'}, kind: {kind}}}}}"


def test_a_listed_page_is_dropped_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    got = Extracted(tmp_path, [listed(tmp_path, "site1.example\nsite3.example\n")])
    assert got.reasons("records")["opt_out_mine"] == 2
    assert set(got.documents()) == set("0245")
    rows = pq.read_table(got.manifest.path(got.folder, "records")).to_pylist()
    assert [r["reason"] for r in rows if r["outcome"] == "dropped"] == ["opt_out_mine"] * 2
    assert all(ledger.balanced() for ledger in got.manifest.ledgers.values())


@pytest.mark.parametrize("after", ["site1.example\nsite2.example\n", "site1.example\n# the same\n"])
def test_a_longer_list_is_decided_without_reading_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    Extracted(tmp_path / "a", [listed(tmp_path / "a", "site1.example\n")])
    fresh = Extracted(tmp_path / "b", [listed(tmp_path / "b", after)])
    monkeypatch.setattr(stage, "read_task", None)  # whoever calls it now fails
    again = Extracted(tmp_path / "a", [listed(tmp_path / "a", after)])
    assert again.content() == fresh.content()
    assert again.manifest.to_json() == fresh.manifest.to_json()


@pytest.mark.parametrize("after", ["site2.example\n", "# nobody\n"])
def test_a_page_that_is_no_longer_listed_is_read(tmp_path: Path, after: str) -> None:
    Extracted(tmp_path / "a", [listed(tmp_path / "a", "site1.example\n")])
    fresh = Extracted(tmp_path / "b", [listed(tmp_path / "b", after)])
    again = Extracted(tmp_path / "a", [listed(tmp_path / "a", after)])
    assert "1" in again.documents()
    assert again.content() == fresh.content()


def test_a_unit_is_the_same_without_the_section(tmp_path: Path) -> None:
    plain, off = Extracted(tmp_path / "a", []), Extracted(tmp_path / "b", ["consent.licence.read=false"])
    assert plain.unit.id == off.unit.id
    on = Extracted(tmp_path / "c", ["consent.licence.read=true"])
    assert on.unit.id != plain.unit.id


def test_a_list_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    one = Extracted(tmp_path / "a", [listed(tmp_path / "a", "site1.example\n")])
    same = Extracted(tmp_path / "b", [listed(tmp_path / "b", "site1.example\n")])
    other = Extracted(tmp_path / "c", [listed(tmp_path / "c", "site2.example\n")])
    assert one.unit.id == same.unit.id != other.unit.id


def test_a_licence_is_a_column(tmp_path: Path) -> None:
    documents = Extracted(tmp_path, ["consent.licence.read=true"]).documents()
    assert documents["0"].general["licence"] == "cc-by-4.0"
    assert documents["0"].general["licence_url"] == f"{CC}/by/4.0/"
    assert documents["0"].general["licence_source"] == "link_rel"
    assert "licence" not in documents["2"].general


@pytest.mark.parametrize(
    ("required", "kept", "reasons"),
    [
        ("[cc-by]", "0", {"licence_not_allowed": 1, "no_licence": 4}),
        ("[cc-by-4.0, cc-by-nc]", "01", {"no_licence": 4}),
        ("[cc-by-3.0]", "", {"licence_not_allowed": 2, "no_licence": 4}),
    ],
)
def test_a_licence_can_be_required(tmp_path: Path, required: str, kept: str, reasons: dict[str, int]) -> None:
    got = Extracted(tmp_path, [f"consent.licence.require={required}"])
    assert {n for n, d in got.documents().items() if d.reason is None} == set(kept)
    assert got.reasons("documents") == reasons


def test_a_source_that_is_not_trusted_is_no_licence(tmp_path: Path) -> None:
    got = Extracted(tmp_path, ["consent.licence={require: [cc-by], sources: [json_ld]}"])
    assert got.reasons("documents") == {"no_licence": 6}


@pytest.mark.parametrize(
    ("before", "after"), [("null", "[cc-by]"), ("[cc-by]", "[cc-by, cc-by-nc]"), ("[cc0]", "null")]
)
def test_another_requirement_is_decided_without_reading_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    def sets(required: str) -> list[str]:
        return [f"consent.licence={{read: true, require: {required}}}", "filters.standardize_whitespace=true"]

    Extracted(tmp_path / "a", sets(before))
    fresh = Extracted(tmp_path / "b", sets(after))
    monkeypatch.setattr(stage, "read_task", None)
    again = Extracted(tmp_path / "a", sets(after))
    assert again.content() == fresh.content()


def test_what_was_heard_is_recorded_with_the_day_of_the_capture(tmp_path: Path) -> None:
    heard = {n: d.general["consent"] for n, d in Extracted(tmp_path, ["consent.crawl.record=true"]).documents().items()}
    day = {"checked": "2024-05-06"}
    assert heard["2"] == {**day, "robots": [], "tdm": "unset"}
    policy = "https://site3.example/p"
    assert heard["3"] == {**day, "robots": [], "tdm": "reserved", "tdm_source": "meta", "tdm_policy": policy}
    assert heard["4"] == {**day, "robots": ["noindex"], "tdm": "reserved", "tdm_source": "header"}
    assert heard["5"] == {**day, "robots": [], "tdm": "not_reserved", "tdm_source": "meta"}


def test_a_reservation_can_be_obeyed(tmp_path: Path) -> None:
    got = Extracted(tmp_path, ["consent.crawl.tdm=drop"])
    assert set(got.documents()) == set("0125")
    assert got.reasons("records") == {"tdm_reserved": 2}


def test_a_wrong_licence_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"consent.licence.require.0: .*cc-bye"):
        load_config("default", ["consent.licence.require=[cc-bye]"])
