"""`obelics forget`: writes tombstones first, then edits every file of the run that holds what they name."""

from __future__ import annotations

import errno
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from obelics_pipeline.core.access import access_lost
from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.errors import DISK_FULL, Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revision_place import MARK
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.manifest import read_manifest, write_manifest
from obelics_pipeline.core.storage import (
    TEMPORARY,
    Location,
    create,
    files_below,
    is_local,
    local_copy,
    location,
    names_in,
    remove,
    remove_tree,
    scratch_of,
    size_of,
)
from obelics_pipeline.engines.attempts import disk_full
from obelics_pipeline.forget.find import Finder
from obelics_pipeline.forget.gone import Gone
from obelics_pipeline.forget.ledgers import ledgers_now, notes_now
from obelics_pipeline.forget.loose import is_text, names_something, strike_file
from obelics_pipeline.forget.pending import STAGED, Pending, ToForget
from obelics_pipeline.forget.plans import Affected, affected, plans_near
from obelics_pipeline.forget.shards import Rewritten, Shards
from obelics_pipeline.forget.switch import Switch
from obelics_pipeline.forget.units import Rewriter
from obelics_pipeline.forget.warcs import ENDING, blank_records
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.policy.tombstones.hash_set import content_name, sorted_hashes
from obelics_pipeline.policy.tombstones.keyed import Keyed, make_key
from obelics_pipeline.policy.tombstones.lists import PARSERS, TombstoneCounts, hashes_of
from obelics_pipeline.policy.tombstones.obeyed import noted_exports
from obelics_pipeline.policy.tombstones.tombstones import FOLDER, KEY, UNFINISHED, Tombstones, stored, tombstones_in
from obelics_pipeline.stages.extract.safety import safety_of
from obelics_pipeline.stages.fetch.image_pack import ENDING as PACK
from obelics_pipeline.stages.fetch.named_images import blank_unnamed
from obelics_pipeline.stages.fetch.unit_images import staging_of
from obelics_pipeline.stages.read.robots import origins_in
from obelics_pipeline.stages.shard.validate import problems

REPORTS = ("report.html", "report-against.html")
PAGE = ".html"  # of obelics explain and others: it shows texts, by which nothing can be known again
CARD = ("README.md", "croissant.json")  # somebody may have written in it: it is not removed
EXPORT = "export-"  # begins the names of the folders that obelics export writes to where none is given
Say = Callable[[str], None]


@dataclass
class Done:
    """What a forget did, or would do with `--dry-run`."""

    lists: TombstoneCounts = field(default_factory=TombstoneCounts)
    found: ToForget = field(default_factory=ToForget)
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
) -> Done:
    """Remove what lists name: `lists` are files by kind, urls, domains or hashes.

    Without lists it goes on with what was begun, and looks once more for what is forgotten already: files may have been
    given back from elsewhere. Raises UserError for a folder that is no run's, for lists with bad
    lines unless `skip_bad`, and where another is at work in the folder; Stopped where the disk is full: then nothing
    is lost, and the same command goes on.
    """
    run = RunFolder(location(folder))
    run.refuse_other_format()
    if not any(size_of(run.path / name) is not None for name in (MARK, run.manifest.name, run.index.name)):
        raise UserError(f"{folder}: no run is there; give the --output of obelics run")
    if not lists and size_of(run.path / FOLDER / UNFINISHED) is None and not stored(run.path / FOLDER):
        raise UserError(f"{folder}: nothing to forget: give --urls, --domains or --hashes FILE")
    with _errors_in_one_line(run), run.locked():
        _refuse_revisions(run)
        if dry_run:
            with _trial(run, key) as (keyed, target):
                return _Work(run, keyed, target, say).dry(lists, skip_bad, plans)
        keyed = make_key(run.path / FOLDER / KEY, key)
        work = _Work(run, keyed, run.path / FOLDER, say)
        earlier = work.go_on()
        if earlier is not None and not lists:
            earlier.plans = work.plans(plans)
            return earlier
        return work.take_back(lists, skip_bad, plans)


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
def _errors_in_one_line(run: RunFolder) -> Iterator[None]:
    """Turn a full disk, a read-only folder or lost credentials into Stopped or UserError."""
    try:
        yield
    except OSError as error:
        if error.errno in (*DISK_FULL, errno.EFBIG):
            raise Stopped(disk_full(error)) from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise UserError(f"{error.filename}: {error.strerror}; make it writable") from None
        if (why := access_lost(error)) is not None and not is_local(run.path):
            raise Stopped(
                f"{run.path}: no access ({why}); see the credentials; then go on by the same command"
            ) from None
        raise


