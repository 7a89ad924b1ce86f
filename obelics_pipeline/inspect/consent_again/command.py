"""`obelics consent --again`: asks once more, bucket by bucket of hosts, and writes the answers and what changed."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, draft, draft_for, put, read_table, scratch_of
from obelics_pipeline.core.unit import digest
from obelics_pipeline.inspect.consent_again.answer import ANSWERS
from obelics_pipeline.inspect.consent_again.answers import ANSWERED
from obelics_pipeline.inspect.consent_again.ask import Asker, asking
from obelics_pipeline.inspect.consent_again.subjects import bucket_of, deal_out
from obelics_pipeline.inspect.report.opened import read_run
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.policy.tombstones.obeyed import refuse_forgotten
from obelics_pipeline.stages.fetch.rule_files import RuleFiles

CHANGED, URLS = "changed.parquet", "urls.txt"
EVENT = "consent_asked"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What was answered, by its word; `refused` are those that forbid the use. `urls` is the list for forget."""

    said: Mapping[str, int]
    refused: Mapping[str, int]
    changed: Location
    urls: Path

    def lines(self, folder: str) -> Iterator[str]:
        """For a person."""
        total, refused = sum(self.said.values()), sum(self.refused.values())
        words = ", ".join(f"{count:,} {word}" for word, count in sorted(self.said.items()))
        yield f"asked {total:,} addresses again: {words or 'there are none'}"
        if refused:
            yield f"{refused:,} may not be used any more ({self.changed}): obelics forget {folder} --urls {self.urls}"


def ask_again(folder: str, say: Say = print) -> Asked:
    """Ask every page and image file of a finished run again. A round that was stopped goes on; after a finished
    one, a new round begins.

    Writes `consent-again/answers.parquet`, `changed.parquet` (those that refuse) and `urls.txt` (the same, for forget)
    into the folder. Raises UserError where no finished run is, or its shards are damaged.
    """
    _demand_reader_of_robots()
    run = read_run(folder)
    if run.manifest is None:
        raise UserError(f"{folder}: the run there has not finished; run its command again to finish it")
    refuse_forgotten(run.folder.path)
    home, buckets = run.folder.consent_again, run.config.fetch.buckets
    with run.folder.locked():
        scratch = scratch_of(home) / "asking"
        round_of = scratch / digest(run.manifest.index_id(), asking(run.config.fetch).model_dump_json(), buckets)
        for other in scratch.glob("*"):
            if other != round_of:  # the shards or the manners are others now
                shutil.rmtree(other)
        if not (round_of / "dealt").exists():
            deal_out(run.folder.path, round_of, buckets)
            (round_of / "dealt").touch()
        observed = _observations(run.folder)
        tables = [_answers(run.config, round_of, bucket, observed, say) for bucket in range(buckets)]
        asked = _write(home, tables)
        shutil.rmtree(scratch)
        with _events(run.folder) as events:
            events.write(EVENT, said=dict(asked.said), refused=dict(asked.refused))
    return asked


def _demand_reader_of_robots() -> None:
    """Raise UserError where protego is missing: a robots.txt that nobody can read would allow everything."""
    try:
        import protego  # noqa: F401
    except ImportError:
        raise UserError("obelics consent --again reads robots.txt: pip install 'obelics-pipeline[images]'") from None


def _observations(folder: RunFolder) -> dict[str, list[Location]]:
    """The files of what hosts said when images were fetched, by the bucket of their hosts."""
    found: dict[str, list[Location]] = {}
    for _, unit in sorted(read_manifests(folder.fetch, unit_names(folder.fetch)).items()):
        if "robots" in unit.files:
            found.setdefault(unit.unit.rpartition("-")[0], []).append(unit.path(folder.fetch, "robots"))
    return found


