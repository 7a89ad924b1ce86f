"""The bytes that the code makes of the demo's pages: `python -m tests.jobs.golden_run` records them.

Unit ids change with every source that a stage reaches. Whether its bytes changed as well is seen here.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from obelics_pipeline.demo.pack import pack
from obelics_pipeline.jobs.main_job import run
from tests.faults.inline import Inline

RECORD = Path(__file__).with_name("golden_run.json")
STAGES = ("extract", "dedup", "site", "assembled")  # folders of documents
OVERRIDES = ["fetch.enabled=false", "images.min_per_document=0", "reading.unit_bytes=32768", "dedup.text.enabled=true"]


def golden(folder: Path) -> dict[str, str]:
    """A digest of the documents of each stage, and of each tar, of a run on the demo's pages without their images."""
    inputs = [str(path) for path in pack(folder / "input")]
    output = folder / "out"
    if run("default", inputs, str(output), 1, OVERRIDES, open_engine=Inline) != 0:
        raise RuntimeError(f"{output}: the run did not end well")
    found = {stage: _digest_of_rows(output / stage) for stage in STAGES if (output / stage).is_dir()}
    return found | {tar.name: hashlib.sha256(tar.read_bytes()).hexdigest() for tar in (output / "shards").glob("*.tar")}


def _digest_of_rows(stage: Path) -> str:
    rows = [row for path in sorted(stage.glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    lines = sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        RECORD.write_text(json.dumps(golden(Path(folder)), indent=1) + "\n")
    print(f"recorded {RECORD}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
