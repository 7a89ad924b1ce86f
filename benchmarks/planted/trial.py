"""One training with one fault, beside the same without: when it was found, and when all was well again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planted.corpus import make_corpus
from benchmarks.planted.faults import LASTING, planted
from benchmarks.planted.trainer import EVERY, config_of, trainer
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.training.train.journal import read_journal

NEAR = 1.01
"""Held-out loss as a multiple of the control's that is recovered."""
AFTER = 300
"""Steps that a control goes on after a fault; trials with faults that are rolled back to the bit need fewer."""
SHORT = 40
IGNORED = ("clip_frequency",)


@dataclass(frozen=True)
class Outcome:
    """`found`, `recovered`: steps made from the fault on, 1 is the first; None: never."""

    fault: str
    seed: int
    at: int
    what: str
    found: int | None
    by: str
    recovered: int | None
    worst_after: float
    actions: tuple[str, ...]
    false: tuple[str, ...]

    @property
    def line(self) -> str:
        """For a person."""
        acts = "; ".join(self.actions) or "nothing"
        return (
            f"{self.fault} {self.seed} at {self.at} ({self.what}): found {self.found} by {self.by}, recovered "
            f"{self.recovered}, end {self.worst_after:.3f} of the control; did: {acts}"
            + (f"; FALSE {self.false}" if self.false else "")
        )


@dataclass(frozen=True)
class Setting:
    """What a seed draws: a corpus, a schedule, and when the fault comes."""

    corpus: Path
    schedule: Mapping[str, Any]
    at: int
    seed: int

    @property
    def begun(self) -> int:
        """The last checkpoint before the fault's step."""
        return (self.at - 1) // EVERY * EVERY

    @classmethod
    def drawn(cls, work: Path, seed: int, after: int = AFTER) -> Setting:
        """Made, where it is not there."""
        draw = np.random.default_rng(seed)
        corpus = work / f"corpus-{seed % 3}"
        make_corpus(corpus, 6000, seed % 3)
        at = int(draw.integers(110, 220))
        shape = str(draw.choice(["cosine", "constant", "linear"]))
        peak, warm = float(np.exp(draw.uniform(np.log(1e-3), np.log(6e-3)))), int(draw.integers(10, 80))
        return cls(corpus, {"peak": peak, "warmup_steps": warm, "shape": shape, "steps": at + after}, at, seed)

    def config(self, steps: int, **more: Any) -> Any:
        """Of a training up to a step."""
        return config_of(self.corpus, steps=steps, schedule=dict(self.schedule), seed=self.seed, **more)


def control(work: Path, setting: Setting, after: int = AFTER, **more: Any) -> tuple[Path, Path]:
    """An undisturbed training: the folder as it was at the last checkpoint before the fault, and that of the end."""
    early, late = work / f"early-{setting.seed}", work / f"control-{setting.seed}"
    if not (late / "model").exists():
        shutil.rmtree(early, ignore_errors=True)
        shutil.rmtree(late, ignore_errors=True)
        with trainer(setting.config(setting.begun, **more), early) as training:
            training.run()
        shutil.copytree(early, late)
        with trainer(setting.config(setting.at + after, **more), late) as training:
            training.run()
    return early, late


def trial(work: Path, setting: Setting, fault: str, after: int = AFTER, **more: Any) -> Outcome:
    """Plant a fault, train on, and compare. A wrong rate comes with the first step after the resume."""
    whole = setting
    if fault == "rate":
        setting = replace(setting, at=setting.begun + 1)
    early, late = control(work, whole, after, **more)
    output = work / f"{fault}-{setting.seed}"
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(early, output)
    with (
        trainer(setting.config(setting.at + _length(fault, after, more), **more), output) as training,
        planted(fault, training, setting.at, setting.seed) as fact,
    ):
        try:
            training.run()
        except Stopped as stopped:
            print("   ", stopped)
    return judged(output, late, fact.name, fact.what, setting)


def _length(fault: str, after: int, more: Mapping[str, Any]) -> int:
    return after if fault in ("document", "nan", *LASTING) or more else min(after, SHORT)


