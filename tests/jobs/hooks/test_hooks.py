"""What a run tells while it works: all of it, in order, to those who hear; and whom it cannot reach, in a line each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.jobs.events import read_events
from tests.faults.inline import runs_inline
from tests.faults.runs import ROOT, kill_all, published, tree
from tests.jobs.hooks.listener import PRIVATE, Listener, listening
from tests.small import arguments, write_warc


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    monkeypatch.delenv("http_proxy", raising=False)
    with listening() as found:
        yield found


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    return write_warc(tmp_path / "pages.warc.gz")


def run(warc: Path, output: Path, *hooks: str, code: int = 0, more: tuple[str, ...] = ()) -> None:
    with runs_inline():
        assert main(arguments([warc], output, *more, *([f"hooks=[{', '.join(hooks)}]"] if hooks else []))) == code


def told(output: Path) -> list[str]:
    return [event["line"] for event in read_events(output / "events.jsonl") if event["event"] == "told"]


def test_a_server_receives_the_events_of_a_run_in_their_order(listener: Listener, warc: Path, tmp_path: Path) -> None:
    run(warc, tmp_path / "out", f"{{url: '{listener.address}/hear', {PRIVATE}}}")
    events = read_events(tmp_path / "out" / "events.jsonl")
    assert listener.bodies("/hear") == events
    assert (events[0]["event"], events[-1]["event"]) == ("run_started", "run_done")
    assert events[0]["output"] == str(tmp_path / "out")
    assert all(headers["Content-Type"] == "application/json" for _, headers, _ in listener.received)


def test_only_events_that_are_asked_for_are_sent_with_the_key(
    listener: Listener, warc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_KEY", "a-key")
    hook = f"{{url: '{listener.address}/hear', {PRIVATE}, events: [run_done], key_variable: HOOK_KEY}}"
    run(warc, tmp_path / "out", hook)
    ((_, headers, body),) = listener.received
    assert body["event"] == "run_done"
    assert headers["Authorization"] == "Bearer a-key"
    assert "a-key" not in (tmp_path / "out" / "events.jsonl").read_text()


def test_a_command_reads_each_event_as_a_line(warc: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.jsonl"
    run(warc, tmp_path / "out", f"{{command: [sh, -c, 'cat >> {heard}']}}")
    assert heard.read_bytes() == (tmp_path / "out" / "events.jsonl").read_bytes()


def test_hooks_change_nothing_of_what_a_run_writes(listener: Listener, warc: Path, tmp_path: Path) -> None:
    run(warc, tmp_path / "without")
    run(warc, tmp_path / "with", f"{{url: '{listener.address}/hear', {PRIVATE}}}")
    assert tree(tmp_path / "with") == tree(tmp_path / "without")
    assert "hooks" not in (tmp_path / "with" / "config.yaml").read_text()
    run(warc, tmp_path / "without", f"{{url: '{listener.address}/again', {PRIVATE}}}")
    (started, *_) = listener.bodies("/again")
    assert started["changed"] == []


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        ("{command: [sh, -c, 'exit 3']}", "exit code 3"),
        ("{command: [sh, -c, 'kill -9 $$']}", "killed by SIGKILL"),
        ("{command: [sleep, '1000'], seconds: 0.2}", "timeout"),
        ("{url: 'ADDRESS/secret-path', PRIVATE}", "http_500"),
        ("{url: 'ADDRESS/secret-path'}", "private_address"),
        ("{openlineage: 'ADDRESS', PRIVATE}", "http_500"),
        ("{url: 'http://127.0.0.1:9/secret-path', PRIVATE}", "refused"),
    ],
)
def test_a_hook_that_fails_is_warned_of_once_and_counted_at_the_end(
    listener: Listener, warc: Path, tmp_path: Path, hook: str, why: str
) -> None:
    listener.status = 500
    run(warc, tmp_path / "out", hook.replace("ADDRESS", listener.address).replace("PRIVATE", PRIVATE))
    lines = [line for line in told(tmp_path / "out") if "hooks.0" in line]
    assert [line.startswith("warning: ") for line in lines] in ([True, False], [False])
    assert "were not delivered" in lines[-1]
    assert all(why in line for line in lines)
    assert not any("secret-path" in line or "\n" in line for line in lines)
    assert published(tmp_path / "out")


def test_a_redirect_is_not_followed(listener: Listener, warc: Path, tmp_path: Path) -> None:
    listener.status = 307
    run(warc, tmp_path / "out", f"{{url: '{listener.address}/hear', {PRIVATE}}}")
    assert listener.bodies("/elsewhere") == []
    assert "http_307" in told(tmp_path / "out")[-1]


def test_a_server_that_hangs_keeps_no_other_from_hearing_all(listener: Listener, warc: Path, tmp_path: Path) -> None:
    listener.hangs = True
    with listening() as other:
        hang = f"{{url: '{listener.address}/hear', {PRIVATE}, seconds: 0.5}}"
        run(warc, tmp_path / "out", hang, f"{{url: '{other.address}/hear', {PRIVATE}}}")
    events = read_events(tmp_path / "out" / "events.jsonl")
    assert other.bodies("/hear") == events[: len(other.received)]
    assert other.bodies("/hear")[-1]["event"] == "run_done"
    (line,) = [event["line"] for event in events[len(other.received) :]]
    assert line.startswith("hooks.0.url (127.0.0.1:")
    assert "timeout" in line or "not sent in time" in line


def test_a_run_that_is_stopped_says_why(listener: Listener, warc: Path, tmp_path: Path) -> None:
    hook = f"{{url: '{listener.address}/hear', {PRIVATE}}}"
    output = tmp_path / "out"
    with runs_inline():
        command = arguments([warc], output, f"hooks=[{hook}]")
        assert main([*command, "--stage", "shard"]) == 2
    last = listener.bodies("/hear")[-1]
    assert (last["event"], last["exit_code"]) == ("run_stopped", 2)
    assert "--stage" in last["reason"]
    assert listener.bodies("/hear") == read_events(output / "events.jsonl")


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        ("{command: [no-such-program-here]}", "hooks.0.command: no program no-such-program-here"),
        ("{url: 'http://name:password@a.example/'}", "hooks.0.url: is no http(s) address"),
        ("{url: 'http://a.example/', key_variable: NOT_SET_HERE}", "NOT_SET_HERE is not set"),
        ("{}", "hooks.0: names nothing to tell"),
    ],
)
def test_a_hook_that_could_tell_nobody_is_refused_before_anything_is_written(
    warc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], hook: str, why: str
) -> None:
    run(warc, tmp_path / "out", hook, code=2)
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
    assert "name:password" not in said
    assert not (tmp_path / "out").exists()


def test_a_refused_run_tells_nobody(listener: Listener, warc: Path, tmp_path: Path) -> None:
    run(warc, tmp_path / "out")
    hook = f"{{url: '{listener.address}/hear', {PRIVATE}}}"
    run(warc, tmp_path / "out", hook, code=2, more=("filters.document={word_count: {min: 20}}",))
    assert listener.received == []


@pytest.mark.slow
def test_a_killed_run_and_the_one_that_goes_on_explain_every_start(
    listener: Listener, warc: Path, tmp_path: Path
) -> None:
    output, lineage = tmp_path / "out", "/api/v1/lineage"
    hook = f"{{openlineage: '{listener.address}', {PRIVATE}}}"
    command = [sys.executable, "-m", "obelics_pipeline", *arguments([warc], output, f"hooks=[{hook}]")]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    while len(listener.received) < 2:  # the run and its first stage
        assert process.poll() is None
        time.sleep(0.01)
    kill_all(process)
    run(warc, output, hook)
    kinds: dict[str, list[str]] = {}
    for event in listener.bodies(lineage):
        kinds.setdefault(event["job"]["name"], []).append(event["eventType"])
    assert kinds["default"] == kinds["default.extract"] == ["START", "ABORT", "START", "COMPLETE"]
    assert all(
        found == ["START", "COMPLETE"] for name, found in kinds.items() if name.count(".") and "extract" not in name
    )
    by_run: dict[str, list[str]] = {}
    for event in listener.bodies(lineage):
        by_run.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert all(found in (["START", "ABORT"], ["START", "COMPLETE"]) for found in by_run.values())
    (why,) = {
        event["run"]["facets"]["errorMessage"]["message"]
        for event in listener.bodies(lineage)
        if event["eventType"] == "ABORT"
    }
    assert "killed" in why
