"""`obelics status` says where a real run is: finished, failed, at work elsewhere, killed; it changes nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.jobs import events as log
from obelics_pipeline.jobs import main_job
from tests.core.storage.conftest import new_bucket
from tests.faults.inline import runs_inline
from tests.faults.runs import ROOT, kill_all
from tests.inspect.report.test_report import check_harmless
from tests.inspect.status.made import asked, printed
from tests.small import arguments, write_warc

COMMAND = [sys.executable, "-m", "obelics_pipeline"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
Capture = pytest.CaptureFixture[str]


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


def test_a_finished_run(run_of_demo: Path, capsys: Capture, tmp_path: Path) -> None:
    before = state_of(run_of_demo)
    found = asked(capsys, run_of_demo)
    assert (found["state"], found["exit_code"], found["failed_units"]) == ("finished", 0, 0)
    assert {row["state"] for row in found["stages"]} == {"done"}
    assert [row["stage"] for row in found["stages"]][::6] == ["extract", "shard"]
    counts = {count["noun"]: count for count in found["counts"]}
    documents = read_manifest(run_of_demo).ledgers["documents"]
    assert counts["documents"]["left"] == documents.kept
    assert counts["documents"]["dropped"] == documents.dropped.total()
    sums: dict[str, int] = {}
    for reason in counts["documents"]["reasons"]:
        sums[reason["reason"]] = sums.get(reason["reason"], 0) + reason["count"]
    assert sums == documents.dropped
    sizes = [reason["count"] for reason in counts["documents"]["reasons"]]
    assert sizes == sorted(sizes, reverse=True)
    assert any(host["host"].endswith(".example") and host["requests"] for host in found["hosts"])
    cost = found["cost"]
    assert cost["units_untold"] == 0
    assert cost["dollars"] == pytest.approx(cost["worker_hours"] * cost["vcpu_hour"])
    assert cost["cpu_hours"] > 0
    assert cost["site_requests"] > 0
    page = tmp_path / "new/status.html"
    assert main(["status", str(run_of_demo), "--html", str(page), "--price", "vcpu_hour=3"]) == 0
    assert "at $3 an hour" in " ".join(capsys.readouterr().out.split())
    shown = check_harmless(page.read_text(encoding="utf-8"))
    for text in ("finished: every shard was read back", "Slowest hosts", "Cost so far", "farm_score"):
        assert text in " ".join(shown.text.split())
    assert state_of(run_of_demo) == before


def test_it_fits_a_terminal_of_80_columns(run_of_demo: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, printed(capsys, run_of_demo).splitlines())) <= 80


def test_a_run_with_a_failed_unit_says_which_and_why(capsys: Capture, tmp_path: Path) -> None:
    warc = write_warc(tmp_path / "pages.warc")
    warc.write_bytes(warc.read_bytes()[:-200])
    with runs_inline():
        assert main(arguments([warc], tmp_path / "out")) == 1
    capsys.readouterr()
    found = asked(capsys, tmp_path / "out", code=1)
    assert (found["state"], found["failed_units"]) == ("failed", 1)
    (unit,) = found["failed"]
    assert (unit["stage"], "the file ends within a record" in unit["reason"]) == ("extract", True)
    assert "1 failed" not in (text := printed(capsys, tmp_path / "out", code=1))
    assert "failed units (1)" in text
    assert "the file ends within a record" in text.replace("\n", "")


def test_a_run_that_was_refused_on_its_way_has_failed_and_says_why(capsys: Capture, tmp_path: Path) -> None:
    with runs_inline():
        assert main([*arguments([write_warc(tmp_path / "in.warc")], tmp_path / "out"), "--stage", "shard"]) == 2
    capsys.readouterr()
    found = asked(capsys, tmp_path / "out", code=1)
    assert (found["state"], "--stage" in found["why"]) == ("failed", True)


def test_a_run_up_to_a_stage_is_finished_without_shards(capsys: Capture, tmp_path: Path) -> None:
    with runs_inline():
        assert main([*arguments([write_warc(tmp_path / "in.warc")], tmp_path / "out"), "--stage", "extract"]) == 0
    capsys.readouterr()
    found = asked(capsys, tmp_path / "out")
    assert (found["state"], "no shards yet" in found["why"]) == ("finished", True)
    assert [row["stage"] for row in found["stages"]] == ["extract"]


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run in processes of its own that stand still, once its first stage has begun."""
    command = [*COMMAND, *arguments([write_warc(tmp_path / "in.warc")], tmp_path / "out")]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, start_new_session=True)
    while not any(event["event"] == "stage_started" for event in log.read_events(tmp_path / "out" / "events.jsonl")):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGSTOP)
    yield process
    if process.poll() is None:
        kill_all(process)  # type: ignore[arg-type]


