"""The inputs of docs/scale.md: what is measured is scaled to crawls, and to as many crawls as are asked for."""

import sys
from pathlib import Path

import pytest

from benchmarks import scale_inputs


@pytest.mark.slow
def test_tables_for_each_number_of_crawls(
    warcs: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = ["--crawls", "1", "3", "--unit-bytes", str(10**9), "--driver-units", "8"]
    monkeypatch.setattr(sys, "argv", ["scale_inputs", *map(str, warcs), *sizes])
    scale_inputs.main()
    printed = capsys.readouterr().out
    assert "failed" not in printed
    assert printed.count("units of 1,000 MB") == 2
    units = [line for line in printed.splitlines() if line.startswith("| units of extract")]
    assert units == ["| units of extract | 80k |", "| units of extract | 240k |"]
    rows = [line for line in printed.splitlines() if line.startswith("| all |")]
    assert len(rows) == 2


def test_memory_of_an_object_is_what_it_takes() -> None:
    assert 100_000 < scale_inputs.held(lambda i: bytes(100_000) + bytes([i % 256])) < 101_000
