"""A run tells its story: what happened, what was done, what it cost, with curves that load nothing."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.training.diagnosis.incidents import incidents_of, near_hardware
from tests.training.diagnosis.made import Made

HOSTILE = "a `<script>x()</script>` ![x](http://evil.example/a.png) \u202e\x1b[2J | cell"


def made(folder: Path) -> Made:
    run = Made(folder / "run", 300).begin(folder / "plan").train(1, 40).train(41, 48, dict.fromkeys(range(44, 49), 2.0))
    run.note("alarm", 44, HOSTILE, signal="loss", value=5.0, z=12.0, since=43)
    run.note("hardware", 45, "Xid 63 on gpu 3")
    run.again("rollback", 40, "spike did not return", rows=[336, 384]).train(41, 200)
    run.note("lr", 150, "a person wanted it", factor=0.5, at=151)
    run.written()
    (run.folder / "config.yaml").write_text("guard:\n  most_lost: 0.15\n  note: '<script>'\n")
    return run


def test_the_chronicle_has_what_happened_and_what_it_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path).folder
    assert main(["chronicle", str(folder)]) == 0
    target = folder / "chronicle/chronicle.md"
    assert capsys.readouterr().out == f"wrote {target}\n"
    text = target.read_text(encoding="utf-8")
    assert "* steps: 200, the last with loss" in text
    assert "* given up: 8 of 208 steps trained, 3.8 % of the compute (budget: 15 %)" in text
    assert "* incidents: 2, 1 of them with a rollback" in text
    assert "| 2 | rollback | 40 | 1 | 200 | 0 | 64 of 1,280 |" in text  # rows that attempt 1 had seen
    assert "## 1. Step 44: alarm, hardware, rollback" in text
    assert "## 2. Step 150: lr" in text
    assert "1 of 1 incidents are within 50 steps of an event of the hardware" in text
    assert f"`obelics explain-spike {folder} 44 --attempt 1`" in text
    for name in ("curves", "activations", "loss-by-tokens", "loss-by-images", "incident-001", "incident-002"):
        assert f"({name}.svg)" in text
        root = ElementTree.fromstring((folder / f"chronicle/{name}.svg").read_text(encoding="utf-8"))
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
            "svg",
            "rect",
            "text",
            "line",
            "path",
            "title",
        }


def test_text_of_a_ledger_is_no_markup(tmp_path: Path) -> None:
    assert main(["chronicle", str(made(tmp_path).folder)]) == 0
    for path in (tmp_path / "run/chronicle").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "\x1b" not in text
        assert "\u202e" not in text
    text = (tmp_path / "run/chronicle/chronicle.md").read_text(encoding="utf-8")
    assert "\\<script\\>" in text
    assert "\\!\\[x\\]" in text


def test_what_was_given_up_is_drawn_beside_the_run(tmp_path: Path) -> None:
    assert main(["chronicle", str(made(tmp_path).folder)]) == 0
    curves = (tmp_path / "run/chronicle/curves.svg").read_text(encoding="utf-8")
    assert "attempt 1, given up" in curves
    assert "stroke-dasharray" in curves


def test_the_same_run_gives_the_same_files(tmp_path: Path) -> None:
    folder = made(tmp_path).folder
    for name in ("a", "b"):
        assert main(["chronicle", str(folder), "--output", str(tmp_path / name)]) == 0
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names)


def test_two_runs_are_drawn_over_each_other_and_where_they_part_is_said(tmp_path: Path) -> None:
    here = Made(tmp_path / "here", 300).begin(tmp_path / "plan").train(1, 30).written()
    there = Made(tmp_path / "there", 300).begin(tmp_path / "plan").train(1, 20).train(21, 30, {25: 1.0}).written()
    assert main(["chronicle", str(here), "--against", str(there)]) == 0
    text = (here / "chronicle/compare.md").read_text(encoding="utf-8")
    assert "of 30 steps that both have, their losses part at step 25" in text
    assert "activations 0.fc2" in (here / "chronicle/compare.svg").read_text(encoding="utf-8")
    assert main(["chronicle", str(here), "--against", str(here)]) == 0
    assert "equal to the last bit" in (here / "chronicle/compare.md").read_text(encoding="utf-8")


def test_a_run_that_was_calm_has_no_incident(tmp_path: Path) -> None:
    folder = Made(tmp_path / "run", 300).begin(tmp_path / "plan").train(1, 5).written()
    assert main(["chronicle", str(folder)]) == 0
    assert "No incident" in (folder / "chronicle/chronicle.md").read_text(encoding="utf-8")


def test_signs_that_are_far_apart_are_incidents_of_their_own() -> None:
    entries = [{"kind": "alarm", "step": s, "attempt": 1} for s in (10, 40, 200)]
    assert [(i.first, i.last) for i in incidents_of(entries)] == [(10, 40), (200, 200)]


def test_incidents_near_hardware_are_weighed_against_chance() -> None:
    alarms = [{"kind": "alarm", "step": s, "attempt": 1} for s in (1000, 5000, 9000)]
    near = [{"kind": "hardware", "step": s, "attempt": 1} for s in (990, 4990, 9010)]
    far = [{"kind": "hardware", "step": s, "attempt": 1} for s in (3000, 7000, 7400)]
    assert near_hardware(incidents_of(alarms), [*alarms, *near], 10_000) == (3, 3, pytest.approx(0.0101, abs=0.01))
    found = near_hardware(incidents_of(alarms), [*alarms, *far], 10_000)
    assert found is not None
    assert found[2] == 1.0
    assert near_hardware(incidents_of(alarms), alarms, 10_000) is None
