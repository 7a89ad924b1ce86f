"""A small run of every stage, what its files are, and ways to damage one of them."""

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.jobs.main_job import run
from tests.faults.inline import Inline
from tests.policy.image_safety.test_in_a_run import WORDS, record
from tests.stages.consent.registry import Registry
from tests.stages.fetch.site import Site, answer
from tests.stages.shard.runs import picture

PAGES, PER_PAGE = 6, 2
ORDER = ("extract", "dedup", "site", "consent", "requests", "fetch", "assembled", "shards")  # by what reads what
GIVEN = {"run.json", "inputs.json", "config.yaml"}  # what the command said: tests/core/test_folder.py
Damage = Callable[[Path], None]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


class World:
    """A site, pages that show its pictures, a list and a service of who opted out; and one command over them."""

    def __init__(self, folder: Path, site: Site, registry: Registry, pages: int = PAGES) -> None:
        self.folder, self.site, self._pages = folder, site, pages
        self._warc = folder / "in.warc"
        self.write("the first")
        (folder / "listed.txt").write_text("https://pages0.example/0\n")
        service = {"url": registry.url, "allow_private": ["127.0.0.1/32"], "requests_per_second": 1000}
        lists = {"mine": {"path": str(folder / "listed.txt"), "kind": "urls", "of": ["pages"]}}
        self._sets = [
            "language.min_score=0", "filters.document={image_count: {min: 1}}", "reading.unit_bytes=3000",
            "dedup.text.enabled=true", "dedup.paragraphs.min_count=null", "site.enabled=true", "site.score=null",
            "fetch.buckets=2", "fetch.host_delay_seconds=0", f'fetch.allow_private=["127.0.0.1:{site.port}"]',
            "shard.target_bytes=8000", f"consent={json.dumps({'service': service, 'lists': lists})}",
        ]  # fmt: skip

    def write(self, edition: str) -> int:
        """Write the input; its bytes. Editions of equal length are of the same size."""
        return self._warc.write_bytes(b"".join(self._page(number, edition) for number in range(self._pages)))

    def _page(self, number: int, edition: str) -> bytes:
        shown = f"<p>{WORDS} in {edition} edition.</p>"
        for name in (f"{number * PER_PAGE + n}.jpeg" for n in range(PER_PAGE)):
            shown += f'<p>{WORDS} {name}, {number}.</p><img src="{self.site.url(f"/{name}")}">'
        body = f"<html><body><article><h1>Page {number}</h1>{shown}<p>{WORDS} {number}</p></article></body></html>"
        return record(f"https://pages{number % 3}.example/{number}", body)

    def run(
        self, output: Path | str, yes: bool = False, sets: Sequence[str] = (), engine: Callable[..., Engine] = Inline
    ) -> int:
        return run("default", [str(self._warc)], str(output), 1, [*self._sets, *sets], open_engine=engine, yes=yes)


@contextmanager
def a_world(folder: Path) -> Iterator[World]:
    """A run's surroundings: its site and its service answer while the block runs."""
    pictures = {f"/{n}.jpeg": answer(body=picture("jpeg", n)) for n in range(PAGES * PER_PAGE)}
    with Site(pictures) as site, Registry({"https://pages0.example/3"}) as registry:
        yield World(folder, site, registry)


def stop_after(output: Path, stage: str) -> None:
    """As a run that stopped when this stage was done, so that what it wrote is read again."""
    for later in ORDER[ORDER.index(stage) + 1 :]:
        shutil.rmtree(output / later, ignore_errors=True)
    for name in ("index.parquet", "manifest.json", "validated"):
        (output / name).unlink(missing_ok=True)


def kinds(output: Path, but: Collection[str] = GIVEN) -> dict[str, Path]:
    """The largest file of each kind that the run wrote, without those named `but`.

    A kind is what a file's folders, role and ending say, not what it is of. The steps of a shuffle are one kind of
    folder: all are written and read by the same functions.
    """
    found: dict[str, Path] = {}
    for path in sorted(path for path in output.rglob("*") if path.is_file() and path.name not in but):
        name = re.sub(r"shuffled/[^/]+/", "shuffled/step/", str(path.relative_to(output)))
        name = re.sub(r"[^/]*[0-9a-f]{12,64}[^/.]*|(shard|bucket)[-=]\d+", "#", name)
        if name not in found or path.stat().st_size > found[name].stat().st_size:
            found[name] = path
    return found


def stop_before_it_is_read(output: Path, kind: str) -> None:
    """What a finished run wrote for its readers is looked at by the next; the rest only where something is to do."""
    first = kind.split("/")[0]
    stage = {"images": "assembled", "shuffled": "extract"}.get(first, first)
    if stage in ORDER[:-1]:
        stop_after(output, stage)


def outcome(world: World, output: Path) -> tuple[int, str]:
    """The exit code, and what was told last or went wrong."""
    try:
        return world.run(output), (output / "events.jsonl").read_text(errors="replace")[-3000:]
    except (UserError, Stopped) as error:
        return error.exit_code, str(error)
