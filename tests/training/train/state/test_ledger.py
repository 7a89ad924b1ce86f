import json
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import LearningRate
from obelics_pipeline.training.train.state.ledger import Ledger, active, holdings, read_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0, why="a new run")
    ledger.append("lr", attempt=1, step=300, why="it spikes", factor=0.75, at=301, evidence={"loss": float("nan")})
    return ledger


def test_what_was_appended_is_read_back_whole_and_numbered_from_one(ledger: Ledger) -> None:
    read = read_ledger(ledger.path.parent)
    assert read.entries == ledger.entries
    assert [entry.number for entry in read.entries] == [1, 2]
    change = read.entries[1]
    assert isinstance(change, LearningRate)
    assert (change.factor, change.at, change.evidence) == (0.75, 301, {"loss": "NaN"})


def test_an_entry_is_on_the_disk_when_append_returns(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", lambda _: synced.append(ledger.path.stat().st_size))
    ledger.append("wait", attempt=1, step=301)
    assert synced == [ledger.path.stat().st_size]


def test_two_who_append_take_turns_with_the_numbers(ledger: Ledger) -> None:
    other = Ledger(ledger.path)
    other.append("wait", attempt=1, step=301)
    assert ledger.append("exit", attempt=1, step=302, reason="done").number == 4
    assert [entry.kind for entry in ledger.entries] == ["start", "lr", "wait", "exit"]
    assert [entry.kind for entry in other.refresh()] == ["exit"]


def test_a_half_written_last_line_is_skipped_said_and_cut_by_the_next_append(ledger: Ledger) -> None:
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + b'{"number":3,"att')
    read = Ledger(ledger.path)
    assert (len(read.entries), read.half) == (2, '{"number":3,"att')
    read.append("wait", attempt=1, step=301)
    assert read.half is None
    assert ledger.path.read_bytes().startswith(whole + b'{"number":3,"attempt":1')
    assert len(Ledger(ledger.path).entries) == 3


def test_a_damaged_line_in_the_middle_is_refused_by_its_number(ledger: Ledger) -> None:
    first, second, _ = ledger.path.read_bytes().split(b"\n")
    ledger.path.write_bytes(first[:20] + b"\n" + second + b"\n")
    with pytest.raises(UserError, match="line 1 is damaged"):
        Ledger(ledger.path)


def test_a_line_that_is_gone_is_noticed(ledger: Ledger) -> None:
    ledger.path.write_bytes(ledger.path.read_bytes().split(b"\n", 1)[1])
    with pytest.raises(UserError, match="line 1 has the number 2"):
        Ledger(ledger.path)


def test_a_ledger_that_shrinks_under_its_reader_is_refused(ledger: Ledger) -> None:
    ledger.path.write_bytes(ledger.path.read_bytes().split(b"\n", 1)[0] + b"\n")
    with pytest.raises(UserError, match="shorter than it was"):
        ledger.append("wait", attempt=1, step=301)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("lr", {"factor": 0.5}, "at: Field required"),
        ("lr", {"factor": 0.5, "at": 301, "clip": 1.0}, "clip: Extra inputs"),
        ("lr", {"factor": -1, "at": 301}, "factor"),
        ("skip_rows", {"start": 10, "stop": 10}, "are none"),
        ("resume", {"from_step": 250}, "no parent has it"),
        ("rollback", {"parent": 1, "from_step": 250, "to_step": 200, "cursor": 0}, "they are one"),
        ("praise", {}, "no entry of kind praise"),
    ],
)
def test_an_entry_holds_exactly_what_its_kind_has(ledger: Ledger, kind: str, fields: dict, said: str) -> None:
    before = ledger.path.read_bytes()
    with pytest.raises(UserError, match=said):
        ledger.append(kind, attempt=2 if kind == "rollback" else 1, step=300, **fields)
    assert ledger.path.read_bytes() == before


@pytest.mark.parametrize(("of", "said"), [(1, "is of kind start"), (9, "does not exist")])
def test_only_changes_can_be_undone(ledger: Ledger, of: int, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ledger.append("undo", attempt=1, step=400, of=of)


def test_an_undone_change_held_until_then_and_is_active_no_more(ledger: Ledger) -> None:
    ledger.append("undo", attempt=1, step=400, of=2)
    assert [holding.holds(step) for holding in holdings(ledger.entries) for step in (300, 301, 400, 401)] == [
        False, True, True, False,
    ]  # fmt: skip
    assert [entry.number for entry in active(ledger.entries, 400)] == [2]
    assert active(ledger.entries, 401) == ()
    with pytest.raises(UserError, match="undone already"):
        ledger.append("undo", attempt=1, step=401, of=2)


def test_what_was_undone_does_not_come_back_with_a_rollback(ledger: Ledger) -> None:
    ledger.append("undo", attempt=1, step=400, of=2)
    ledger.append("rollback", attempt=2, step=410, parent=1, from_step=320, to_step=320, cursor=5120, rows=[6400, 6416])
    (lr, rollback) = holdings(ledger.entries)
    assert (lr.at, lr.until) == (301, 321)
    assert (rollback.at, rollback.until) == (321, None)


def test_every_line_is_json_with_the_common_keys_first(ledger: Ledger) -> None:
    for line in ledger.path.read_text().splitlines():
        assert list(json.loads(line))[:6] == ["number", "attempt", "step", "kind", "why", "evidence"]
