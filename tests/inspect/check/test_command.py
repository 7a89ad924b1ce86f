"""The command: one line for each thing, all that is missing at once, and the exit code that follows."""

import json
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main
from tests.inspect.check.test_names import answers


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = main(["check", *arguments])
    return code, capsys.readouterr().out.splitlines()


def test_everything_that_is_missing_is_told_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, lines = check(
        capsys,
        *("default", "--input", "no.warc.gz", "nor.warc.gz", "--output", "/proc/obelics/out"),
        *("--set", "language.model=/no/lid.bin", "--set", "filters.document.nothing={min: 1}"),
        *("--json", str(tmp_path / "found.json")),
    )
    missing = [line for line in lines if line.startswith("missing")]
    assert code == 2
    assert len(missing) == 5
    for what in ("no.warc.gz", "nor.warc.gz", "/proc/obelics", "/no/lid.bin", "nothing"):
        assert any(what in line for line in missing), what
    assert "5 missing" in lines[-1]
    found = json.loads((tmp_path / "found.json").read_text())
    assert [f["about"] for f in found["findings"] if f["state"] == "missing"] == [
        *("filters", "language model", "output", "input", "input")
    ]


def test_with_a_broken_config_the_rest_is_still_looked_at(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, lines = check(
        capsys, *("default", "--input", "no.warc.gz", "--output", str(tmp_path / "o"), "--set", "dedup.buckets=0")
    )
    assert code == 2
    assert [line.split()[1] for line in lines if line.startswith("missing")] == ["config:", "input:"]


def test_a_wrong_price_is_a_wrong_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["check", "default", "--input", "x", "--output", str(tmp_path), "--price", "gold=1"]) == 2
    assert "vcpu_hour" in capsys.readouterr().err


def test_costs_that_are_none_are_a_wrong_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["check", "default", "--input", "x", "--output", str(tmp_path), "--driver-costs", str(tmp_path / "none")]
    assert main(command) == 2
    assert "none: cannot be read" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_can_start_is_estimated(
    capsys: pytest.CaptureFixture[str], warcs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def estimated(units: str) -> dict[str, Any]:
        code, lines = check(
            capsys,
            *("default", "--input", *map(str, warcs), "--output", str(tmp_path / "out"), "--sample", units),
            *("--set", "reading.unit_bytes=30000", "--set", "fetch.enabled=false"),
            *("--json", str(tmp_path / "found.json")),
        )
        assert code == 0, lines
        assert lines[-1] == "a run can start"
        return dict(json.loads((tmp_path / "found.json").read_text())["estimate"])

    found, whole = estimated("2"), estimated("100")
    assert not found["everything_sampled"] and whole["everything_sampled"]
    assert [stage["stage"] for stage in found["stages"]] == [
        "extract",
        "dedup",
        "site",
        "assemble",
        "shard",
        "validate",
    ]
    assert found["driver"]["source"].startswith("python -m benchmarks.scale, ")
    documents, kept = found["counts"]["documents"], whole["counts"]["documents"]["point"]
    assert documents["low"] <= documents["point"] <= documents["high"]
    assert kept / 2 <= documents["point"] <= kept * 2  # two units tell about how many there are
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_costs_of_the_driver_take_the_place_of_what_the_sample_says(
    capsys: pytest.CaptureFixture[str], warcs: list[Path], tmp_path: Path
) -> None:
    cost = {"seconds": {"once": 7200, "thousand_units": 0, "million_rows": 0}}
    told = {"source": "by hand", "date": "today", "machine": "here"}
    (tmp_path / "costs.json").write_text(json.dumps({"driver": {"extract: plan": cost}} | told))
    code, lines = check(
        capsys,
        *("default", "--input", *map(str, warcs), "--output", str(tmp_path / "out"), "--sample", "2"),
        *("--set", "reading.unit_bytes=30000", "--set", "fetch.enabled=false"),
        *("--driver-costs", str(tmp_path / "costs.json"), "--json", str(tmp_path / "found.json")),
    )
    assert code == 0, lines
    assert any("driver: 2 h of work that no worker shares (by hand, today, here)" in line for line in lines)
    found = json.loads((tmp_path / "found.json").read_text())["estimate"]
    assert found["driver"]["source"] == "by hand, today, here"
    assert found["driver"]["seconds"]["point"] == 7200
    assert found["stages"][0]["serial_hours"]["point"] >= 2


@pytest.mark.slow
def test_fetched_images_take_the_place_of_assumptions(
    capsys: pytest.CaptureFixture[str], warcs: list[Path], proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers(monkeypatch, {})
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    code, lines = check(
        capsys,
        *("default", "--input", *map(str, warcs), "--output", str(tmp_path / "out"), "--sample", "2"),
        *("--set", "fetch.retries=0", "--set", "fetch.timeout_seconds=2", "--fetch-sample", "12"),
        *("--json", str(tmp_path / "found.json")),
    )
    assert code == 0, lines
    (line,) = [line for line in lines if "images asked for" in line]
    assert "12 images asked for" in line
    assumed = json.loads((tmp_path / "found.json").read_text())["assumptions"]
    assert 0 < assumed["image_success"] <= 1
    assert assumed["image_bytes"] != 150_000
    assert asked == []  # the proxy looks names up
