"""Faults, each drawn from a seed, and planted into a training that was put together and not yet run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import torch

from benchmarks.planted.corpus import ROWS
from obelics_pipeline.training.train import loop
from obelics_pipeline.training.train.state import schedule
from obelics_pipeline.training.train.training import Training

LASTING = ("pages", "logits", "climb", "moments")
"""What the optimiser does to the model: weights change in its updates only, each of them one that it may make."""
FAULTS = ("document", "collapse", "projection", "growth", "rate", "bit", "nan", *LASTING, "zero", "frozen")


@dataclass(frozen=True)
class Planted:
    """A fault at a step, in words."""

    name: str
    at: int
    what: str


@contextmanager
def planted(name: str, training: Training, at: int, seed: int) -> Iterator[Planted]:
    """Plant a fault so that it strikes at step `at` of a training that goes on from `at` - 1 at the latest."""
    draw = np.random.default_rng([seed, FAULTS.index(name)])
    with _PLANT[name](training, at, draw) as what:
        yield Planted(name, at, what)


@contextmanager
def _document(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """Rows of one to three steps that are noise, one token over and over, or a page of another language's letters."""
    kind, steps = str(draw.choice(["noise", "one token", "few tokens"])), int(draw.integers(1, 4))
    rows = int(draw.integers(2, ROWS + 1))
    reader: Any = training.feed.reader
    words, tokens = training.plan.about["tokenizer"]["words"], training.plan.sequence_tokens
    for step in range(at, at + steps):
        for row in range((step - 1) * ROWS, (step - 1) * ROWS + rows):
            few = draw.integers(0, words, {"noise": words, "one token": 1, "few tokens": 6}[kind])
            reader.garbled[row] = draw.choice(few, 2 * tokens)
    yield f"{kind}, {rows} of {ROWS} rows, {steps} steps"


def _after_update(training: Training, change: Callable[[int], None]) -> Any:
    """A model_and_optimizer whose update is followed by `change`, which is told the step."""
    model_and_optimizer, steps = training.model_and_optimizer, _steps_of(training)
    update = model_and_optimizer.update

    def changed(norm: Any, clip: float | None) -> None:
        update(norm, clip)
        with torch.no_grad():
            change(steps[-1])

    return mock.patch.object(model_and_optimizer, "update", changed)


def _steps_of(training: Training) -> list[int]:
    """A list whose last item is the step that is on."""
    seen: list[int] = []
    look = training.machines.look

    def looked(step: int) -> Any:
        seen.append(step)
        return look(step)

    training.machines.look = looked  # type: ignore[method-assign]
    return seen


