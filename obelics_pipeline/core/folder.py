"""A run's folder: whose it is, what it was made of, and that only one run works in it at a time."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from obelics_pipeline.core.commit import note, recall, sweep_temporary
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.run import load_resolved
from obelics_pipeline.core.config.yaml_file import differences, dump_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.lease import leased
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.revision_place import FOLDER, MARK, POINTER, base_of
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.storage import (
    Location,
    file_sha256,
    local_copy,
    names_in,
    read_bytes,
    scratch_of,
    size_of,
    sync,
    write_bytes,
)

ORPHANS_SECONDS = 20.0  # how long workers of a killed run may take to notice that their driver is gone
NO_CODE: Mapping[str, str] = MappingProxyType({})
FORMAT = 2  # of a folder; raise it when files or columns get other names. 1 had no note of it


def is_folder_of_run(name: str) -> bool:
    """Whether a run keeps something of its own under this name, or under this name with an ending."""
    places = vars(RunFolder(Path())).values()
    return name in {place.name.partition(".")[0] for place in places} | {
        "input",
        "manifests",
        "export",
        FOLDER,
        POINTER,
    }


class RunFolder:
    """Where the pieces of a run lie: of its current revision, of the one whose folder `where` is, or of a number.

    The first revision in a store is known by its number only: its folder is that of the run.
    """

    def __init__(self, where: Location, number: int | None = None) -> None:
        self.base = base_of(where)  # what a person gives as --output
        revisions = revisions_of(where)
        self.path = path = revisions.current() if number is None else revisions.place(number)
        self.scratch = scratch_of(path)  # on this machine; the folder itself where that is local
        self.extract, self.requests, self.fetch = path / "extract", path / "requests", path / "fetch"
        self.dedup, self.shuffled = path / "dedup", path / "shuffled"
        self.assembled, self.shards = path / "assembled", path / "shards"
        self.images = (path if isinstance(path, Path) else self.base) / "images"  # a store has no links: all share it
        self.images_removed = path / "images-removed.json"  # says that packs are gone on purpose
        self.consent = path / "consent"  # documents by what an opt-out service said; its answers; the lists
        self.consent_answers, self.opt_out_lists = path / "consent-answers", path / "consent-lists"
        self.robots_captures = path / "consent-robots"
        self.consent_again = path / "consent-again"  # what pages and images answered before publication
        self.scores, self.scored = path / "scores", path / "scored"  # what models measured; documents with it, decided
        self.index, self.manifest = path / "index.parquet", path / "manifest.json"
        self.look_up = path / "look-up"  # where documents stand, by URL and id
        self.config, self.events = path / "config.yaml", self.base / "events.jsonl"
        self.duplicates = path / "duplicates.parquet"  # which documents are left out as duplicates, and of which
        self.inputs, self.validated = path / "inputs.json", path / "validated"
        self.stages = path / "stages.json"  # which stages it has, where some are a user's own
        self.training = path / "training.parquet"  # what a training run told of its documents: obelics losses
        self.map = path / "map"  # of the corpus: obelics map

    def refuse_other_format(self) -> None:
        """Raises UserError where another version of this package wrote the folder, with other names of columns."""
        noted = self.noted()
        if noted and noted.get("format") != FORMAT:
            raise UserError(
                f"{self.base}: was written by another version of obelics-pipeline, in format {noted.get('format', 1)}; "
                f"this version reads format {FORMAT}: use that version, or make the run again in a new folder"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one run, once the workers of a killed one are gone.

        Raises UserError where another run is at work in it, or where it cannot be written to.
        """
        with self._locked_here():
            if isinstance(self.base, Path):
                yield
            else:
                with leased(self.base / ".lease"):
                    yield

    @contextmanager
    def _locked_here(self) -> Iterator[None]:
        """Hold it against the other processes of this machine."""
        here = scratch_of(self.base)
        try:
            here.mkdir(parents=True, exist_ok=True)
            lock = (here / ".lock").open("a")
        except OSError as error:
            why = f"cannot be written to ({error.strerror})"
            raise UserError(f"--output {self.base}: {why}; give another folder") from None
        with lock, (here / ".workers").open("a") as workers:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                why = "another run is working there"
                raise UserError(f"--output {self.base}: {why}; wait for it, or stop it") from None
            _wait_for(workers.fileno(), self.base)
            sweep_temporary(self.base)
            revisions_of(self.base).lead_names()
            yield

    def differing(
        self,
        name: str,
        config: RunConfig,
        force: bool,
        sample: float | None = None,
        against: Sequence[str] = (),
        code: Mapping[str, str] = NO_CODE,
    ) -> list[str]:
        """Which values differ from those of the last run in the folder, a line each; nothing is written.

        `sample` is the share of the input that is read, None for all; `against` are the runs that this one is added
        to; `code` is the identity of each stage's code. Raises UserError for a folder that is not a run's, that holds
        the output of another config file, or whose note of that is damaged.
        """
        mark, before, compared = self.path / MARK, sample, _shown(against)
        begun, written_by = "", dict(code)
        if size_of(mark) is None:
            ours = {"input", self.events.name, self.events.stem}  # a run that is killed at once leaves its log alone
            strangers = sorted(p.name for p in self.path.iterdir() if not p.name.startswith(".") and p.name not in ours)
            if strangers and not self.config.exists():
                raise UserError(
                    f"--output {self.base}: is not empty and not the output of a run (it holds {strangers[0]}); "
                    "give an empty or new folder"
                )
        else:
            self.refuse_other_format()
            noted = _values_of(mark, f"remove it to continue with config {name}, or give another folder")
            begun, before, compared = str(noted.get("config")), noted.get("sample"), noted.get("against", [])
            written_by = noted.get("code", {})
            if begun != name and not force:
                raise UserError(
                    f"--output {self.base}: holds the output of config {begun}, not of {name}; give another folder, "
                    "or --force to redo there what differs"
                )
        changed = self._differing_values(config)
        if before != sample:
            changed.append(f"--sample: {before or 'all'} -> {sample or 'all'}")
        if compared != _shown(against):
            changed.append(f"--against: {_listed(compared)} -> {_listed(_shown(against))}")
        if begun and (others := sorted(stage for stage in code if written_by.get(stage, "") != code[stage])):
            changed.append(f"code of {_listed(others)}: another version of this package, a library or Python")
        return changed

    def claim(
        self,
        name: str,
        config: RunConfig,
        sample: float | None = None,
        against: Sequence[str] = (),
        code: Mapping[str, str] = NO_CODE,
    ) -> None:
        """Note that the folder is this run's: see `differing`. What is secret in the config is not written."""
        noted: dict[str, Any] = {"config": name, "format": FORMAT} | ({"sample": sample} if sample else {})
        noted |= ({"against": _shown(against)} if against else {}) | ({"code": dict(code)} if code else {})
        note(self.path / MARK, noted)
        write_bytes(self.config, dump_config(config).encode())
        self._sync_names()

    def noted(self) -> dict[str, Any]:
        """What the folder says it is: the name of its config, and of a sample its share; empty if it says nothing."""
        try:
            found = recall(self.path / MARK)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def refuse_other_input(self, names: Iterable[str]) -> None:
        """Raises UserError where the folder holds the output of other files altogether."""
        known = self._known_inputs()
        if known and known.keys().isdisjoint(names):
            raise UserError(
                f"--output {self.base}: holds the output of other input ({min(known)}, …); give another folder, name "
                "the old input as well to add to it, or --force to replace it"
            )

    def changed_inputs(self, versions: Mapping[str, str]) -> set[str]:
        """The names of sources that are not what an earlier run read under the same name."""
        known = self._known_inputs()
        return {name for name, version in versions.items() if known.get(name, version) != version}

    def note_inputs(self, versions: Mapping[str, str]) -> None:
        """Remember what is read under each name, once nothing is left that was read of another state of it."""
        if self._known_inputs() != versions:
            note(self.inputs, dict(versions))
            self._sync_names()

    def _sync_names(self) -> None:
        """Bring the names in the folder to the disk: after a power cut nothing else would say whose it is."""
        if isinstance(self.path, Path):
            sync(self.path)

    def differing_inputs(self, versions: Mapping[str, str]) -> list[str]:
        """How the input differs from that of the last run in the folder, a line for each kind of difference."""
        known = self._known_inputs()
        if not known:
            return []
        kinds = {
            "new": versions.keys() - known.keys(),
            "no longer named": known.keys() - versions.keys(),
            "replaced": self.changed_inputs(versions),
        }
        return [f"--input: {len(names)} {kind} ({_listed(sorted(names))})" for kind, names in kinds.items() if names]

    def _differing_values(self, config: RunConfig) -> list[str]:
        if size_of(self.config) is None:
            return []
        with local_copy(self.config) as path:
            earlier = load_resolved(path)
        return differences(earlier, config) if earlier else [f"{self.config.name}: damaged, so its values are unknown"]

    def _known_inputs(self) -> dict[str, Any]:
        if size_of(self.inputs) is None:
            return {}
        remedy = "remove it if no input was replaced since the last run; if one was, give another folder"
        return _values_of(self.inputs, remedy)

    def all_fetched(self) -> list[Location]:
        """The folders of the fetch units whose images lie in `images`: of all revisions, where these share it."""
        if isinstance(self.base, Path):
            return [self.fetch]
        return [place / self.fetch.name for place in revisions_of(self.base).places().values()]

    def holds_shards(self) -> bool:
        """Whether a finished run published something in it."""
        return size_of(self.manifest) is not None and any(name.endswith(".tar") for name in names_in(self.shards))

    def is_validated(self) -> bool:
        """Whether the shards that the manifest lists were all read back."""
        try:
            return read_bytes(self.validated).strip() == file_sha256(self.manifest).encode()
        except OSError:
            return False

    def mark_validated(self) -> None:
        """Note that they were: a run that is killed before must check when it goes on."""
        write_bytes(self.validated, f"{file_sha256(self.manifest)}\n".encode())
        self._sync_names()

    def sync_results(self) -> None:
        """Bring the names of the tars, the index, its parts and the look-ups, and of their manifests, to the disk.

        A power cut must not take them: a tar without a manifest is made again, and until then the run is not finished.
        """
        shards, look_up = self.shards, self.look_up
        units = (self.path / "manifests", shards / "manifests", look_up / "manifests")
        for folder in (*units, shards, shards / "index", look_up):
            if isinstance(folder, Path) and folder.is_dir():
                sync(folder)
        self._sync_names()


def _values_of(noted: Location, remedy: str) -> dict[str, Any]:
    """The JSON object that a note of the folder holds. Raises UserError where it is not as it was written."""
    try:
        values = recall(noted)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise UserError(f"{noted}: is damaged (it must hold a JSON object, as it was written); {remedy}")
    return values


def _shown(places: Sequence[str]) -> list[str]:
    return sorted(str(redacted(text)) for text in places)


def _listed(names: Sequence[str], most: int = 3) -> str:
    """A few names in a line."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "") if names else "none"


def _wait_for(workers: int, folder: Location) -> None:
    deadline = time.monotonic() + ORPHANS_SECONDS
    while True:
        try:
            fcntl.flock(workers, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(workers, fcntl.LOCK_UN)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                why = "workers of a killed run are still at work there"
                raise UserError(f"--output {folder}: {why}; stop them first") from None
            time.sleep(0.1)
