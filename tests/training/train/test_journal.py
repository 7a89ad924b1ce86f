from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from obelics_pipeline.training.train.journal import Journal, read_journal


def test_a_line_is_there_for_others_before_the_next_is_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "metrics.jsonl") as journal:
        journal.write({"step": 1})
        assert (tmp_path / "metrics.jsonl").read_text() == '{"step": 1}\n'


def test_a_killed_writer_loses_no_line_that_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    code = (
        "import os, sys; from pathlib import Path; from obelics_pipeline.training.train.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "[journal.write({'step': i}) for i in range(100)]\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert [line["step"] for line in read_journal(path)] == list(range(100))


@pytest.mark.parametrize("half", [b'{"step": 2, "lo', b"{", b'{"step": 2}'])
def test_half_a_line_is_left_out_and_then_written_over(tmp_path: Path, half: bytes) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1}\n' + half)
    assert [line["step"] for line in read_journal(path)] == [1]
    with Journal(path) as journal:
        journal.write({"step": 2})
    assert path.read_text() == '{"step": 1}\n{"step": 2}\n'


def test_what_json_does_not_have_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "m.jsonl") as journal, pytest.raises(ValueError, match="JSON"):
        journal.write({"loss": float("nan")})
    assert list(read_journal(tmp_path / "m.jsonl")) == []


def test_a_long_journal_is_mended_without_reading_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = "".join(json.dumps({"step": i, "text": "x" * 1000}) + "\n" for i in range(3000))
    path.write_text(lines + '{"step": 30')
    Journal(path).__exit__(None, None, None)
    assert path.read_text() == lines
