"""The extract stage: a range becomes documents and a row for every record; a page costs itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import Manifest, names_by_label
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.models.page_type import KINDS
from obelics_pipeline.stages.extract import stage
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges
from tests.stages.extract.poisoned import Poisoned


@pytest.fixture
def config() -> RunConfig:
    return load_config("default")


def units(
    warcs: list[Path],
    config: RunConfig,
    everything: bool = False,
    earlier: Mapping[str, Sequence[str]] = stage.NO_UNITS,
) -> list[Unit]:
    tasks = plan_ranges(resolve_inputs([str(path) for path in warcs], config.reading), config.reading)
    return extract_units(tasks, config, everything, earlier=earlier)


def rows(manifest: Manifest, folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(manifest.path(folder, "records")).to_pylist()
    return found


def test_every_record_is_counted_and_every_page_has_a_row(warcs: list[Path], config: RunConfig, tmp_path: Path) -> None:
    manifest = extract_unit(units(warcs, config)[0], folder=tmp_path, config=config)
    records, listed = manifest.ledgers["records"], rows(manifest, tmp_path)
    assert records.balanced()
    asides = sum(records.dropped[kind] for kind in ("request", "metadata", "warcinfo"))
    assert len(listed) == records.entered - asides
    assert sum(row["documents"] for row in listed) == manifest.ledgers["documents"].entered
    assert {row["outcome"] for row in listed} == {"kept", "dropped", "failed"}


def test_a_committed_unit_is_not_worked_on_again(
    warcs: list[Path], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = units(warcs, config)[0]
    first = extract_unit(unit, folder=tmp_path, config=config)
    monkeypatch.setattr(stage, "read_task", None)  # whoever calls it now fails
    [known, *_] = units(warcs, config, earlier=names_by_label(tmp_path))
    assert extract_unit(known, folder=tmp_path, config=config) == first


@pytest.mark.parametrize(
    ("override", "same_unit"),
    [
        ("shard.target_bytes=1", True),
        ("fetch.threads=1", True),
        ("images.min_side=10", True),
        ("reading.pointer_root=elsewhere/", True),
        ("filters.document.word_count={min: 99}", False),
        ("filters.paragraph.word_count={min: 9}", False),
        ("extract.rules=obelics", False),
        ("language.keep=[en]", False),
        ("reading.max_page_bytes=1000", False),
    ],
)
def test_a_unit_changes_with_the_config_that_matters_to_it(
    warcs: list[Path], config: RunConfig, override: str, same_unit: bool
) -> None:
    changed = load_config("default", [override])
    assert ([u.id for u in units(warcs, changed)] == [u.id for u in units(warcs, config)]) is same_unit


@pytest.mark.parametrize(
    "sets",
    [["filters.document.word_count={min: 300}"], ["filters.document.word_count={min: 1}"], ["language.keep=[de, fr]"]],
)
def test_a_changed_decision_gives_the_bytes_of_a_fresh_run(
    warcs: list[Path], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sets: list[str]
) -> None:
    folder, fresh = tmp_path / "again", tmp_path / "fresh"
    extract_unit(units(warcs, config)[0], folder=folder, config=config)
    changed = load_config("default", sets)
    unit = units(warcs, changed)[0]
    anew = extract_unit(unit, folder=fresh, config=changed)
    monkeypatch.setattr(stage, "read_task", None)
    [known, *_] = units(warcs, changed, earlier=names_by_label(folder))
    assert known.name == unit.name
    again = extract_unit(known, folder=folder, config=changed)
    assert again.to_json() == anew.to_json()
    assert again.path(folder, "data").read_bytes() == anew.path(fresh, "data").read_bytes()


def test_a_document_says_what_kind_its_page_is_of(warcs: list[Path], config: RunConfig, tmp_path: Path) -> None:
    manifest = extract_unit(units(warcs, config, everything=True)[0], folder=tmp_path, config=config)
    documents = list(read_documents(manifest.path(tmp_path, "data")))
    noted = [
        (d.general["page_type"], d.general["page_type_probability"]) for d in documents if "page_type" in d.general
    ]
    assert noted
    assert {kind for kind, _ in noted} <= set(KINDS)
    assert [d.scores["page_type_probability"] for d in documents if "page_type" in d.general] == [p for _, p in noted]


def test_everything_is_measured_for_a_sample(warcs: list[Path], config: RunConfig, tmp_path: Path) -> None:
    manifest = extract_unit(units(warcs, config, everything=True)[0], folder=tmp_path, config=config)
    dropped = [d for d in read_documents(manifest.path(tmp_path, "data")) if d.reason == "image_count"]
    assert dropped
    assert all(d.scores["word_count"] is not None for d in dropped)


def test_a_page_that_we_fail_at_costs_itself(
    warcs: list[Path], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = stage.extract_page, []

    def fragile(html: str, url: str, extraction: Any, licence: bool) -> Any:
        calls.append(url)
        if len(calls) == 3:
            raise MemoryError
        return real(html, url, extraction, licence)

    monkeypatch.setattr(stage, "extract_page", fragile)
    manifest = extract_unit(units(warcs, config)[0], folder=tmp_path, config=config)
    assert manifest.ledgers["records"].failed["extraction_error_MemoryError"] == 1
    assert [r["url"] for r in rows(manifest, tmp_path) if r["reason"] == "extraction_error_MemoryError"] == [calls[2]]


@pytest.mark.parametrize("step", ["identify", "judge"])
def test_a_filter_that_raises_costs_its_document(
    warcs: list[Path], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    unit = units(warcs, config)[0]
    good = extract_unit(unit, folder=tmp_path / "good", config=config)
    measurer = stage.measurer(config.model_dump_json())
    real, calls = getattr(measurer, step), []

    def fragile(document: Any, **options: bool) -> Any:
        calls.append(document)
        if len(calls) == 2:
            raise ZeroDivisionError
        return real(document, **options)

    monkeypatch.setattr(measurer, step, fragile)
    manifest = extract_unit(unit, folder=tmp_path / "bad", config=config)
    assert manifest.ledgers["documents"].failed == {"measuring_error_ZeroDivisionError": 1}
    assert manifest.ledgers["documents"].entered == good.ledgers["documents"].entered


def test_languages_of_several_documents_are_told_before_they_are_judged(
    warcs: list[Path], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measurer = stage.measurer(config.model_dump_json())
    told: list[tuple[str, str]] = []

    def noted(step: str, real: Any, document: Document, **options: bool) -> Any:
        told.append((step, document.doc_id))
        return real(document, **options)

    for step in ("identify", "judge"):
        monkeypatch.setattr(measurer, step, partial(noted, step, getattr(measurer, step)))
    extract_unit(units(warcs, config)[0], folder=tmp_path, config=config)
    known, judged = ([name for done, name in told if done == step] for step in ("identify", "judge"))
    assert len(known) > 1 and set(judged) <= set(known)
    batch = min(len(known), stage.MEASURED_AT_ONCE)
    assert [step for step, _ in told[:batch]] == ["identify"] * batch


def test_a_page_that_kills_its_worker_is_singled_out(warcs: list[Path], config: RunConfig, tmp_path: Path) -> None:
    todo = units(warcs, config)[:1]
    good = extract_unit(todo[0], folder=tmp_path / "good", config=config)
    url = next(row["url"] for row in rows(good, tmp_path / "good") if row["outcome"] == "kept")
    with LocalEngine(1, tmp_path, 60) as engine:
        [(_, manifest)] = engine.map_units(Poisoned(tmp_path / "bad", config, url), todo)
    assert isinstance(manifest, Manifest)
    assert manifest.ledgers["records"].failed["worker_died"] == 1
    assert manifest.ledgers["records"].kept == good.ledgers["records"].kept - 1
    assert [r["url"] for r in rows(manifest, tmp_path / "bad") if r["reason"] == "worker_died"] == [url]
    assert not list((tmp_path / "bad").glob(".tmp-suspects*"))


def test_after_a_death_each_page_is_measured_while_it_is_the_one_that_is_noted(
    warcs: list[Path], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = replace(units(warcs, config)[0], crashes=1)
    measurer = stage.measurer(config.model_dump_json())
    real, noted = measurer.judge, []

    def watched(document: Document, everything: bool = False) -> None:
        [notes] = tmp_path.glob(".tmp-suspects*")
        noted.append((notes.read_text("utf-8").split()[-1], f"{document.warc_record_offset}.0"))
        real(document, everything)

    monkeypatch.setattr(measurer, "judge", watched)
    extract_unit(unit, folder=tmp_path, config=config)
    assert len(noted) > 1
    assert all(last == page for last, page in noted)