def _answers(
    config: RunConfig, round_of: Path, bucket: int, observed: Mapping[str, Sequence[Location]], say: Say
) -> Path:
    """The answers of one bucket as a file: as they are there, or asked for now."""
    done = round_of / f"{bucket:05d}.parquet"
    if done.exists():
        return done
    subjects = bucket_of(round_of, bucket)
    with _Journal(round_of / f"{bucket:05d}.answers.jsonl") as journal:
        missing = [subject for subject in subjects if subject.url not in journal.answers]
        if missing:
            say(f"hosts {bucket + 1}/{config.fetch.buckets}: {len(missing):,} addresses to ask")
            tokens = config.consent.crawl.robots_tokens
            with TemporaryFile() as rules:
                Asker(config.fetch, tokens, RuleFiles(rules), journal.add).ask(missing)
        rows = [journal.answers[subject.url] for subject in subjects]
    table = pa.Table.from_pylist(list(_with_days(rows, observed.get(f"bucket-{bucket:04d}", ()))), ANSWERS)
    draft_of = draft_for(round_of, ".parquet")
    pq.write_table(table, draft_of)
    put(draft_of, done)
    return done


def _with_days(rows: Sequence[dict[str, Any]], observed: Sequence[Location]) -> Iterator[dict[str, Any]]:
    """Of images, what the fetch observed of their host's files, and when."""
    seen_on = sorted(
        (row for place in observed for row in read_table(place).to_pylist()), key=lambda row: str(row["day"])
    )
    known = {row["origin"]: row for row in seen_on}  # the last day of each
    for row in rows:
        try:
            target = parse_target(row["url"])
            host = f"[{target.host}]" if ":" in target.host else target.host
            seen = known.get(f"{target.scheme}://{host}:{target.port}/")
        except FetchError:
            seen = None
        if row["before"] is None and seen is not None:
            words = [f"{name}: {seen[name]}" for name in ("robots_txt", "ai_txt", "tdm") if seen.get(name)]
            row |= {"before": "; ".join(words) or None, "before_day": seen["day"]}
        yield row


def _write(home: Location, tables: Sequence[Path]) -> Asked:
    """The files of a round that is complete. A second command after a kill in between makes them again."""
    with draft(home / ANSWERED) as path, pq.ParquetWriter(path, ANSWERS, compression="zstd") as writer:
        for table in tables:
            writer.write_table(pq.read_table(table))
    said: Counter[str] = Counter()
    no: Counter[str] = Counter()
    urls = scratch_of(home) / URLS
    urls.parent.mkdir(parents=True, exist_ok=True)
    with (
        draft(home / CHANGED) as path,
        pq.ParquetWriter(path, ANSWERS) as writer,
        draft(urls) as names,
        names.open("w", encoding="utf-8") as lines,
    ):
        for table in map(pq.read_table, tables):
            refused = table.filter(pc.field("refused"))
            said.update(table["said"].to_pylist())
            no.update(refused["said"].to_pylist())
            writer.write_table(refused)
            lines.writelines(f"{url}\n" for url in refused["url"].to_pylist())
    return Asked(dict(sorted(said.items())), dict(sorted(no.items())), home / CHANGED, urls)


class _Journal:
    """Answers as they come, a JSON line each, so that a killed round asks nobody twice. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        if path.exists():
            for line in path.read_bytes().splitlines():
                try:
                    row = json.loads(line)
                    self.answers[str(row["url"])] = {name: row[name] for name in ANSWERS.names}
                except (ValueError, TypeError, KeyError):  # torn by a kill
                    continue

    def __enter__(self) -> _Journal:
        self._file = self._path.open("a", encoding="utf-8")
        self._file.write("\n")  # ends what a killed round left
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, row: dict[str, Any]) -> None:
        """Append an answer; a kill of the process right after it does not lose it."""
        with self._lock:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
            self.answers[row["url"]] = row


@contextmanager
def _events(folder: RunFolder) -> Iterator[EventLog]:
    events = EventLog(folder.events)
    try:
        yield events
    finally:
        events.close()
