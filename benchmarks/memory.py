"""Peak memory of a worker at the extract stage: on the files given, and on the same input ten times over.

    python benchmarks/memory.py [--config NAME] FILE.warc.gz …

Each measurement is a fresh process that does all units one after the other, as a worker does, and reports the highest
resident size that the kernel saw (VmHWM of /proc/self/status; Linux only).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from obelics_pipeline.config import load_config
from obelics_pipeline.extract.stage import extract_unit, extract_units
from obelics_pipeline.read.inputs import resolve_inputs
from obelics_pipeline.read.ranges import plan_ranges

TIMES = 10


def peak_bytes() -> int:
    """The highest resident size of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("no VmHWM in /proc/self/status: this needs Linux")


def extract(name: str, files: list[str]) -> None:
    """Extract everything in this process, then print its peak and the number of records."""
    config = load_config(name)
    records = 0
    with tempfile.TemporaryDirectory() as folder:
        for unit in extract_units(plan_ranges(resolve_inputs(files, config.reading), config.reading), config):
            records += extract_unit(unit, folder=Path(folder), config=config).ledgers["records"].entered
    print(peak_bytes(), records)


def measure(name: str, files: list[str]) -> tuple[int, int]:
    """Peak bytes and records of a fresh process that extracts these files."""
    command = [sys.executable, __file__, "--config", name, "--here", *files]
    peak, records = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(peak), int(records)


def main() -> None:
    """Print the peaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.warc.gz")
    parser.add_argument("--config", default="default")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        extract(arguments.config, arguments.files)
        return
    with tempfile.TemporaryDirectory() as folder:
        tenfold = Path(folder) / "tenfold.warc.gz"
        with tenfold.open("wb") as out:
            for path in arguments.files * TIMES:
                with open(path, "rb") as source:
                    shutil.copyfileobj(source, out)
        for label, files in (("as given", arguments.files), (f"{TIMES} times over", [str(tenfold)])):
            peak, records = measure(arguments.config, files)
            print(f"{label:14} {records:9,} records   peak {peak / 2**20:6.0f} MiB")


if __name__ == "__main__":
    main()
