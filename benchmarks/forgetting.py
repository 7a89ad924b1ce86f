"""What `obelics forget` takes on a large run: seconds, CPU of all its processes, memory, what was read and written.

    python benchmarks/forgetting.py [--documents N] [--per-shard N] [--urls N] [--domains N] [--folder DIR]
        [--workers N …] [--against CHECKOUT]

Documents have 12 paragraphs and 3 images each, of made words, a unit and a shard for every thousand of them; they go
through every stage that needs no network (texts are compared, and 1 in 50 is a duplicate of another). The run is made
once in --folder and copied for each forget, one for each number of workers; with --against another checkout, of an
earlier version, say, forgets as well. Images are addresses: there are no files in the store.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.folder import FORMAT, RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.revision_place import MARK
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.publish import publish
from obelics_pipeline.jobs.stages import STAGES, columns_of, names_of
from obelics_pipeline.stages.extract.measure import score_names
from obelics_pipeline.stages.extract.stage import RECORDS
from obelics_pipeline.stages.job import Documents, Job

EVERY_SECONDS = 0.1  # between two looks at the processes: so much CPU of each goes unseen at its end
PARAGRAPHS, IMAGES, SITES = 12, 3, 5000
BYTES = 6000  # of a document in a tar, nearly
WORDS = [
    f"{a}{b}{c}"
    for a in ("kil", "ra", "mo", "te")
    for b in ("n", "st", "l", "v", "rd")
    for c in ("a", "er", "ing", "o", "y")
]


def main() -> None:
    """Makes the run, and forgets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000, metavar="N")
    parser.add_argument("--per-shard", type=int, default=1000, metavar="N")
    parser.add_argument("--urls", type=int, default=1000, metavar="N")
    parser.add_argument("--domains", type=int, default=20, metavar="N")
    parser.add_argument("--folder", type=Path, help="made once and used again (default: a temporary one)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another version, which has no workers")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder and asked.folder.parent) as scratch:
        base = asked.folder or Path(scratch) / "base"
        if not (base / "manifest.json").exists():
            began = time.perf_counter()
            make(base, asked.documents, asked.per_shard)
            print(f"made in {time.perf_counter() - began:.0f} s")
        lists = write_lists(Path(scratch), asked.documents, asked.urls, asked.domains)
        here = Path(__file__).parents[1]
        ways = [(here, ["--workers", str(n)]) for n in asked.workers]
        for checkout, options in [*([(asked.against, list[str]())] if asked.against else []), *ways]:
            run = Path(shutil.copytree(base, Path(scratch) / "run", copy_function=_link))
            print(f"{checkout.resolve().name} {' '.join(options)}")
            measure(run, asked.documents, [*lists, *options], checkout)
            shutil.rmtree(run)


def _link(source: str, target: str) -> None:
    """Forget replaces files and changes none in its place, but for the log."""
    Path(target).hardlink_to(source)


def make(folder: Path, documents: int, per_unit: int) -> None:
    """A finished run."""
    config, dice = (
        load_config("default", ["fetch.enabled=false", f"shard.target_bytes={per_unit * BYTES}"]),
        random.Random(1),
    )
    run = RunFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    run.config.write_text(dump_config(config))
    (folder / MARK).write_text(json.dumps({"config": "default", "format": FORMAT}) + "\n")
    extracted = [
        _unit(run, config, start, min(start + per_unit, documents), dice) for start in range(0, documents, per_unit)
    ]
    events = EventLog(run.events)
    with LocalEngine(1, folder, 3600) as engine, Display(Console(quiet=True)) as display:
        runner = StageRunner(engine, events, display, names_of(STAGES))
        job = Job(run, config, runner, columns_of(STAGES, config))
        job.runner.ledgers["extract"] = {
            "documents": Ledger("documents", documents, documents),
            "records": Ledger("records", documents, documents),
        }
        job.extracted, job.documents = extracted, Documents(extracted, run.extract)
        for stage in STAGES[1:]:
            stage.do(job)
        publish(job, STAGES)
    events.close()
    run.mark_validated()