@contextmanager
def _trial(run: RunFolder, key: Path | None) -> Iterator[tuple[Keyed, Location]]:
    """A folder of tombstones beside, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="obelics-forget-") as name:
        target = Path(name)
        own = run.path / FOLDER / KEY
        if size_of(own) is None:
            yield make_key(target / KEY, key), target
            return
        with local_copy(own) as path:
            yield make_key(target / KEY, path), target


class _Work:
    def __init__(self, run: RunFolder, keyed: Keyed, target: Location, say: Say) -> None:
        self._run, self._keyed, self._target, self._say = run, keyed, target, say
        self._config = _config_of(run)
        self._folders = list(dict.fromkeys([target, run.path / FOLDER]))
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
        done.found, _, files = self._find("hashes" in lists)
        done.images = len(files)
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

    def _find(self, hashes: bool) -> tuple[ToForget, set[str], set[str]]:
        return Finder(self._run, self._config, self._keyed, self._folders, self._target).find(hashes)

    def _known(self) -> Tombstones | None:
        return tombstones_in(self._folders, self._config.dedup)

    def plans(self, given: Sequence[Path]) -> list[Affected]:
        """The plans of training that hold what is forgotten: those given, and those beside the run."""
        known = self._known()
        if known is None:
            return []
        asked = [path.resolve() for path in given]
        near = plans_near(self._run.path.resolve()) if isinstance(self._run.path, Path) else []
        found = (affected(path, known.document, path in asked) for path in dict.fromkeys([*asked, *near]))
        return [plan for plan in found if plan is not None]

    def _apply(self, done: Done) -> None:
        found = self._pending.found()
        if found is None:
            found, urls, files = self._find(self._pending.hashes)
            self._pending.note(found, urls, files)
        done.found = found
        known = self._known()
        if known is not None:
            gone = Gone(known, self._pending, found)
            self._shards(gone, found, done)
            self._files(gone, found, done)
            self._made_of_it(done)
            self._account(done)
            self._note(done)
        self._pending.end()

    def _shards(self, gone: Gone, found: ToForget, done: Done) -> None:
        """The tars, the index and the manifest, all at once."""
        if size_of(self._run.manifest) is None:
            self._unpublish()
            return
        look_into = not unit_names(self._run.extract)  # nobody knows which documents have a forgotten image
        shards = Shards(self._run, gone.document, gone.image)
        done.shards = shards.rewrite(self._switch, lambda doc_id: look_into or doc_id in found.edited)
        self._pending.note_written(done.shards.shards)
        self._switch.go()
        done.freed += done.shards.freed

    def _unpublish(self) -> None:
        """Remove the tars of a run that did not finish: it writes them again, of what is left."""
        remove(self._run.shards / name for name in files_below(self._run.shards))
        remove([self._run.index, self._run.validated])

    def _files(self, gone: Gone, found: ToForget, done: Done) -> None:
        """Everything else in the folder."""
        self._inputs(gone, done)
        rewriter = Rewriter(self._run, gone, found)
        rewriter.units()
        self._sweep()
        skip = {self._run.images.name, self._run.shards.name, FOLDER, "input"}
        own = (self._run.index.name, self._run.manifest.name, *REPORTS)
        for name in files_below(self._run.path):
            where = self._run.path / name
            first = name.split("/")[0]
            if first in skip or first.startswith(EXPORT) or name in own:
                continue
            if name.endswith(".parquet") and not self._is_of_unit(name):
                rewriter.loose(where)
            elif name.endswith(PAGE) and names_something(where, gone.strike):
                remove([where])
                done.remake.append(f"{where} (removed): it showed what is forgotten")
            elif is_text(name):
                done.freed += strike_file(where, gone.strike, lines_go="/journal/" in f"/{name}")
        if not isinstance(self._run.path, Path):
            for folder in (self._run.fetch, self._run.consent_answers):
                for path in sorted((scratch_of(folder) / "journal").glob("*.jsonl")):
                    strike_file(path, gone.strike, lines_go=True)
            remove_tree(scratch_of(self._run.consent_again))  # a list of addresses, and a round that is not finished
        done.files = rewriter.files
        done.freed += rewriter.freed
        self._captures(gone, done)
        done.images = len(rewriter.images)
        self._images(gone, done)

    def _captures(self, gone: Gone, done: Done) -> None:
        """Remove tables of robots.txt captures that name a removed host. The next run makes them again."""
        for name in names_in(self._run.robots_captures):
            where = self._run.robots_captures / name
            if name.endswith(".sqlite") and any(gone.url(origin) for origin in origins_in(where)):
                remove([where])
                done.remake.append(f"{where} (removed): the next run reads the captures again")

    def _inputs(self, gone: Gone, done: Done) -> None:
        """WARC files that lie in the folder itself, as the demo's do; those elsewhere do not belong to the run."""
        if not isinstance(self._run.path, Path):
            return
        for path in sorted(self._run.path.rglob(f"*{ENDING}")):
            done.records += blank_records(path, gone.address)

    def _images(self, gone: Gone, done: Done) -> None:
        remove_tree(staging_of(self._run.fetch))  # of buckets that are not done: they ask again
        files = files_below(self._run.images)
        for name, size in files.items():
            sha256 = name.rpartition("/")[2]
            if len(sha256) == 64 and gone.sha256(sha256):
                remove([self._run.images / name])
                done.images, done.freed = done.images + 1, done.freed + size
        packs = [name for name in files if name.endswith(PACK)]
        done.freed += blank_unnamed(self._run.images, packs, [self._run.fetch], lambda sha256: not gone.sha256(sha256))

    @lru_cache(maxsize=1)  # noqa: B019 - an object lives as long as a command
    def _unit_folders(self) -> tuple[str, ...]:
        names = (name.split("/") for name in files_below(self._run.path) if name.endswith(".json"))
        return tuple(sorted({"/".join(p[:-2]) for p in names if len(p) > 2 and p[-2] == "manifests"}))

    def _is_of_unit(self, name: str) -> bool:
        """Whether a file lies where units have theirs, whose manifests name it."""
        parts = name.split("/")
        return any("/".join(parts[:n]) in self._unit_folders() for n in range(1, len(parts)))

    def _sweep(self) -> None:
        """Remove what units had before they were rewritten, where a kill left it."""
        for folder in self._unit_folders():
            where = self._run.path / folder
            named = {f["name"] for m in read_manifests(where, unit_names(where)).values() for f in m.files.values()}
            stray = [n for n in files_below(where) if n.endswith((".parquet", ".tar")) and n not in named]
            remove(where / n for n in stray if TEMPORARY not in n)

    def _made_of_it(self, done: Done) -> None:
        """Remove what was made from the run (exports, map, reports), and note which command makes it again."""
        changed = bool(done.shards.shards or done.shards.removed or done.files)
        if not changed:
            return
        for name in sorted({n.split("/")[0] for n in files_below(self._run.path) if n.startswith(EXPORT)}):
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

    def _account(self, done: Done) -> None:
        """Write the run's manifest by its units as they are now, and read the changed tars back."""
        if size_of(self._run.manifest) is None:
            return
        manifest = read_manifest(self._run.path)
        ledgers = ledgers_now(self._run, self._config, manifest)
        now = replace(manifest, ledgers=ledgers or manifest.ledgers, notes=notes_now(self._run, manifest))
        if now != manifest:
            write_manifest(self._run.path, now)
        written = set(self._pending.written)
        done.problems = problems(
            self._run.path, lambda check, tasks: map(check, (t for t in tasks if t[0].name in written))
        )
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


def _config_of(run: RunFolder) -> RunConfig:
    """The config that a run was made by; the default where it says none."""
    if size_of(run.config) is None:
        return RunConfig()
    with local_copy(run.config) as path:
        return load_config(str(path))
