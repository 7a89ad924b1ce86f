"""A run's folder: whose it is, what it was made of, and that only one run works in it at a time."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from obelics_pipeline.commit import sweep_temporary
from obelics_pipeline.config import RunConfig
from obelics_pipeline.config.run import load_resolved
from obelics_pipeline.config.yaml_file import differences, dump_config
from obelics_pipeline.errors import UserError
from obelics_pipeline.lease import leased
from obelics_pipeline.storage import Place, file_sha256, local_copy, read_bytes, scratch_of, write_bytes

ORPHANS_SECONDS = 20.0  # how long workers of a killed run may take to notice that their driver is gone
MARK = "run.json"  # says that a folder is a run's, and under which config name it was begun


class RunFolder:
    """Where the pieces of a run lie."""

    def __init__(self, path: Place) -> None:
        self.path = path
        self.scratch = scratch_of(path)  # on this machine; the folder itself where that is local
        self.extract, self.requests, self.fetch = path / "extract", path / "requests", path / "fetch"
        self.dedup, self.exchange = path / "dedup", path / "exchange"
        self.site = path / "site"
        self.assembled, self.shards, self.images = path / "assembled", path / "shards", path / "images"
        self.consent = path / "consent"  # documents by what an opt-out service said; its answers; the lists
        self.consent_answers, self.opt_out_lists = path / "consent-answers", path / "consent-lists"
        self.robots_captures = path / "consent-robots"
        self.scores, self.scored = path / "scores", path / "scored"  # what models measured; documents with it, decided
        self.index, self.manifest = path / "index.parquet", path / "manifest.json"
        self.config, self.events = path / "config.yaml", path / "events.jsonl"
        self.duplicates = path / "duplicates.parquet"  # which documents are left out as duplicates, and of which
        self.inputs, self.validated = path / "inputs.json", path / "validated"
        self.training = path / "training.parquet"  # what a training run told of its documents: obelics losses
        self.map = path / "map"  # of the corpus: obelics map

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one run, once the workers of a killed one are gone.

        Raises UserError where another run is at work in it, or where it cannot be written to.
        """
        with self._locked_here():
            if isinstance(self.path, Path):
                yield
            else:
                with leased(self.path / ".lease"):
                    yield

    @contextmanager
    def _locked_here(self) -> Iterator[None]:
        """Hold it against the other processes of this machine."""
        try:
            self.scratch.mkdir(parents=True, exist_ok=True)
            lock = (self.scratch / ".lock").open("a")
        except OSError as error:
            why = f"cannot be written to ({error.strerror})"
            raise UserError(f"--output {self.path}: {why}; give another folder") from None
        with lock, (self.scratch / ".workers").open("a") as workers:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                why = "another run is working there"
                raise UserError(f"--output {self.path}: {why}; wait for it, or stop it") from None
            _wait_for(workers.fileno(), self.path)
            sweep_temporary(self.path)
            yield

    def claim(self, name: str, config: RunConfig, force: bool, sample: float | None = None) -> list[str]:
        """Take the folder for a config; returns which values differ from those of the last run in it.

        `sample` is the share of the input that is read, None for all. Raises UserError for a folder that is not a
        run's, or that holds the output of another config file.
        """
        mark, before = self.path / MARK, sample
        if not mark.exists():
            strangers = sorted(p.name for p in self.path.iterdir() if not p.name.startswith("."))
            if strangers and not (self.config.exists() or strangers == ["input"]):
                raise UserError(
                    f"--output {self.path}: is not empty and not the output of a run (it holds {strangers[0]}); "
                    "give an empty or new folder"
                )
        else:
            noted = json.loads(read_bytes(mark))
            begun, before = noted["config"], noted.get("sample")
            if begun != name and not force:
                raise UserError(
                    f"--output {self.path}: holds the output of config {begun}, not of {name}; give another folder, "
                    "or --force to redo there what differs"
                )
        changed = differences(self._earlier_config(), config) if self.config.exists() else []
        if before != sample:
            changed.append(f"--sample: {before or 'all'} -> {sample or 'all'}")
        write_bytes(mark, (json.dumps({"config": name} | ({"sample": sample} if sample else {})) + "\n").encode())
        write_bytes(self.config, dump_config(config).encode())
        return changed

    def noted(self) -> dict[str, Any]:
        """What the folder says it is: the name of its config, and of a sample its share; empty if it says nothing."""
        try:
            found = json.loads(read_bytes(self.path / MARK))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def refuse_other_input(self, names: Iterable[str]) -> None:
        """Raises UserError where the folder holds the output of other files altogether."""
        known = self._known_inputs()
        if known and known.keys().isdisjoint(names):
            raise UserError(
                f"--output {self.path}: holds the output of other input ({min(known)}, …); give another folder, name "
                "the old input as well to add to it, or --force to replace it"
            )

    def changed_inputs(self, versions: Mapping[str, str]) -> set[str]:
        """The names of sources that are not what an earlier run read under the same name; remembers the new state."""
        known = self._known_inputs()
        changed = {name for name, version in versions.items() if known.get(name, version) != version}
        write_bytes(self.inputs, (json.dumps(dict(versions), indent=1) + "\n").encode())
        return changed

    def _earlier_config(self) -> dict[str, Any]:
        with local_copy(self.config) as path:
            return load_resolved(path)

    def _known_inputs(self) -> dict[str, str]:
        known: dict[str, str] = json.loads(read_bytes(self.inputs)) if self.inputs.exists() else {}
        return known

    def is_validated(self) -> bool:
        """Whether the shards that the manifest lists were all read back."""
        try:
            return read_bytes(self.validated).decode().strip() == file_sha256(self.manifest)
        except OSError:
            return False

    def mark_validated(self) -> None:
        """Note that they were: a run that is killed before must check when it goes on."""
        write_bytes(self.validated, f"{file_sha256(self.manifest)}\n".encode())


def _wait_for(workers: int, folder: Place) -> None:
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
