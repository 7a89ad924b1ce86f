"""The images of the documents of a command, from the web into a folder: each URL once, and what is there is kept.

content/ab/abcd…       the files, named by the sha256 of what is in them.
<sha256 of a URL>      a link to the file that this URL gave.
results/*.parquet      the result of each URL, by bucket of hosts and by the fetch config.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.ledger import Ledger, total
from obelics_pipeline.core.storage import TEMPORARY, read_table, write_table
from obelics_pipeline.core.unit import digest
from obelics_pipeline.engines.attempts import WorkersDie
from obelics_pipeline.jobs.score_rows.in_workers import Maps
from obelics_pipeline.policy.forgotten import Forgotten
from obelics_pipeline.policy.image_safety.known_abuse import prepare
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.host import host_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table, results_to_table
from obelics_pipeline.stages.fetch.stage import identity, treated_as

NOUN = "images"
UNFIT = "bad_url"  # a URL with a lone surrogate, which no request can carry
URLS_HELD = 100_000  # before they are written to their buckets' files


@dataclass(frozen=True)
class Bucket:
    """The URLs of some hosts, as JSON lines in a file, and the folder that their images go to."""

    number: int
    wanted: Path
    folder: Path


def fetch_images(
    wanted: Iterable[Iterable[str]],
    folder: Path,
    config: RunConfig,
    engine: Maps,
    forgotten: Forgotten | None = None,
) -> Ledger:
    """Fetch image URLs into `folder`, each image under the sha256 of its URL; returns the result of each distinct URL.

    Hosts are dealt out to `config.fetch.buckets` units as a run does it, so that their limits hold. What is `forgotten`
    is not asked for. What an earlier command asked for with an equal config is not asked for again, even if it failed.
    Raises UserError where another command is at work in the folder, Stopped where workers die again and again.
    """
    with _held(folder), tempfile.TemporaryDirectory(dir=folder, prefix=TEMPORARY) as name:
        buckets, unfit = _dealt(wanted, folder, Path(name), config.fetch.buckets)
        try:
            ledgers = list(engine.map(partial(fetch_into, config=config, forgotten=forgotten), buckets))
        except WorkersDie as error:
            raise Stopped(f"--images fetch: {error}; run the same command again to continue") from None
    lost = Ledger(NOUN)
    lost.fail(UNFIT, unfit)
    return total(NOUN, [*ledgers, lost] if unfit else ledgers)


def fetch_into(bucket: Bucket, config: RunConfig, forgotten: Forgotten | None = None) -> Ledger:
    """Fetch the URLs of one bucket, and link those that gave an image."""
    lists = prepare(config.image_safety.known_abuse)
    treated = treated_as(config.image_safety, "" if lists is None else lists.identity)
    name = f"{identity(config.fetch)}-{bucket.number:04d}" + (f"-{digest(treated)}" if treated else "")
    with bucket.wanted.open(encoding="utf-8") as lines:
        urls = {json.loads(line) for line in lines}
    table, journal = bucket.folder / "results" / f"{name}.parquet", bucket.folder / "journal" / f"{name}.jsonl"
    store = ImageStore(bucket.folder / "content")
    known = {r.url: r for r in results_from_table(read_table(table))} if table.exists() else {}
    ingest = Ingest(config.fetch, config.image_safety, store, treated.get("lists", ""), forgotten=forgotten)
    results = fetch_bucket(sorted(urls), config.fetch, store, known, journal, ingest)
    known |= {result.url: result for result in results}
    write_table(results_to_table(known[url] for url in sorted(known)), table)
    journal.unlink(missing_ok=True)
    for result in results:
        _link(result, bucket.folder, store)
    return _ledger(results)


def name_of(url: str) -> str:
    """The name of an image's file in a folder of images."""
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Work in the folder alone."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"--images fetch: another command is fetching into {folder}; wait for it") from None
        yield


def _dealt(wanted: Iterable[Iterable[str]], folder: Path, temporary: Path, count: int) -> tuple[list[Bucket], int]:
    """The buckets that have URLs, and the number of distinct URLs that no request can carry."""
    held: dict[int, list[str]] = {}
    files: set[int] = set()
    unfit: set[str] = set()
    n = 0
    for urls in wanted:
        for url in urls:
            if _is_unfit(url):
                unfit.add(url)
                continue
            held.setdefault(host_bucket(url, count), []).append(json.dumps(url))
            n += 1
        if n >= URLS_HELD:
            files |= _write(held, temporary)
            held, n = {}, 0
    files |= _write(held, temporary)
    return [Bucket(number, _file(temporary, number), folder) for number in sorted(files)], len(unfit)


def _write(held: dict[int, list[str]], temporary: Path) -> set[int]:
    for number, lines in held.items():
        with _file(temporary, number).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in dict.fromkeys(lines))
    return set(held)


def _file(temporary: Path, number: int) -> Path:
    return temporary / f"{number:04d}.jsonl"


def _is_unfit(url: str) -> bool:
    try:
        url.encode()
    except UnicodeEncodeError:
        return True
    return False


def _link(result: FetchResult, folder: Path, store: ImageStore) -> None:
    """Leave the link of a URL as its result says; one of an earlier config may say otherwise."""
    link = folder / name_of(result.url)
    content = None if result.sha256 is None else Path(str(store.path(result.sha256))).relative_to(folder)
    if link.is_symlink() and link.readlink() == content:
        return
    link.unlink(missing_ok=True)
    if content is not None:
        link.symlink_to(content)


def _ledger(results: Iterable[FetchResult]) -> Ledger:
    found = Counter((result.status, result.reason) for result in results)
    ledger = Ledger(NOUN)
    for (status, reason), n in sorted(found.items(), key=str):
        if status == "ok":
            ledger.keep(n)
        elif status == "dropped":
            ledger.drop(reason or status, n)
        else:
            ledger.fail(reason or status, n)
    return ledger
