"""`obelics forget`: writes tombstones first, then edits every file of the run that holds what they name."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from obelics_pipeline.core.commit import Manifest, unit_names
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.index_name import is_index_name
from obelics_pipeline.core.revision_place import MARK
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.manifest import read_manifest, write_manifest
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.storage import (
    TEMPORARY,
    Location,
    create,
    files_below,
    local_copy,
    location,
    names_in,
    remove,
    remove_tree,
    scratch_of,
    size_of,
)
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.forget import files
from obelics_pipeline.forget.find import Finder
from obelics_pipeline.forget.gone import Gone, gone_at
from obelics_pipeline.forget.ledgers import ledgers_now, notes_now
from obelics_pipeline.forget.loose import is_text, strike_file
from obelics_pipeline.forget.pending import STAGED, Pending
from obelics_pipeline.forget.place import LEASE, Place, folders_in, lease_of, names_below
from obelics_pipeline.forget.plans import Affected, affected, plans_near
from obelics_pipeline.forget.shards import Rewritten, Shards
from obelics_pipeline.forget.steps import AT_ONCE, Steps, batches, errors_in_one_line
from obelics_pipeline.forget.switch import Switch
from obelics_pipeline.forget.units import follow
from obelics_pipeline.forget.warcs import ENDING
from obelics_pipeline.jobs.events import EventLog, settle
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.policy.tombstones.hash_set import content_name, sorted_hashes
from obelics_pipeline.policy.tombstones.keyed import Keyed, make_key
from obelics_pipeline.policy.tombstones.lists import PARSERS, TombstoneCounts, hashes_of
from obelics_pipeline.policy.tombstones.obeyed import noted_exports
from obelics_pipeline.policy.tombstones.tombstones import FOLDER, KEY, UNFINISHED, stored
from obelics_pipeline.stages.extract.safety import safety_of
from obelics_pipeline.stages.fetch.unit_images import staging_of
from obelics_pipeline.stages.read.robots import origins_in
from obelics_pipeline.stages.shard.index_parts import sweep_index
from obelics_pipeline.stages.shard.look_ups import forget_rows
from obelics_pipeline.stages.shard.validate import problems

REPORTS = ("report.html", "report-against.html")
CARD = ("README.md", "croissant.json")  # somebody may have written in it: it is not removed
EXPORT = "export-"  # begins the names of the folders that obelics export writes to where none is given
OF_ENGINE = ("beam", "beam.log")  # what engines keep in the folder while they work; the log is edited at the end
UNIT_SECONDS = 3600.0  # a unit that takes longer is tried again
FOLDERS_AT_ONCE = 8  # of the images: a bucket of packs each, or one of 256 where each image has a file
DOCUMENTS_AT_ONCE = 2  # units of documents in one of a forget
Say = Callable[[str], None]
OpenEngine = Callable[[Location, RunConfig], AbstractContextManager[Engine]]  # from the run's folder and its config


@dataclass
class Done:
    """What a forget did, or would do with `--dry-run`."""

    lists: TombstoneCounts = field(default_factory=TombstoneCounts)
    found: dict[str, int] = field(default_factory=dict)  # counts of documents
    shards: Rewritten = field(default_factory=Rewritten)
    files: int = 0  # others that were rewritten
    records: int = 0  # of WARC files in the folder, blanked
    images: int = 0  # of the run that are gone
    freed: int = 0  # bytes
    remake: list[str] = field(default_factory=list)  # what was made of the run and must be made anew
    plans: list[Affected] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # of the shards that were written


def forget(
    folder: str,
    lists: Mapping[str, Sequence[Path]],
    key: Path | None = None,
    plans: Sequence[Path] = (),
    dry_run: bool = False,
    skip_bad: bool = False,
    say: Say = print,
    workers: int | None = None,
    open_engine: OpenEngine | None = None,
) -> Done:
    """Remove what lists name: `lists` are files by kind, urls, domains or hashes.

    `open_engine` makes the engine that does the work; without it, `workers` processes of this machine do, one per CPU
    core by default. Every engine leaves the same bytes.

    Without lists it goes on with what was begun, and looks once more for what is forgotten already: files may have been
    given back from elsewhere. Raises UserError for a folder that is no run's, for lists with bad
    lines unless `skip_bad`, and where another is at work in the folder; Stopped where the disk is full: then nothing
    is lost, and the same command goes on.
    """
    where = location(folder)
    if open_engine is not None and isinstance(where, Path):
        where = where.absolute()  # workers that are elsewhere may be in other folders
    run = RunFolder(where)
    run.refuse_other_format()
    marks = (MARK, run.manifest.name)
    if all(size_of(run.path / name) is None for name in marks) and index_of(run.path) is None:
        raise UserError(f"{folder}: no run is there; give the --output of obelics run")
    if not lists and size_of(run.path / FOLDER / UNFINISHED) is None and not stored(run.path / FOLDER):
        raise UserError(f"{folder}: nothing to forget: give --urls, --domains or --hashes FILE")
    engine = open_engine or _local(workers or os.cpu_count() or 1)
    with errors_in_one_line(run), run.locked():
        _refuse_revisions(run)
        if dry_run:
            with _trial(run, key, open_engine is not None) as (keyed, target):
                return _Work(run, keyed, target, engine, say).dry(lists, skip_bad, plans)
        keyed = make_key(run.path / FOLDER / KEY, key)
        work = _Work(run, keyed, run.path / FOLDER, engine, say)
        earlier = work.go_on()
        if earlier is not None and not lists:
            earlier.plans = work.plans(plans)
            return earlier
        return work.take_back(lists, skip_bad, plans)


def _local(workers: int) -> OpenEngine:
    def open_engine(folder: Location, _config: RunConfig) -> LocalEngine:
        return LocalEngine(workers, scratch_of(folder), UNIT_SECONDS, (__name__,))

    return open_engine


def _refuse_revisions(run: RunFolder) -> None:
    """Raises UserError where a run has several revisions: each has documents and images of its own."""
    found = revisions_of(run.base).numbers()
    if len(found) > 1 or run.path != run.base:
        shown = ", ".join(map(str, found))
        raise UserError(
            f"{run.base}: its revisions {shown} hold documents; keep one and forget then: obelics revisions {run.base} "
            "--keep 1"
        )


@contextmanager
def _trial(run: RunFolder, key: Path | None, elsewhere: bool) -> Iterator[tuple[Keyed, Location]]:
    """A folder of tombstones beside, which is gone afterwards; within the run's for workers that are `elsewhere`."""
    with tempfile.TemporaryDirectory(prefix="obelics-forget-") as name:
        target: Location = run.path / f"{TEMPORARY}forget" if elsewhere else Path(name)
        own = run.path / FOLDER / KEY
        if elsewhere:
            remove_tree(target)
        try:
            if size_of(own) is None:
                yield make_key(target / KEY, key), target
                return
            with local_copy(own) as path:
                yield make_key(target / KEY, path), target
        finally:
            if elsewhere:
                remove_tree(target)