def test_a_run_in_another_process_is_at_work_till_it_is_killed_and_ctrl_c_ends_a_look_at_it_quietly(
    frozen: subprocess.Popen[bytes], capsys: Capture, tmp_path: Path
) -> None:
    found = asked(capsys, tmp_path / "out")
    assert (found["state"], "is there" in found["why"]) == ("at work", True)
    assert [row["state"] for row in found["stages"]] == ["at work", "to do", "to do", "to do"]
    assert found["ahead"]["noun"] == "bytes"
    assert found["ahead"]["whole"] == (tmp_path / "in.warc").stat().st_size
    assert found["not_reckoned"] == ["site", "assemble", "shard"]
    follow = [*COMMAND, "status", str(tmp_path / "out"), "--follow", "--every", "1", "--json"]
    with subprocess.Popen(follow, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as looking:
        assert looking.stdout is not None
        for _ in range(2):
            assert json.loads(looking.stdout.readline())["state"] == "at work"
        looking.send_signal(signal.SIGINT)
        _, said = looking.communicate(timeout=60)
    assert (looking.returncode, said) == (0, b"")
    kill_all(frozen)  # type: ignore[arg-type]
    killed = asked(capsys, tmp_path / "out")
    assert (killed["state"], "was killed; the same command goes on" in killed["why"]) == ("stopped", True)
    assert killed["ahead"] is None
    with runs_inline():
        assert main(arguments([tmp_path / "in.warc"], tmp_path / "out")) == 0
    capsys.readouterr()
    assert main(["status", str(tmp_path / "out"), "--follow", "--json"]) == 0  # it ends by itself
    finished = json.loads(capsys.readouterr().out)
    assert (finished["state"], finished["starts"]) == ("finished", 2)


def test_a_run_in_a_bucket_is_seen_from_another_process_while_it_works(
    s3: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "PUT_SECONDS", 0.02)
    output, publish = new_bucket("watched") / "run", main_job.publish
    seen: list[dict[str, Any]] = []

    def look_and_publish(*given: Any) -> None:
        until, tail = "shard", log.Tail(output / "events.jsonl")
        while not any(event["event"] == "stage_done" and event["stage"] == until for event in tail.new()):
            time.sleep(0.01)
        told = subprocess.run([*COMMAND, "status", str(output), "--json"], stdout=subprocess.PIPE, check=True)
        seen.append(json.loads(told.stdout))
        publish(*given)

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(main_job, "publish", look_and_publish)
    with runs_inline():
        assert main(arguments([write_warc(tmp_path / "in.warc")], output)) == 0
    (found,) = seen
    assert (found["state"], "renewed its lease" in found["why"]) == ("at work", True)
    assert [row["done"] for row in found["stages"]] == [1, 1, 1, 1]
    assert {count["noun"]: count["left"] for count in found["counts"]} == {"records": 6, "documents": 6, "images": 0}
    capsys.readouterr()
    assert asked(capsys, output)["state"] == "finished"


def test_what_is_no_folder_of_a_run_is_refused_in_a_line(s3: str, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    bucket = new_bucket("nothing-here")
    for given in (
        [str(tmp_path / "empty")],
        [str(tmp_path / "none")],
        [str(tmp_path / "file")],
        [str(bucket / "run")],
        ["s3://no-such-bucket-here/run"],
        ["ftq://x/y"],
        [str(tmp_path / "empty"), "--price", "beer=2"],
    ):
        assert main(["status", *given]) == 2
        out, said = capsys.readouterr()
        assert (out, said.count("\n")) == ("", 1), said


def test_a_page_that_cannot_be_written_is_told_in_a_line(run_of_demo: Path, capsys: Capture, tmp_path: Path) -> None:
    assert main(["status", str(run_of_demo), "--html", str(tmp_path)]) == 2
    assert "give another file" in capsys.readouterr().err
