"""When each signal of a run left its range: what came first says where to look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obelics_pipeline.training.diagnosis.robust import SMALLEST, Numbers, robust_deviation

FAR = 6.0  # spreads from which a value is out of its range
BASELINE = 256  # steps before a window that are read
RECENT = 64  # values that a signal's range is told from
FEWEST = 8  # values that a range is told from, at least
LEAST = {"loss": 0.01, "log_z": 0.01}  # shares of the median that are noise whatever the spread says
SMALLEST_OF = {"clip_share": 0.01}  # of a number that may stand still at 0: spreads that are none
GAP = 3  # steps within which a signal may be in its range again and the spike is still the same
ALWAYS = ("loss", "grad_norm", "log_z", "log_z_max", "clip_share")


@dataclass(frozen=True, eq=False)
class Signal:
    """A number of the run, by step; `z` are spreads above what was to be expected. Not each step has one."""

    name: str
    steps: np.ndarray
    values: Numbers
    z: Numbers

    def first_out(self, last: int) -> int | None:
        """The step at which it left its range and, short gaps aside, stayed out until `last`; None if it is back."""
        out = self.steps[(np.abs(self.z) > FAR) & (self.steps <= last)]
        if not len(out) or last - out[-1] > GAP * self._apart():
            return None
        first = int(out[-1])
        for step in out[::-1].tolist():
            if first - step > GAP * self._apart():
                break
            first = step
        return first

    def _apart(self) -> int:
        """Steps between two values: activations are sampled."""
        return int(np.median(np.diff(self.steps))) if len(self.steps) > 1 else 1


def signals_of(lines: Sequence[Mapping[str, Any]], first: int) -> list[Signal]:
    """All signals of the steps from `first` on; the steps before it tell their ranges."""
    found = []
    for name, points in _points(lines).items():
        steps, values = np.array([s for s, _ in points]), np.array([v for _, v in points])
        before, inside = values[steps < first], steps >= first
        if len(before) < FEWEST:  # the beginning of a run, or a window as long as it: its own first half has to do
            before = values[: max(FEWEST, len(values) // 2)]
        if np.any(inside):
            least, smallest = LEAST.get(name, 0.001), SMALLEST_OF.get(name, SMALLEST)
            z = _beyond(before, values[inside], least, smallest)
            found.append(Signal(name, steps[inside], values[inside], z))
    return found


def _beyond(before: Numbers, values: Numbers, least: float, smallest: float) -> Numbers:
    """Spreads that each value is above the straight line through those before it: a young loss falls all the time.

    A spike of some steps moves no median of 32. `least` is the smallest spread as a share of the value, `smallest` as
    a number.
    """
    known, found = [v for v in before.tolist() if np.isfinite(v)], []
    for value in values.tolist():
        expected, scale = _line(np.array(known[-RECENT:]))
        z = (value - expected) / max(scale, least * abs(expected), smallest) if np.isfinite(value) else np.inf
        found.append(z)
        if np.isfinite(value):
            known.append(value)
    return np.array(found)


def _line(values: Numbers) -> tuple[float, float]:
    """The value to come, and the spread around the line through the medians of the two halves."""
    half = len(values) // 2
    if not half:
        return (float(values[0]), 0.0) if len(values) else (0.0, np.inf)
    early, late = float(np.median(values[:half])), float(np.median(values[-half:]))
    slope = (late - early) / (len(values) - half)
    at = np.arange(len(values)) - (len(values) - (half + 1) / 2)  # from the middle of the later half
    return late + slope * (half + 1) / 2, robust_deviation(values - slope * at)


def onset_of(signals: Sequence[Signal], step: int) -> int:
    """The step at which the spike that `step` is in begins: the first that loss or gradients left their range at."""
    main = [signal for signal in signals if signal.name in ("loss", "grad_norm")]
    return min([at for signal in main if (at := signal.first_out(step)) is not None], default=step)


@dataclass(frozen=True)
class Lead:
    """A signal that left its range, `before` steps before the loss did (negative: after it), and how far it went."""

    name: str
    step: int
    before: int
    farthest: float  # spreads


def leads(signals: Sequence[Signal], step: int) -> list[Lead]:
    """What left its range up to a step, the earliest first."""
    of_loss = next((at for s in signals if s.name == "loss" and (at := s.first_out(step)) is not None), step)
    found = []
    for signal in signals:
        at = signal.first_out(step)
        if at is not None:
            there = signal.z[(signal.steps >= at) & (signal.steps <= step)]
            found.append(Lead(signal.name, at, of_loss - at, float(there[np.abs(there).argmax()])))
    return sorted(found, key=lambda lead: (lead.step, -abs(lead.farthest), lead.name))


def _points(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """Step and value of each signal: of the whole batch, of data sets, of activations and gradients of modules."""
    found: dict[str, list[tuple[int, float]]] = {}

    def note(name: str, step: int, value: Any) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.setdefault(name, []).append((step, float(value)))

    for line in lines:
        step = line["step"]
        for name in ALWAYS:  # null: it was no number
            note(name, step, math.nan if name in line and line[name] is None else line.get(name))
        for name, of_it in (line.get("datasets") or {}).items():
            note(f"loss of {name}", step, of_it.get("loss"))
        for name, of_it in (line.get("activations") or {}).items():
            note(f"activations {name}", step, of_it.get("rms"))
        for name, value in (line.get("gradients") or {}).items():
            note(f"gradients {name}", step, value)
    return found
