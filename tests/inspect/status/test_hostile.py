"""Whatever a log says, it is shown as text, runs nothing, and costs little memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.inspect.status.progress import FAILED_HELD, Progress
from obelics_pipeline.inspect.status.status import FAILED_SHOWN
from obelics_pipeline.jobs.events import Tail
from tests.inspect.report.test_report import check_harmless
from tests.inspect.status.made import asked, event, ledger, printed, started, write_log

EVIL = "\x1b[2J\x1b]0;x\x07</td></style><script>x()</script><img src=//e.example onerror=x()>\u202e[red]{{ 7*7 }}"
SECRET = "https://name:hunter2@e.example/x?X-Amz-Signature=abcdef"
WRONG: list[Any] = [None, True, -1, 1e308, "9", [], {}, [[]], {"a": {"a": 1}}, 2**80, "\ud800", EVIL]


def evil_log() -> list[dict[str, Any]]:
    counts = {"documents": ledger(3, **{EVIL: 2}), EVIL: ledger(1)}
    hosts = [{"host": EVIL, "requests": 3, "span_seconds": 5, "request_seconds": 2}]
    reason = f"{EVIL} {SECRET}\nthe second line"
    return [
        started(config=EVIL, stages=["extract", EVIL], process={"host": EVIL, "process": EVIL, "processes": EVIL}),
        event("stage_started", stage="extract", units=3, done=0, input={"bytes": 10}),
        event("unit_done", 1, stage="extract", unit=EVIL, ledgers=counts, hosts=hosts, input={"bytes": 4}),
        event("unit_failed", 2, stage="extract", unit=EVIL, reason=reason),
        event("stage_started", 3, stage=EVIL, units=3, done=0, input={EVIL: 10}),
        event("unit_failed", 4, stage=EVIL, unit=EVIL, reason=reason),
    ]


def test_nothing_of_a_log_acts_on_a_terminal_or_in_a_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = write_log(tmp_path / f"{EVIL[-12:]}run", evil_log())
    text = printed(capsys, folder)
    assert not {character for character in text if character < " " and character != "\n"} | {"\u202e"} & set(text)
    assert "⟨U+001B⟩" in text
    assert "hunter2" not in text
    assert "abcdef" not in text
    assert "second line" not in text
    assert main(["status", str(folder), "--html", str(tmp_path / "page.html")]) == 0
    capsys.readouterr()
    page = check_harmless((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "<script>x()</script>" in page.text
    assert "49" not in page.text.replace(EVIL, "")
    said = json.dumps(asked(capsys, folder), ensure_ascii=False)
    assert "hunter2" not in said
    assert "\u202e" not in said


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_values_of_another_kind_are_as_if_they_were_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, wrong: Any
) -> None:
    lines = []
    for line in evil_log():
        for name in line.keys() - {"time", "event"}:
            lines.append({**line, name: wrong})
        for name, value in line.items():
            if isinstance(value, dict):
                lines += [{**line, name: {**value, key: wrong}} for key in value]
    lines += [event(name, **dict.fromkeys(("stage", "step", "exit_code", "reason", "ledgers", "units"), wrong))
              for name in ("stage_done", "shuffle_started", "shuffle_done")]  # fmt: skip
    folder = write_log(tmp_path / "run", [started(), *lines])
    (folder / "stages.json").write_text(json.dumps([{"name": wrong}]))
    (folder / "config.yaml").write_text("a: [")
    assert main(["status", str(folder), "--html", str(tmp_path / "page.html")]) in (0, 1)
    check_harmless((tmp_path / "page.html").read_text(encoding="utf-8"))
    write_log(tmp_path / "run", [started(), event("run_done", exit_code=wrong)])
    assert main(["status", str(folder), "--json"]) in (0, 1)
    write_log(tmp_path / "run", [started(), event("run_stopped", exit_code=wrong, reason=wrong)])
    assert main(["status", str(folder)]) in (0, 1)


def test_a_huge_and_torn_log_costs_little_memory(tmp_path: Path) -> None:
    unit = {"ledgers": {"documents": ledger(3, word_count=2)}, "input": {"bytes": 10}}
    begun = [started(), event("stage_started", stage="extract", units=10**6, done=0, input={"bytes": 10**7})]
    folder = write_log(tmp_path / "run", begun)
    told = [event("unit_done", stage="extract", unit=f"{i:0200d}", **unit, **hosts_of(i)) for i in range(500)]
    told += [event("unit_failed", stage="extract", unit=str(i), reason=f"{i} " * 50) for i in range(500)]
    lines = map(json.dumps, told)
    block = "".join(f"{line}\n" for line in lines)
    with (folder / "events.jsonl").open("a") as log:
        for _ in range(4):
            log.write(block)
        log.write("x" * 100_000_000)
    size = (folder / "events.jsonl").stat().st_size
    progress = Progress()
    tracemalloc.start()
    progress.hear(Tail(folder / "events.jsonl").new())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 100_000_000
    assert peak < 30_000_000
    assert (progress.steps["extract"].done, progress.failed_count) == (2_000, 2_000)
    assert len(progress.failed) == FAILED_HELD > FAILED_SHOWN


def hosts_of(i: int) -> dict[str, Any]:
    return {"hosts": [{"host": f"h{i}-{j}.example", "requests": 1, "span_seconds": i, "request_seconds": 1}
                      for j in range(5)]}  # fmt: skip


def test_the_slowest_hosts_of_many_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    units = [event("unit_done", stage="fetch", unit=str(i), **hosts_of(i)) for i in range(1000)]
    begun = [started(), event("stage_started", stage="fetch", units=1000, done=0)]
    found = asked(capsys, write_log(tmp_path / "run", [*begun, *units]))
    assert [host["span_seconds"] for host in found["hosts"]] == [999.0] * 5 + [998.0] * 5
