"""What the demo's pages become is what was recorded: a change of the bytes is seen, and recorded on purpose."""

import json
from pathlib import Path

from tests.jobs.golden_run import RECORD, golden


def test_the_pages_of_the_demo_become_the_recorded_bytes(tmp_path: Path) -> None:
    told = "the bytes changed; if that is meant, record them: python -m tests.jobs.golden_run"
    assert golden(tmp_path) == json.loads(RECORD.read_text()), told