def judged(output: Path, late: Path, fault: str, what: str, setting: Setting) -> Outcome:
    """What came of a training, beside its control."""
    lines = list(read_journal(output / "metrics.jsonl"))
    ledger = [json.loads(line) for line in (output / "ledger.jsonl").read_text().splitlines()]
    made = [(line["attempt"], line["step"]) for line in lines]
    first = next(i for i, (_, step) in enumerate(made) if step == setting.at)
    before = {(e["signal"], e["evidence"]["kind"]) for e in ledger if e["kind"] == "alarm" and e["step"] < setting.at}
    alarms = [
        (made.index((e["attempt"], e["step"])) - first + 1, e["evidence"]["kind"], e["signal"], e["step"])
        for e in ledger
        if e["kind"] == "alarm" and e["step"] >= setting.at and e["evidence"]["kind"] not in IGNORED
    ]
    alarms = [a for a in alarms if a[0] > 0 and ((a[2], a[1]) not in before or a[0] <= 50)]
    found, by = (min(alarms)[0], f"{min(alarms)[1]} {min(alarms)[2]}") if alarms else (None, "nothing")
    acts = [e for e in ledger if e["kind"] in ("skip_update", "rollback", "stop")]
    said = [
        _said(e) for e in acts if e["step"] >= setting.at and not str(e.get("reason")).endswith("config.steps says")
    ]
    false = [_said(e) for e in acts if e["step"] < setting.at and e["kind"] != "stop"]
    ratios = _held_out(output, late, made, first)
    recovered = next((i for i, _ in ratios if all(r <= NEAR for j, r in ratios if j >= i)), None)
    same = _same_curve(lines, late, first)
    if same is not None and (recovered is None or same < recovered):
        recovered = same
    if any(e["kind"] == "stop" and not str(e.get("reason")).endswith("config.steps says") for e in ledger):
        recovered = None
    end = ratios[-1][1] if ratios else float("nan")
    return Outcome(fault, setting.seed, setting.at, what, found, by, recovered, end, tuple(said), tuple(false))


def _said(entry: Mapping[str, Any]) -> str:
    to = f" to {entry['to_step']}" if entry["kind"] == "rollback" else ""
    return f"{entry['kind']} {entry['step']}{to} ({entry.get('why') or entry.get('reason')})"


def _losses(folder: Path) -> dict[tuple[int, int], float]:
    """Held-out loss by attempt and step, the mean of the data sets."""
    return {
        (e["attempt"], e["step"]): float(np.mean([v["loss"] or np.inf for v in e["datasets"].values()]))
        for e in read_journal(folder / "evaluations.jsonl")
    }


def _held_out(output: Path, late: Path, made: list[tuple[int, int]], first: int) -> list[tuple[int, float]]:
    """Steps made from the fault on, and the held-out loss there and at the next two evaluations as a multiple of the
    control's."""
    usual = {step: loss for (_, step), loss in _losses(late).items()}
    places = {key: i - first + 1 for i, key in enumerate(made)}
    losses = _losses(output)
    ratios = [(places[key], losses[key] / usual[key[1]]) for key in losses if key[1] % EVERY == 0]
    ratios = [(place, ratio) for place, ratio in ratios if place > 0]
    # a training that read other rows than its control is a percent off by chance at single evaluations
    return [(place, float(np.mean([r for _, r in ratios[i : i + 3]]))) for i, (place, _) in enumerate(ratios)]


def _same_curve(lines: list[dict[str, Any]], late: Path, first: int) -> int | None:
    """The step, counted from the fault on, from which all losses and gradient norms are the control's, to the bit."""
    usual = {line["step"]: (line["loss"], line["grad_norm"]) for line in read_journal(late / "metrics.jsonl")}
    same = [usual.get(line["step"]) == (line["loss"], line["grad_norm"]) for line in lines[first:]]
    if not same or not same[-1]:
        return None
    return len(same) - next((i for i, s in enumerate(reversed(same)) if not s), len(same)) + 1
