"""Lists and personal data in the extract stage: before anything is measured, counted, and part of the units' ids."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import Manifest, names_by_label
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.policy.personal_data.budget import MOST_LOOKS
from obelics_pipeline.stages.extract.refused import Refused
from obelics_pipeline.stages.extract.safety import Safety, notices
from obelics_pipeline.stages.extract.stage import NO_UNITS, extract_unit, extract_units, page_documents
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page
from obelics_pipeline.stages.read.ranges import plan_ranges

OFF = ["personal_data={enabled: false}"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def page(url: str = "https://www.good.example/a", html: str = "") -> Page:
    body = html or (
        "<html lang=de><title>Anna, anna@web.de</title><body><article><h1>Kontakt</h1>"
        "<p>Sie erreichen Frau Anna Weber jederzeit unter anna@web.de oder (030/123 456), und das gern.</p>"
        "<p>Die Version 1.2.3.4 kostet 1.299,00 Euro, siehe ISBN 978-3-16-148410-0 und logo@2x.png dort.</p>"
        "<img src='https://pics.bad.example/x.jpg' alt='ein Bild von anna@web.de' width=400 height=300>"
        "<img src='https://pics.good.example/y.jpg' alt='noch ein Bild' width=400 height=300></article>"
    )
    return Page(url, "made.warc.gz", 0, 1, 0, None, body, "utf-8", "http", "text/html", None)


def documents(made: Page, config: RunConfig) -> list[Document]:
    found = page_documents(made, config, Safety(config))
    assert not isinstance(found, Refused)
    return found


def blocking(path: Path, *domains: str, applies_to: str = "[pages]") -> list[str]:
    path.write_text("\n".join(domains) + "\n")
    return [f"blocklists={{adult: {{path: '{path}', applies_to: {applies_to}}}}}"]


def units(warcs: list[Path], config: RunConfig, earlier: Mapping[str, Sequence[str]] = NO_UNITS) -> list[Unit]:
    inputs = resolve_inputs([str(path) for path in warcs], config.reading)
    return extract_units(plan_ranges(inputs, config.reading), config, earlier=earlier)


def test_by_default_pseudonyms_stand_where_personal_data_stood_and_near_misses_stay() -> None:
    (found,) = documents(page(), load_config("default"))
    everything = json.dumps(
        [found.general, [getattr(n, "alt_text", None) or getattr(n, "text", "") for n in found.nodes]]
    )
    assert "anna@web.de" not in everything
    assert "123 456" not in everything
    for near in ("1.2.3.4", "1.299,00", "978-3-16-148410-0", "logo@2x.png"):
        assert near in found.text()
    assert found.scores["personal_email"] == 3
    assert found.scores["personal_phone"] == 1


def test_a_page_on_a_list_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    config = load_config("default", blocking(tmp_path / "list", "bad.example"))
    refused = page_documents(page("https://www.bad.example/a", "<" * 10_000), config, Safety(config))
    assert refused == Refused("blocked_domain_adult")
    assert documents(page(), config)


def test_a_page_that_would_take_too_long_to_search_is_refused_whole_and_its_neighbours_are_not() -> None:
    config = load_config("default")
    hostile = page(html="<article><p>" + "x@y " * (MOST_LOOKS + 1) + "</p></article>")
    assert page_documents(hostile, config, Safety(config)) == Refused("personal_data_unsearched")
    assert documents(page(), config)


def test_an_image_on_a_list_is_dropped_with_the_list_s_name(tmp_path: Path) -> None:
    config = load_config("default", blocking(tmp_path / "list", "bad.example", applies_to="[images]"))
    (found,) = documents(page(), config)
    reasons = {node.src: node.reason for node in found.nodes if isinstance(node, ImageNode)}
    assert reasons["https://pics.bad.example/x.jpg"] == "blocked_domain_adult"
    assert reasons["https://pics.good.example/y.jpg"] is None
    assert isinstance(page_documents(page("https://bad.example/"), config, Safety(config)), list)


def test_records_and_values_are_counted_and_nothing_of_them_is_in_the_unit_s_files(
    warcs: list[Path], tmp_path: Path
) -> None:
    plain = load_config("default", OFF)
    (first, *_) = units(warcs, plain)
    before = extract_unit(first, folder=tmp_path / "before", config=plain)
    rows = pq.read_table(before.path(tmp_path / "before", "records")).to_pylist()
    site = next(row["url"] for row in rows if row["outcome"] == "kept").split("/")[2]
    config = load_config("default", blocking(tmp_path / "list", site))
    manifest = extract_unit(units(warcs, config)[0], folder=tmp_path / "after", config=config)
    blocked = sum(row["outcome"] != "failed" and site in (row["url"] or "") for row in rows)
    records = manifest.ledgers["records"]
    assert records.balanced()
    assert 0 < records.dropped["blocked_domain_adult"] <= blocked + sum(row["outcome"] == "failed" for row in rows)
    assert records.entered == before.ledgers["records"].entered
    counted = manifest.notes["personal_data"]
    stored = list(read_documents(manifest.path(tmp_path / "after", "data")))
    assert counted["email"]["values"] == sum(d.scores["personal_email"] or 0 for d in stored)
    assert counted["email"]["documents"] == sum(bool(d.scores["personal_email"]) for d in stored)


def test_ids_follow_what_is_asked_for_and_are_those_of_before_where_nothing_is(
    warcs: list[Path], tmp_path: Path
) -> None:
    def ids(*overrides: str) -> list[str]:
        return [unit.id for unit in units(warcs, load_config("default", list(overrides)))]

    off = ids(*OFF)
    assert ids(*OFF, "personal_data.email=mask") != ids()
    assert ids() != off
    assert ids("personal_data.email=mask") != ids()
    lists = blocking(tmp_path / "list", "bad.example")
    listed = ids(*lists)
    assert listed != ids()
    (tmp_path / "moved").write_bytes((tmp_path / "list").read_bytes())
    assert ids(f"blocklists={{adult: {{path: '{tmp_path / 'moved'}'}}}}") == listed
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    assert ids(f"personal_data.key_file={key}") != ids()


def test_a_document_dropped_for_what_it_holds_stays_dropped_when_thresholds_change(tmp_path: Path) -> None:
    from obelics_pipeline.stages.extract.measure import Measurer

    config = load_config("default", ["personal_data.email=drop_document"])
    (found,) = documents(page(), config)
    measurer = Measurer(config.filters, config.language)
    measurer.measure(found)
    assert found.reason == "personal_data_email"
    assert found.scores["personal_email"] == 3
    measurer.decide(found)
    assert found.reason == "personal_data_email"
    assert all("anna@web.de" not in node.text for node in found.nodes if isinstance(node, TextNode))


def test_a_person_is_told_of_a_key_that_everybody_knows(tmp_path: Path) -> None:
    assert any("key_file is not set" in line for line in notices(load_config("default")))
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    assert notices(load_config("default", [f"personal_data.key_file={key}"])) == []
    assert notices(load_config("obelics")) == []


def test_a_unit_measured_anew_and_one_decided_again_count_the_same(warcs: list[Path], tmp_path: Path) -> None:
    config = load_config("default")
    changed = load_config("default", ["filters.document.word_count={min: 12}"])
    first = extract_unit(units(warcs, config)[0], folder=tmp_path, config=config)
    again: Manifest = extract_unit(units(warcs, changed, names_by_label(tmp_path))[0], folder=tmp_path, config=changed)
    assert again.notes["measured"] == first.notes["measured"]
    assert again.notes["personal_data"] == first.notes["personal_data"]