class _Work:
    def __init__(self, run: RunFolder, keyed: Keyed, target: Location, open_engine: OpenEngine, say: Say) -> None:
        self._run, self._keyed, self._target, self._say = run, keyed, target, say
        self._config = config = _config_of(run)
        self._place = Place(run, target, config.dedup, config.images.min_per_document, lease_of(run))
        self._open_engine = open_engine
        self._pending = Pending(target, keyed)
        self._switch = Switch(run.path, target / STAGED)

    def go_on(self) -> Done | None:
        """Finish what was begun before a kill; None where nothing was."""
        self._switch.finish_earlier()
        if size_of(self._target / UNFINISHED) is None:
            return None
        self._say("going on with what was begun here")
        done = Done()
        self._apply(done)
        return done

    def take_back(self, lists: Mapping[str, Sequence[Path]], skip_bad: bool, plans: Sequence[Path]) -> Done:
        """Leave tombstones, and bring the folder into line with them."""
        done = Done()
        data = self._read(lists, skip_bad, done)
        self._pending.begin("hashes" in lists or not lists, self._run.is_validated())
        if data:
            create(self._target / content_name(data), data)
        self._apply(done)
        done.plans = self.plans(plans)
        return done

    def dry(self, lists: Mapping[str, Sequence[Path]], skip_bad: bool, plans: Sequence[Path]) -> Done:
        """Look, and change nothing."""
        done = Done()
        data = self._read(lists, skip_bad, done)
        if data:
            create(self._target / content_name(data), data)
        with self._open_engine(self._run.base, self._config) as engine:
            found, _, images = Finder(Steps(engine, self._place), self._config).find("hashes" in lists)
        done.found, done.images = found.counts, len(images)
        done.plans = self.plans(plans)
        return done

    def _read(self, lists: Mapping[str, Sequence[Path]], skip_bad: bool, done: Done) -> bytes:
        """The hashes of all lists; every line is read before anything is decided."""
        config = self._config
        stored = safety_of(config.model_dump_json()).stored_url if config.personal_data.enabled else None
        hashes = (
            hashes_of(kind, path, self._keyed, done.lists, stored) for kind in PARSERS for path in lists.get(kind, ())
        )
        data = sorted_hashes(chain.from_iterable(hashes))
        if done.lists.bad and not skip_bad:
            more = f" ({done.lists.bad:,} such lines)" if done.lists.bad > 1 else ""
            for line in done.lists.named[1:]:
                self._say(line)
            raise UserError(f"{done.lists.named[0]}{more}; correct the list, or skip such lines with --skip-bad")
        return data

    def plans(self, given: Sequence[Path]) -> list[Affected]:
        """The plans of training that hold what is forgotten: those given, and those beside the run."""
        known = self._place.tombstones()
        if known is None:
            return []
        asked = [path.resolve() for path in given]
        near = plans_near(self._run.path.resolve()) if isinstance(self._run.path, Path) else []
        found = (affected(path, known.document, path in asked) for path in dict.fromkeys([*asked, *near]))
        return [plan for plan in found if plan is not None]

    def _apply(self, done: Done) -> None:
        with self._open_engine(self._run.base, self._config) as engine:
            steps = Steps(engine, self._place)
            counts = self._pending.counts
            if counts is None:
                found, urls, images = Finder(steps, self._config).find(self._pending.hashes)
                self._pending.note(found, urls, images)
                counts = found.counts
            done.found = counts
            if self._place.tombstones() is not None:
                gone = gone_at(self._place)
                self._shards(steps, done)
                self._files(steps, gone, done)
                self._made_of_it(done)
                self._account(steps, done)
                self._note(done)
        self._log_of_engine()
        self._pending.end()

    def _shards(self, steps: Steps, done: Done) -> None:
        """The tars, the index and the manifest, all at once."""
        if size_of(self._run.manifest) is None:
            self._unpublish()
            return
        look_into = not unit_names(self._run.extract)  # nobody knows which documents have a forgotten image
        done.shards = Shards(steps, self._switch, look_into).rewrite()
        self._pending.note_written(done.shards.shards)
        self._switch.go()
        done.freed += done.shards.freed

    def _unpublish(self) -> None:
        """Remove the tars of a run that did not finish: it writes them again, of what is left."""
        remove(self._run.shards / name for name in files_below(self._run.shards))
        remove_tree(self._run.look_up)
        sweep_index(self._run.path, [])
        remove([self._run.validated])

    def _files(self, steps: Steps, gone: Gone, done: Done) -> None:
        """Everything else in the folder."""
        forget_rows(self._run.shuffled)
        settle(self._run.events)
        names = self._names()
        if isinstance(self._run.path, Path):
            warcs = [name for name in names if name.endswith(ENDING)]
            done.records = _sum(steps.do("inputs", files.blanked, batches("inputs", warcs, 1)), "records")
        folders = _unit_folders(names)
        self._units(steps, folders, done)
        steps.do("sweep", files.swept, batches("sweep", sorted(folders), 1))
        self._loose(steps, [name for name in names if is_text(name) or not _is_below(name, folders)], done)
        if not isinstance(self._run.path, Path):
            for folder in (self._run.fetch, self._run.consent_answers):
                for path in sorted((scratch_of(folder) / "journal").glob("*.jsonl")):
                    strike_file(path, gone.strike, lines_go=True)
            remove_tree(scratch_of(self._run.consent_again))  # a list of addresses, and a round that is not finished
        self._captures(gone, done)
        remove_tree(staging_of(self._run.fetch))  # of buckets that are not done: they ask again
        stored = batches("images", folders_in(self._run.images), FOLDERS_AT_ONCE)
        removed = steps.do("images", files.images, stored)
        done.images, done.freed = done.images + _sum(removed, "images"), done.freed + _sum(removed, "freed")

    def _names(self) -> list[str]:
        """What lies in the run's folder, without images: there may be more than can be listed."""
        return names_below(self._run.path, {self._run.images.name, FOLDER})

    def _units(self, steps: Steps, folders: set[str], done: Done) -> None:
        """The units of all stages. Those of documents are the last, and of them the extracted ones: other units are
        rewritten by what documents hold.
        """
        run = self._run
        kinds = {name: "plain" for name in folders if name.count("/") == 1 and name.startswith(f"{run.shuffled.name}/")}
        kinds.pop(f"{run.shuffled.name}/settled", None)  # each of its units with one of those that passed
        kinds |= {f"{run.shuffled.name}/passed": "passed", run.fetch.name: "fetched", run.scores.name: "measured"}
        kinds |= {run.requests.name: "plain", run.consent_answers.name: "plain"}
        units = [
            unit for folder, kind in sorted(kinds.items()) if folder in folders for unit in self._batches(folder, kind)
        ]
        changed = steps.do("units", files.rewritten, units)
        for stage in reversed(stages_in(run)):
            if stage.documents:
                step = f"units-{stage.name}"
                changed += steps.do(step, files.rewritten, self._batches(stage.documents, "documents"))
        done.files, done.freed = _sum(changed, "files"), done.freed + _sum(changed, "freed")
        done.images = _sum(changed, "images")

    def _batches(self, folder: str, kind: str) -> list[Unit]:
        names = unit_names(self._run.path / folder)
        size = DOCUMENTS_AT_ONCE if kind == "documents" else AT_ONCE
        return batches("units", names, size, folder=folder, kind=kind)

    def _loose(self, steps: Steps, names: Sequence[str], done: Done) -> None:
        """Files that no unit's manifest names: journals lie among units, too."""
        skip = {self._run.shards.name, "input", LEASE, *OF_ENGINE}
        own = (self._run.manifest.name, *REPORTS)
        asked = [
            name
            for name in names
            if (first := name.split("/")[0]) not in skip and not first.startswith(EXPORT) and name not in own
            if not is_index_name(name) and (name.endswith(".parquet") or is_text(name))
        ]
        edited = steps.do("loose", files.loose, batches("loose", asked))
        pieces: dict[str, dict[str, str]] = {}
        for unit in edited:
            done.remake += [
                f"{self._run.path / name} (removed): it showed what is forgotten" for name in unit.notes["removed"]
            ]
            for folder, renamed in unit.notes["pieces"].items():
                pieces.setdefault(folder, {}).update(renamed)
        for folder, renamed in sorted(pieces.items()):
            follow(self._run.path / folder, renamed)
        done.files, done.freed = done.files + _sum(edited, "files"), done.freed + _sum(edited, "freed")

    def _captures(self, gone: Gone, done: Done) -> None:
        """Remove tables of robots.txt captures that name a removed host. The next run makes them again."""
        for name in names_in(self._run.robots_captures):
            where = self._run.robots_captures / name
            if name.endswith(".sqlite") and any(gone.url(origin) for origin in origins_in(where)):
                remove([where])
                done.remake.append(f"{where} (removed): the next run reads the captures again")

    def _log_of_engine(self) -> None:
        """What processes of an engine said, once they have ended."""
        log = self._run.path / OF_ENGINE[1]
        if size_of(log) is not None and self._place.tombstones() is not None:
            strike_file(log, gone_at(self._place).strike)

    def _made_of_it(self, done: Done) -> None:
        """Remove what was made from the run (exports, map, reports), and note which command makes it again."""
        changed = bool(done.shards.shards or done.shards.removed or done.files)
        if not changed:
            return
        for name in sorted(
            {
                n.split("/")[0]
                for n in names_below(self._run.path, {self._run.images.name, FOLDER})
                if n.startswith(EXPORT)
            }
        ):
            remove_tree(self._run.path / name)
            done.remake.append(f"{self._run.path / name} (removed): obelics export")
        if files_below(self._run.map):
            remove_tree(self._run.map)
            done.remake.append(f"{self._run.map} (removed): obelics map")
        for name in REPORTS:
            if size_of(self._run.path / name) is not None:
                remove([self._run.path / name])
                done.remake.append(f"{self._run.path / name} (removed): obelics report")
        if size_of(self._run.path / CARD[0]) is not None:
            done.remake.append(f"{self._run.path / CARD[0]}, {CARD[1]} (its counts are old): obelics card")
        inside = str(self._run.path.resolve() if isinstance(self._run.path, Path) else self._run.path)
        exports = [output for output in noted_exports(self._run.path) if not output.startswith(f"{inside}/")]
        done.remake += [f"{output}: obelics publish, or obelics export" for output in exports]

    def _account(self, steps: Steps, done: Done) -> None:
        """Write the run's manifest by its units as they are now, and read the changed tars back."""
        if size_of(self._run.manifest) is None:
            return
        manifest = read_manifest(self._run.path)
        ledgers = ledgers_now(self._run, self._config, manifest)
        now = replace(manifest, ledgers=ledgers or manifest.ledgers, notes=notes_now(self._run, manifest))
        if now != manifest:
            write_manifest(self._run.path, now)
        done.problems = problems(self._run.path, steps.engine.map, frozenset(self._pending.written))
        if done.problems:
            remove([self._run.validated])
        elif self._pending.validated:
            self._run.sync_results()
            self._run.mark_validated()

    def _note(self, done: Done) -> None:
        events = EventLog(self._run.events)
        counts: Counter[str] = done.lists.entries
        events.write(
            "forgotten",
            lists=dict(counts),
            documents=done.shards.documents,
            images=done.shards.images,
            shards=[*done.shards.shards, *done.shards.removed],
            freed=done.freed,
        )
        events.close()


def _unit_folders(names: Sequence[str]) -> set[str]:
    """The folders that units have their files in, by what lies in the run's folder."""
    parts = (name.split("/") for name in names if name.endswith(".json"))
    return {"/".join(p[:-2]) for p in parts if len(p) > 2 and p[-2] == "manifests"}


def _is_below(name: str, folders: set[str]) -> bool:
    """Whether a file lies where units have theirs, whose manifests name it."""
    parts = name.split("/")
    return any("/".join(parts[:n]) in folders for n in range(1, len(parts)))


def _sum(units: Sequence[Manifest], count: str) -> int:
    return sum(int(unit.notes[count]) for unit in units)


def _config_of(run: RunFolder) -> RunConfig:
    """The config that a run was made by; the default where it says none."""
    if size_of(run.config) is None:
        return RunConfig()
    with local_copy(run.config) as path:
        return load_config(str(path))
