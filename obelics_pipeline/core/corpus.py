"""A finished run as the corpus that a later run extends: the later run compares its shuffled rows with those of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.commit import Manifest, committed
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import Location, location, read_bytes, write_bytes

FILE = "corpus.json"
STEPS = ("candidates", "uses", "phashes", "passed", "settled")  # whose shuffled rows and verdicts a later run reads
FREE = {"enabled", "keep", "measure_again"}  # settings of dedup that no shuffled row depends on

Options = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Corpus:
    """A finished run: its folder, how many runs it was itself added to, and the names of its units by step.

    `documents` is where those are that its tars were made of.
    """

    folder: RunFolder
    generation: int
    units: Mapping[str, Sequence[str]]
    documents: Location

    def step(self, name: str) -> Location:
        """The folder of a step."""
        return self.folder.shuffled / name

    def manifests(self, name: str) -> Sequence[Manifest]:
        """The units of a step. Raises Damaged where one is gone."""
        return Packed(committed(self.step(name), unit) for unit in self.units.get(name, ()))


def read_corpora(paths: Sequence[str], config: DedupConfig, options: Options) -> list[Corpus]:
    """The runs at these places, and those that they were themselves added to, each once, the oldest first.

    Raises UserError for a place where no finished run is, or one that was compared by other settings.
    """
    found: dict[str, Corpus] = {}
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path not in found:
            value = _read(path, config, options)
            folder = RunFolder(location(path, options))
            documents = folder.path / str(value.get("documents", folder.assembled.name))
            found[path] = Corpus(folder, value["generation"], value["units"], documents)
            waiting += value["against"]
    return sorted(found.values(), key=lambda corpus: (corpus.generation, str(corpus.folder.path)))


def write_corpus(
    folder: RunFolder,
    config: DedupConfig,
    steps: Mapping[str, Sequence[Manifest]],
    generation: int,
    against: Sequence[Corpus],
    documents: str,
) -> None:
    """Note what a later run needs to know of this one; `documents` names the folder of those that are in its tars."""
    value = {
        "documents": documents,
        "generation": generation,
        "settings": _settings(config),
        "against": [redacted(str(corpus.folder.path)) for corpus in against],
        "units": {name: [m.unit for m in steps.get(name, ())] for name in STEPS},
    }
    write_bytes(folder.shuffled / FILE, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())


def _settings(config: DedupConfig) -> dict[str, Any]:
    return config.model_dump(mode="json", exclude=FREE)


def _read(path: str, config: DedupConfig, options: Options) -> dict[str, Any]:
    folder = RunFolder(location(path, options))
    folder.refuse_other_format()
    try:
        value: dict[str, Any] = json.loads(read_bytes(folder.shuffled / FILE))
        theirs = value["settings"]
        if not folder.manifest.exists():
            raise FileNotFoundError(path)
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(
            f"--against {path}: no finished run with dedup.enabled is there; give the --output of one"
        ) from None
    differing = [key for key, ours in _settings(config).items() if theirs.get(key) != ours]
    if differing:
        raise UserError(
            f"--against {path}: was compared by other settings of dedup.{differing[0]} ({theirs.get(differing[0])}); "
            "use those of that run"
        )
    return value
