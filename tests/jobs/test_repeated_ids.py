"""Rows of published corpora may bring one id twice, in two files: the first of those that pass everything is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.core.storage import read_table
from tests.faults.inline import runs_inline
from tests.faults.runs import published
from tests.small import SENTENCE, SETS, THINGS
from tests.stages.rows import made

ALONE = (*SETS, "reading.unit_rows=2")
COMPARED = ("dedup.enabled=true", "dedup.page_url.enabled=false", "dedup.text.enabled=false", "dedup.buckets=2")


def rows_of(path: Path, things: Sequence[str], first: int) -> Path:
    """A file of a row about each thing; ids count up from `first`."""
    texts = [SENTENCE.format(thing) for thing in things]
    rows = [
        made.published(texts=[text, None, "The end."], doc_id=f"{first + number:032x}")
        for number, text in enumerate(texts)
    ]
    return made.parquet(path, rows)


def run_over(inputs: Sequence[Path], output: Path, *sets: str) -> dict[str, Ledger]:
    """A run over files of rows; its ledgers, each of which balances."""
    overrides = [part for value in (*ALONE, *sets) for part in ("--set", value)]
    with runs_inline():
        assert main(["run", "published", "--input", *map(str, inputs), "--output", str(output), *overrides]) == 0
    ledgers = read_manifest(output).ledgers
    assert all(ledger.balanced() for ledger in ledgers.values())
    return dict(ledgers)


def texts_by_id(run: Path) -> dict[int, str]:
    return {int(found.row["doc_id"], 16): found.value["texts"][0] for found in all_documents(run)}


@pytest.mark.parametrize("sets", [(), COMPARED])
def test_of_rows_with_one_id_the_first_in_the_input_is_kept_and_the_others_are_counted(
    sets: tuple[str, ...], tmp_path: Path
) -> None:
    inputs = [rows_of(tmp_path / "b.parquet", THINGS[3:], 3), rows_of(tmp_path / "a.parquet", THINGS[:4], 1)]
    ledgers = run_over(inputs, tmp_path / "run", *sets)
    assert (ledgers["records"].kept, ledgers["documents"].kept) == (7, 5)
    assert ledgers["documents"].dropped == {"repeated_id": 2}
    found = texts_by_id(tmp_path / "run")
    expected = {1 + i: thing for i, thing in enumerate(THINGS[:4])} | {5: THINGS[5]}  # 3 and 4 of a, not of b
    assert found == {number: SENTENCE.format(thing) for number, thing in expected.items()}
    assert main(["validate", str(tmp_path / "run")]) == 0
    if sets:  # the list for people names documents by their ids, and these are kept
        assert read_table(tmp_path / "run/duplicates.parquet").num_rows == 0


def test_what_is_forgotten_of_a_repeated_id_is_gone_and_still_counted(tmp_path: Path) -> None:
    inputs = [rows_of(tmp_path / f"{name}.parquet", THINGS[:3], 1) for name in "ab"]
    run_over(inputs, tmp_path / "run")
    (tmp_path / "hashes").write_text(f"{2:032x}\n")
    assert main(["forget", str(tmp_path / "run"), "--hashes", str(tmp_path / "hashes")]) == 0
    assert sorted(texts_by_id(tmp_path / "run")) == [1, 3]
    ledger = read_manifest(tmp_path / "run").ledgers["documents"]
    assert (ledger.balanced(), ledger.kept, ledger.dropped["repeated_id"]) == (True, 2, 2)
    assert run_over(inputs, tmp_path / "run")["documents"].kept == 2


def test_a_run_without_repeated_ids_has_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [rows_of(tmp_path / "a.parquet", THINGS[:3], 1), rows_of(tmp_path / "b.parquet", THINGS[3:], 4)]
    run_over(inputs, tmp_path / "run")
    monkeypatch.setattr("obelics_pipeline.stages.dedup.deduplication.gives_ids", lambda _layout: False)
    run_over(inputs, tmp_path / "before")
    assert published(tmp_path / "run") == published(tmp_path / "before")
