"""Numbers, times and reasons are said as a person reads them; times of a log add up."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.inspect.report import human
from obelics_pipeline.inspect.report.opened import open_run
from obelics_pipeline.inspect.report.reasons import words_for, words_of
from obelics_pipeline.inspect.report.times import BETWEEN, times_of
from obelics_pipeline.jobs.stages import STAGES, stage_of


def event(time: float, name: str, **values: object) -> dict[str, object]:
    return {"time": time, "event": name, **values}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.84, "0.8 s"),
        (59.4, "59 s"),
        (59.7, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7800, "2 h 10 min"),
        (273_600, "3 d 4 h"),
    ],
)
def test_seconds(value: float, said: str) -> None:
    assert human.seconds(value) == said


def test_sizes_shares_money_and_figures() -> None:
    assert [human.size(n) for n in (0, 999, 1500, 7_526_400, 2.5e15)] == ["0 B", "999 B", "1.5 kB", "7.53 MB", "2.5 PB"]
    shares = [human.share(*pair) for pair in ((0, 5), (5, 5), (1, 3), (1, 1000), (1, 10**6), (999_999, 10**6), (1, 0))]
    assert shares == ["0 %", "100 %", "33.3 %", "0.10 %", "< 0.01 %", "> 99.99 %", "–"]
    assert [human.money(v) for v in (0, 0.00001, 0.0012, 3.5, 1234)] == [
        "$0",
        "< $0.0001",
        "$0.0012",
        "$3.50",
        "$1,234.00",
    ]
    assert [human.figure(v) for v in (3.0, 1234.0, 0.123456, 1e9)] == ["3", "1,234", "0.1235", "1e+09"]
    assert [human.many(v) for v in (999, 45_231, 1_230_000, 4.56e9)] == [
        "999",
        "45,231",
        "1.23 million",
        "4.56 billion",
    ]
    assert [human.counted(n, "unit") for n in (1, 1200)] == ["1 unit", "1,200 units"]


def test_reasons_are_said_in_words() -> None:
    known = words_of(STAGES)
    assert words_for("http_404", known) == "the server answered 404"
    assert "noai" not in words_for("noai_header", known)
    assert words_for("noimageai_header", known).endswith("noimageai")
    assert words_for("extraction_error_ValueError", known)
    assert words_for("assemble_unit_failed", known).endswith("stage assemble")
    assert words_for("somebody_elses_filter", known) == ""
    assert known["word_count"] and known["duplicate_url"] and known["robots_txt"]


def test_every_step_belongs_to_a_stage() -> None:
    steps = {"candidates": "dedup", "groups-000": "dedup", "limits-verdicts": "dedup", "phash-limits": "dedup-images",
             "requests": "fetch", "firsts-url": "shard", "settled-again": "shard", "decide": "score", "dedup": "dedup",
             "site-sums": "site", "site": "site", "fetch": "fetch", "new": "new"}  # fmt: skip
    assert {step: stage_of(STAGES, step) for step in steps} == steps


def test_times_add_up_over_starts_and_a_kill_counts_to_its_last_event() -> None:
    log = [
        event(0, "run_started", workers=2),
        event(1, "stage_started", stage="extract"),
        event(5, "unit_done", stage="extract"),
        event(9, "unit_failed", stage="extract"),  # and was killed
        event(100, "run_started", workers=4),
        event(102, "stage_started", stage="extract"),
        event(103, "unit_done", stage="extract"),
        event(106, "stage_done", stage="extract"),
        event(106, "shuffle_started", step="links"),
        event(108, "shuffle_done", step="links"),
        event(110, "run_done"),
    ]
    times = times_of(log)
    stages = {stage.stage: stage for stage in times.stages}
    assert (times.starts, times.seconds, times.workers) == (2, 19, [2, 4])
    assert {name: stage.seconds for name, stage in stages.items()} == {"extract": 12, "dedup": 2, BETWEEN: 5}
    assert (stages["extract"].units, stages["extract"].failed) == (2, 1)
    assert stages["extract"].rate == pytest.approx(2 / 12)
    assert stages["extract"].worker_hours == pytest.approx((8 * 2 + 4 * 4) / 3600)
    assert times.worker_hours == pytest.approx((9 * 2 + 10 * 4) / 3600)


def test_times_of_a_run_are_those_of_its_log(run_of_demo: Path) -> None:
    log = [json.loads(line) for line in (run_of_demo / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    times = times_of(open_run(str(run_of_demo)).events)
    assert times.seconds == pytest.approx(log[-1]["time"] - log[0]["time"])
    assert sum(stage.seconds for stage in times.stages) == pytest.approx(times.seconds)
    assert sum(stage.units for stage in times.stages) == sum(line["event"] == "unit_done" for line in log)
    assert not {stage.stage for stage in times.stages} - {
        *("extract", "dedup", "site", "fetch", "dedup-images", "assemble", "shard", "validate", BETWEEN)
    }


def test_a_log_that_ends_within_a_line_is_read(run_of_demo: Path) -> None:
    assert times_of([]).starts == 0
