"""A stage of a run as one value: all that others need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location
from obelics_pipeline.stages.bounded import Bounded
from obelics_pipeline.stages.cost import Cost
from obelics_pipeline.stages.job import Job


def _always(_config: RunConfig) -> bool:
    return True


def _none(_config: RunConfig) -> tuple[()]:
    return ()


def _no_images(_document: Document) -> Ledger:
    return Ledger("images")


@dataclass(frozen=True)
class Stage:
    """One stage. `run`, `check`, `report`, `explain`, `tune` and `forget` learn from it all that they need.

    `work` plans the units of the stage and does them: it reads the job, and leaves there what it made. Planning is part
    of it, because a stage of several steps plans each on the results of the one before.

    >>> from obelics_pipeline.jobs.stages import STAGES
    >>> [stage.name for stage in STAGES]
    ['extract', 'dedup', 'site', 'consent', 'fetch', 'dedup-images', 'assemble', 'score', 'shard']
    """

    name: str  # on the command line, in events and in ledgers
    title: str  # of its step in the report's funnel
    work: Callable[[Job], None]
    active: Callable[[RunConfig], bool] = _always  # whether a config asks for it; else what it made earlier is removed
    check: Callable[[RunConfig], Sequence[str]] = _none  # raises UserError for what is missing; returns lines to show
    trial: Callable[[Job], None] | None = None  # done before the first unit of a new run, where the stage will work
    documents: str = ""  # the run's folder that its documents are in; empty where it writes none
    label: str = ""  # of its line in `obelics explain`; empty: its name
    with_images: bool = False  # whether its documents have met their images
    decides_again: bool = False  # whether it tries the bounds of the first stage once more
    steps: tuple[str, ...] = ()  # how the names of its further steps begin, in events and below `shuffled`
    ledgers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # step -> the nouns that it counts
    image_ledger: Callable[[Document], Ledger] = _no_images  # how it counts the images of a document that came to it
    columns: Callable[[RunConfig], Sequence[str]] = _none  # scores that it adds to documents
    bounds: Callable[[RunConfig], Sequence[Bounded]] = _none  # of scores, by which it drops documents, in their order
    judges: bool = False  # whether what drops its documents is in its code, and not in `bounds`
    reasons: Mapping[str, str] = field(default_factory=dict)  # why it drops -> in words for people
    cost: Cost = field(default_factory=Cost)  # how `obelics check` learns what it costs
    preload: tuple[str, ...] = ()  # further modules that its workers import before they begin

    def do(self, job: Job) -> None:
        """Do the stage where the config asks for it; else remove what an earlier config made in it."""
        if self.active(job.config):
            self.work(job)
        elif self.documents:
            job.leave_out(self.name, self.folder(job.folder.path))

    def folder(self, run: Location) -> Location:
        """Where its documents are in a run's folder."""
        return run / self.documents

    def owns(self, step: str) -> bool:
        """Whether a step of the event log belongs to it."""
        return step == self.name or step in self.ledgers or step.startswith(self.steps)