@contextmanager
def _collapse(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """Logits that fall together: the last layer's weights shrink in one update."""
    factor = float(draw.choice([0.03, 0.1, 0.2, 0.3]))
    names = training.model_and_optimizer.names
    name = next(n for n in names if "lm_head" in n)
    left = [1]

    def change(step: int) -> None:
        if step == at and left:
            left.pop()
            names[name].mul_(factor)

    with _after_update(training, change):
        yield f"{name} times {factor}"


def _projection(training: Training, draw: np.random.Generator) -> str:
    matrices = [
        n for n, p in training.model_and_optimizer.names.items() if p.ndim == 2 and ("cross" in n or ".layers." in n)
    ]
    return str(draw.choice(matrices))


@contextmanager
def _explode(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """A projection's weights are many times what they were, after one update."""
    name, factor = _projection(training, draw), float(np.exp(draw.uniform(np.log(6), np.log(80))))
    left = [1]

    def change(step: int) -> None:
        if step == at and left:
            left.pop()
            training.model_and_optimizer.names[name].mul_(factor)

    with _after_update(training, change):
        yield f"{name} times {factor:.1f}"


@contextmanager
def _growth(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """A projection's weights grow by some percent in each update, until the training has gone back once."""
    name, factor = _projection(training, draw), 1 + float(np.exp(draw.uniform(np.log(0.02), np.log(0.12))))
    last = [0]

    def change(step: int) -> None:
        if last[0] >= 0 and at <= step <= at + 120:
            last[0] = -1 if step <= last[0] else step
            if last[0] > 0:
                training.model_and_optimizer.names[name].mul_(factor)

    with _after_update(training, change):
        yield f"{name} times {factor:.3f} a step"


@contextmanager
def _rate(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """After a resume the schedule begins anew, or the optimiser has a rate of its own; until it is resumed again."""
    attempts: list[int] = []
    read = training.keeping.read
    factor = float(np.exp(draw.choice([-1, 1]) * draw.uniform(np.log(1.1), np.log(20))))
    anew = bool(draw.random() < 0.5)

    def reads(kept: Any, attempt: int) -> Any:
        attempts.append(attempt)
        return read(kept, attempt)

    def shifted(step: int, section: Any, changes: Any = ()) -> float:
        wrong = anew and len(attempts) == 1
        return schedule.lr(max(1, step - at + 1) if wrong else step, section, changes)

    real = training.model_and_optimizer.set_rate

    def set_rate(rate: float, decay: float) -> None:
        real(rate * factor if not anew and len(attempts) == 1 else rate, decay)

    names = {n: getattr(schedule, n) for n in ("weight_decay", "clip", "ScheduleSection")}
    with (
        mock.patch.object(training.keeping, "read", reads),
        mock.patch.object(loop, "schedule", mock.Mock(lr=shifted, **names)),
        mock.patch.object(training.model_and_optimizer, "set_rate", set_rate),
    ):
        yield "the schedule begins anew" if anew else f"the optimiser's rate times {factor:.3g}"


@contextmanager
def _bit(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """One bit of a trained weight flips: before a step's gradient is computed, or after it."""
    # of several processes one may have no part of a small parameter
    names = [name for name, weight in training.model_and_optimizer.names.items() if _local(weight).numel()]
    name, bit, late = str(draw.choice(names)), int(draw.integers(0, 32)), bool(draw.random() < 0.5)
    where = float(draw.random())
    gradient, steps, left = training.model_and_optimizer.gradient, _steps_of(training), [1]

    def flip() -> None:
        left.pop()
        weight: Any = training.model_and_optimizer.names[name]
        flip_bit(weight, int(where * _local(weight).numel()), bit)

    def computed(batches: Any, between: Any) -> Any:
        strikes = steps[-1] == at and bool(left)
        if strikes and not late:
            flip()
        found = gradient(batches, between)
        if strikes and late:
            flip()
        return found

    with mock.patch.object(training.model_and_optimizer, "gradient", computed):
        yield f"bit {bit} of {name}, {'after' if late else 'before'} the gradient"


def _local(weight: Any) -> torch.Tensor:
    local: torch.Tensor = (weight.to_local() if hasattr(weight, "to_local") else weight).detach()
    return local


def flip_bit(weight: Any, place: int, bit: int) -> None:
    """In the float32 at a place of a tensor, or of this process's part of it."""
    word = _local(weight).view(-1)[place : place + 1].view(torch.int32)
    word.bitwise_xor_(torch.tensor(-(2**31) if bit == 31 else 1 << bit, dtype=torch.int32))


@contextmanager
def _nan(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """One to five steps in which a weight is read as NaN, which it is not."""
    name, steps = (
        str(draw.choice([n for n, w in training.model_and_optimizer.names.items() if w.ndim == 2])),
        int(draw.integers(1, 6)),
    )
    gradient, seen = training.model_and_optimizer.gradient, _steps_of(training)
    left = [steps]

    def computed(batches: Any, between: Any) -> Any:
        if not (at <= seen[-1] and left[0]):
            return gradient(batches, between)
        left[0] -= 1
        place = _local(training.model_and_optimizer.names[name]).view(-1)[:1]
        kept = place.clone()
        place.fill_(float("nan"))
        try:
            return gradient(batches, between)
        finally:
            place.copy_(kept)

    with mock.patch.object(training.model_and_optimizer, "gradient", computed):
        yield f"{name} read as NaN in {steps} steps"


@contextmanager
def _pages(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """Noise in many rows for dozens of steps, until they are left out."""
    kind, steps = str(draw.choice(["noise", "one token", "few tokens"])), int(draw.integers(10, 60))
    share = float(draw.uniform(0.3, 1))
    reader: Any = training.feed.reader
    words, tokens = training.plan.about["tokenizer"]["words"], training.plan.sequence_tokens
    few = draw.integers(0, words, {"noise": words, "one token": 1, "few tokens": 6}[kind])
    for row in range((at - 1) * ROWS, (at - 1 + steps) * ROWS):
        if draw.random() < share:
            reader.garbled[row] = draw.choice(few, 2 * tokens)
    yield f"{kind}, {share:.0%} of the rows of {steps} steps"


def _until_gone_back(training: Training) -> Callable[[], bool]:
    """Whether the training has gone back since this was called: what broke it is then over."""
    reads: list[int] = []
    read = training.keeping.read

    def counted(kept: Any, attempt: int) -> Any:
        reads.append(attempt)
        return read(kept, attempt)

    training.keeping.read = counted  # type: ignore[method-assign]
    return lambda: len(reads) > 1  # the first is the beginning


@contextmanager
def _logits(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """The loss on log z has the wrong sign and a large weight: logits grow, update by update."""
    weight = -float(np.exp(draw.uniform(np.log(0.003), np.log(0.3))))
    seen, over = _steps_of(training), _until_gone_back(training)
    gradient, model_and_optimizer = training.model_and_optimizer.gradient, training.model_and_optimizer
    sound = model_and_optimizer.objective

    def computed(batches: Any, between: Any) -> Any:
        wrong = at <= seen[-1] and not over()
        model_and_optimizer.objective = replace(sound, z_weight=weight) if wrong else sound
        return gradient(batches, between)

    with mock.patch.object(model_and_optimizer, "gradient", computed):
        yield f"weight of log z {weight:.3g}"


@contextmanager
def _climb(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """A person raises the rate in the ledger, step after step, as a trial: the guard's first act ends it."""
    factor, steps = float(np.exp(draw.uniform(np.log(5), np.log(40)))), int(draw.integers(1, 30))
    ledger = training.ledger
    assert ledger is not None
    for step in range(at, at + steps):
        more = {"factor": factor ** (1 / steps), "at": step, "branch": True}
        ledger.append("lr", attempt=ledger.entries[-1].attempt, step=at - 1, why="a trial", **more)
    yield f"the rate times {factor:.1f} over {steps} steps"


@contextmanager
def _moments(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """Moments that remember too long, or too short, beside a rate that is high already."""
    beta1, beta2 = [(0.999, 0.95), (0.99, 0.9999), (0.0, 0.1), (0.9, 0.01)][int(draw.integers(4))]
    rate = float(draw.uniform(2, 12))
    model_and_optimizer, seen, over = training.model_and_optimizer, _steps_of(training), _until_gone_back(training)
    update, groups = model_and_optimizer.update, model_and_optimizer.optimizer.param_groups
    sound = groups[0]["betas"]

    def updated(norm: Any, clip: float | None) -> None:
        wrong = at <= seen[-1] and not over()
        for group in groups:
            group["betas"] = (beta1, beta2) if wrong else sound
            group["lr"] *= rate if wrong else 1  # after the guard has looked at it
        update(norm, clip)
        for group in groups:
            group["betas"] = sound

    with mock.patch.object(model_and_optimizer, "update", updated):
        yield f"beta1 {beta1}, beta2 {beta2}, updates {rate:.1f} times as large"


@contextmanager
def _zero(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """All gradients are zero from a step on."""
    with _without_gradient(training, at, list(training.model_and_optimizer.names)):
        yield "all gradients are zero"


@contextmanager
def _frozen(training: Training, at: int, draw: np.random.Generator) -> Iterator[str]:
    """The gradients of one group of parameters are zero from a step on."""
    group_of = training.instruments._group_of
    group = str(draw.choice(sorted(set(group_of.values()))))
    with _without_gradient(training, at, [name for name, of in group_of.items() if of == group]):
        yield f"gradients of {group} are zero"


@contextmanager
def _without_gradient(training: Training, at: int, names: list[str]) -> Iterator[None]:
    model_and_optimizer, seen = training.model_and_optimizer, _steps_of(training)
    gradient = model_and_optimizer.gradient

    def computed(batches: Any, between: Any) -> Any:
        sums, norm = gradient(batches, between)
        if seen[-1] < at:
            return sums, norm
        for name in names:
            model_and_optimizer.names[name].grad.zero_()
        return sums, model_and_optimizer.norm()

    with mock.patch.object(model_and_optimizer, "gradient", computed):
        yield


_PLANT: dict[str, Callable[[Training, int, np.random.Generator], Any]] = {
    "document": _document,
    "collapse": _collapse,
    "projection": _explode,
    "growth": _growth,
    "rate": _rate,
    "bit": _bit,
    "nan": _nan,
    "pages": _pages,
    "logits": _logits,
    "climb": _climb,
    "moments": _moments,
    "zero": _zero,
    "frozen": _frozen,
}
