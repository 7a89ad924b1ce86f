"""What a stage costs, for `obelics check`: how to measure it on a sample, and what must be assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.stages.assumptions import Assumptions

if TYPE_CHECKING:
    from obelics_pipeline.stages.job import Job

# tasks; cpu, wall in seconds; read, written, and removed at the end in bytes; puts, gets, sites in requests
Amounts = Mapping[str, Interval]


@dataclass(frozen=True)
class Ahead:
    """The work of a run that has not started: its whole input, as a sample estimates it, and its machines."""

    counts: Mapping[str, Interval]  # urls, hosts, images, images_in_shards, shard_bytes, documents, …
    config: RunConfig
    assumed: Assumptions
    units: int  # of the first stage
    input_bytes: int
    remote_input: bool
    wait: float  # seconds of a request to the store; 0 where the output is on a disk


def _nothing(_ahead: Ahead) -> Amounts:
    return {}


@dataclass(frozen=True)
class Cost:
    """By default a stage is done on a few units, and what these cost grows with the input."""

    sampled: bool = True  # whether it is done on them: not where it asks others, or needs images
    asks: Callable[[Job, RunConfig], Sequence[str]] | None = None  # of what is not: the addresses that it would ask for
    beyond: Callable[[Ahead], Amounts] = _nothing  # what the whole costs beside what was measured
    puts_beyond: tuple[str, ...] = ()  # steps whose puts `beyond` tells: they are no more where the input is more
