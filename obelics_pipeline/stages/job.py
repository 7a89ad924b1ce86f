"""A run at work: what it was given, and what its stages hand to each other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from obelics_pipeline.core.commit import Manifest, sweep, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.corpus import Corpus
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import Location
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.policy.opt_outs.lists import OptOuts, prepare
from obelics_pipeline.policy.tombstones.tombstones import FOLDER as FORGOTTEN_FOLDER
from obelics_pipeline.policy.tombstones.tombstones import tombstones_in

Value = TypeVar("Value")


@dataclass(frozen=True)
class Documents:
    """The committed units that hold the documents of a run at some stage, and the folder that they are in."""

    units: Sequence[Manifest]
    folder: Location


class Job:
    """One run. Each stage reads what the stages before it left here, and leaves what it made.

    `extracted` are the units of the first stage and `documents` those of the last stage that had documents; `answers`
    says the result of each image URL and `overused` which images look the same in too many documents, both by unit of
    documents; `tars` are the units of the last stage. `row_files` says where each file of rows is, by its name: images
    that came with rows are read there once more.
    """

    def __init__(
        self,
        folder: RunFolder,
        config: RunConfig,
        runner: StageRunner,
        columns: Sequence[str] = (),
        earlier: Sequence[Corpus] = (),
        sample: float | None = None,
        forgotten: Sequence[Location] = (),
        retry: Sequence[str] = (),
        asked: Location | None = None,
    ) -> None:
        """`columns` are the scores of a document, of all stages in their order.

        `sample` is the share of the units that is read: every score of these is measured, every image fetched.

        `forgotten` are folders of tombstones of other corpora. What this one removed is left out as well; but that is
        in no unit's id, because `obelics forget` has brought the units that were done into line.

        `retry` are the reasons for which what failed is asked for once more. Where `asked` is given, the answers of an
        opt-out service that are committed there are all that is known, and nobody is asked.
        """
        self.folder, self.config, self.runner, self.columns = folder, config, runner, columns
        self.earlier, self.sample, self.retry, self.asked = earlier, sample, retry, asked
        self.notes: dict[str, Any] = {}  # for the manifest
        self.ledgers: dict[str, Ledger] = {}  # the run's: records, documents, images, urls
        self.extracted: Sequence[Manifest] = ()
        self.documents = Documents((), folder.extract)
        self.answers, self.overused = Partitions(folder.fetch), Partitions(folder.shuffled)
        self.tars: Sequence[Manifest] = ()
        self.row_files: Mapping[str, str] = {}
        others = tombstones_in(forgotten, config.dedup)
        self.forgotten_elsewhere = others.digest if others is not None else ""
        self.forgotten = tombstones_in([folder.path / FORGOTTEN_FOLDER, *forgotten], config.dedup)
        self._shared: dict[type[Any], Any] = {}

    @functools.cached_property
    def opt_outs(self) -> OptOuts:
        """The opt-out lists of the config, ready to be asked. Raises UserError for one that cannot be read."""
        return prepare(self.config.consent.lists, self.folder.opt_out_lists, self.config.reading.storage_options)

    def shared(self, kind: type[Value], make: Callable[[], Value]) -> Value:
        """The run's one value of a class, made when a stage first asks for it: several stages may need it."""
        if kind not in self._shared:
            self._shared[kind] = make()
        found: Value = self._shared[kind]
        return found

    def leave_out(self, stage: str, folder: Location) -> None:
        """Remove what a stage wrote under an earlier config, because this config leaves the stage out."""
        earlier = unit_names(folder)
        if earlier:
            self.runner.begin(stage, len(earlier), len(earlier))
        sweep(folder, [])

    def lost(self) -> list[str]:
        """Ledgers that do not balance, each as a line."""
        return [f"{noun}: {ledger.to_json()}" for noun, ledger in self.ledgers.items() if not ledger.balanced()]
