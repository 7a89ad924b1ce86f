"""`obelics tensorboard`: the numbers of a training as TensorBoard reads them, made from its journals at any time.

A training writes its own journals and nothing else: what is drawn from them can never hold a step up.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.training.train.journal import EVALUATIONS, METRICS, read_journal

FOLDER = "tensorboard"
SKIPPED = ("attempt", "step", "cursor")  # of a line: they say which it is


def tensorboard(run: Path, output: Path | None = None) -> list[Path]:
    """Write a folder of events for each attempt of a training; returns them. Each call writes all of them again.

    The time of an event is its step in seconds: equal journals give equal bytes. Raises UserError for a folder that is
    no training, and where TensorBoard is not installed.
    """
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError as error:
        raise UserError(
            f"tensorboard needs the package {error.name}: pip install 'obelics-pipeline[tensorboard]'"
        ) from None
    if not (run / METRICS).is_file():
        raise UserError(f"{run}: not the folder of a training (it has no {METRICS}); see: obelics train")
    attempts: dict[int, list[Event]] = {}
    for name, prefix in ((METRICS, ""), (EVALUATIONS, "held_out/")):
        for line in read_journal(run / name):
            event = Event(step=int(line["step"]), wall_time=float(line["step"]))
            for key, value in numbers(line):
                event.summary.value.add(tag=prefix + key, simple_value=value)
            attempts.setdefault(int(line["attempt"]), []).append(event)
    target = output or run / FOLDER
    made = []
    for attempt, events in sorted(attempts.items()):
        data = io.BytesIO()
        writer = RecordWriter(data)
        for event in (Event(file_version="brain.Event:2"), *events):
            writer.write(event.SerializeToString(deterministic=True))
        made.append(target / f"attempt-{attempt:05d}")
        made[-1].mkdir(parents=True, exist_ok=True)
        write_bytes(made[-1] / "events.out.tfevents.0.obelics", data.getvalue())
    return made


def numbers(line: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a line, those of inner parts by their names with slashes; what is null or text is left out."""
    for key, value in line.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{before}{key}/")
        elif isinstance(value, int | float) and (before or key not in SKIPPED):
            yield f"{before}{key}", float(value)