def _unit(run: RunFolder, config: RunConfig, start: int, stop: int, dice: random.Random) -> Manifest:
    unit, records, ledger = Unit("extract", digest(start), f"made-{start:09d}"), Ledger("records"), Ledger("documents")
    names, rows = (score_names(config), list(config.filters.paragraph)), []
    with Attempt(run.extract, unit) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), *names) as writer:
            for number in range(start, stop):
                document = made(number, config, dice)
                records.keep()
                ledger.keep()
                writer.write(document)
                rows.append(dict.fromkeys(RECORDS.names) | {"url": document.url, "outcome": "kept", "documents": 1})
        pq.write_table(pa.Table.from_pylist(rows, RECORDS), attempt.file("records", ".parquet"))
        return attempt.commit([records, ledger], {"measured": "made"})


def made(number: int, config: RunConfig, dice: random.Random) -> Document:
    """A document with scores that nobody measured; one in 50 has nearly the text of the one before."""
    texts = random.Random(number - 1 if number % 50 == 0 else number)
    nodes: list[Node] = []
    for place in range(PARAGRAPHS):
        nodes.append(TextNode(" ".join(texts.choices(WORDS, k=25)), "paragraph"))
        if place % (PARAGRAPHS // IMAGES) == 1:
            nodes.append(ImageNode(f"https://i{number % 90}.example/{number}-{place}.jpg", "x", format="jpeg"))
    site = number % SITES
    document = Document(f"{number:032x}", f"https://s{site}.example/{number}", "made.warc.gz", number, 1, nodes)
    document.language = "en"
    document.general = {"warc_date": "2024-01-01T00:00:00Z"}
    document.scores = {name: dice.random() for name in score_names(config)}
    return document


def write_lists(folder: Path, documents: int, urls: int, domains: int) -> list[str]:
    """Pages and sites, drawn by a seed, as arguments of the command."""
    dice = random.Random(2)
    pages = sorted(dice.sample(range(documents), urls))
    (folder / "urls").write_text("".join(f"https://s{n % SITES}.example/{n}\n" for n in pages))
    (folder / "domains").write_text("".join(f"s{n}.example\n" for n in dice.sample(range(SITES), domains)))
    return ["--urls", str(folder / "urls"), "--domains", str(folder / "domains")]


def measure(run: Path, documents: int, arguments: list[str], checkout: Path) -> None:
    """Forget pages and sites by a version of the command, and say what it took."""
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    n_shards = len(list((run / "shards").glob("*.tar")))
    print(f"{documents:,} documents, {n_shards:,} shards, {size / 2**20:,.0f} MB")
    command = [sys.executable, "-m", "obelics_pipeline", "forget", str(run), *arguments]
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve())}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    seen: dict[int, Seen] = {}
    while process.poll() is None:
        watch(process.pid, seen)
        time.sleep(EVERY_SECONDS)
    seconds = time.perf_counter() - began
    said = process.stdout.read() if process.stdout is not None else ""
    assert process.returncode == 0, said
    cpu, driver = sum(one.cpu for one in seen.values()), seen[process.pid]
    print("\n".join(f"  {line}" for line in said.splitlines()[:4]))
    print(f"  {seconds:.1f} s; {cpu:.1f} s of CPU, of it {driver.cpu:.1f} s in the driver", end="; ")
    print(f"{cpu / n_shards:.3f} s of CPU a shard, {1e6 * cpu / documents:.0f} us a document of the run")
    moved = [sum(one.moved[i] for one in seen.values()) / 2**20 for i in (0, 1)]
    print(f"  {moved[0]:,.0f} MB read, {moved[1]:,.0f} MB written", end="; ")
    others = max((one.memory for pid, one in seen.items() if pid != process.pid), default=0.0)
    print(f"memory at most {driver.memory:.0f} MB in the driver, {others:.0f} MB in another process")


@dataclass
class Seen:
    """What a process took until it was looked at last: seconds of CPU, MB of memory at most, bytes read and written,
    also where the kernel had them in memory.
    """

    cpu: float
    memory: float
    moved: tuple[int, int]


def watch(session: int, seen: dict[int, Seen]) -> None:
    """Look at all processes of a session."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            status = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines() if ":" in line)
            io = dict(line.split(": ") for line in (entry / "io").read_text().splitlines())
        except (OSError, ValueError):
            continue  # it has ended
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        memory = int(status.get("VmHWM", "0 kB").split()[0]) / 2**10
        if memory:  # one that has ended and waits to be reaped has none
            seen[int(entry.name)] = Seen(cpu, memory, (int(io["rchar"]), int(io["wchar"])))


if __name__ == "__main__":
    main()
