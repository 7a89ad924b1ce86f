"""All signals of a run, read once a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from math import exp, isfinite, log
from typing import Any

from obelics_pipeline.training.train.guard.alarm import EVENTS, JUMPS, Alarm
from obelics_pipeline.training.train.guard.config import GuardConfig
from obelics_pipeline.training.train.guard.mixture import Mixture, mean_at
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.guard.progress import Plateau
from obelics_pipeline.training.train.guard.signals import Climb, Drift, Jump, Memory, Often, Rate, Reading, median

LOSS_FLOOR = 0.002
"""Least deviation of a log loss: a loss in whose noise one could not believe."""
EARLY_DEVIATION = 0.05
"""That of a log loss which has not been seen often enough."""
GRAD_FLOOR = 0.05
LOG_Z_FLOOR = 0.02
ACTIVATION_FLOOR = 0.01
LEAST_SAMPLES = 8
"""Samples of an activation, or a group's gradient, before it is judged: they come every few steps only."""
OF_MANY = 1.6
"""Factor on the deviations and the record of a drift that is one of dozens, or that is to be acted upon."""
DOCUMENT_JUMP = 0.3
"""Least jump of the worst document's loss, difference of logarithms."""
SPREAD_FALL = 1.0
"""Fall of the distance between the largest and the mean log z, difference of logarithms, that is a collapse."""
ZERO_STEPS = 3
"""Steps in a row whose whole gradient is exactly zero that are an alarm: one may have no target."""
ZERO_SAMPLES = 2
"""Samples in a row of a group's gradient likewise: before the first update, closed gates let nothing through."""
OF_A_SET = ("jump", "climb", "drift", "plateau")
"""Tests of a data set's loss."""


@dataclass(frozen=True)
class RawAlarm:
    """A kind of alarm at one signal, at this step."""

    kind: str
    signal: str
    value: float
    z: float


@dataclass
class Panel:
    """The signals and the alarms that they have open."""

    config: GuardConfig
    signals: dict[str, Any] = field(default_factory=dict)
    """By "test name"."""
    rate: Rate = field(default_factory=Rate)
    clips: Often = field(default_factory=lambda: Often(100))
    refused: dict[str, int] = field(default_factory=dict)
    """Steps in a row in which a signal jumped, and was not learnt from."""
    anchors: dict[str, float] = field(default_factory=dict)
    """Logarithm of what was expected of a group when its alarm began."""
    open: dict[str, list[float]] = field(default_factory=dict)
    """By "kind signal": first and last step."""
    zeros: dict[str, int] = field(default_factory=dict)
    """Times in a row that a gradient was exactly zero."""
    losses: dict[str, float] = field(default_factory=dict)
    """Of the step that was judged last: logarithms, that of all data sets as it would be at the usual mix."""
    mixture: Mixture = field(init=False)

    def __post_init__(self) -> None:
        self.mixture = Mixture(self.config.drift_recent, self.config.drift_span, self.config.least)

    def judge(self, seen: Observation) -> list[Alarm]:
        """The alarms of this step, and its numbers remembered."""
        found = list(self._found(seen))
        for f in found:
            if f.kind in EVENTS:
                continue
            times = self.open.setdefault(f"{f.kind} {f.signal}", [seen.step, seen.step])
            times[1] = seen.step
        for key in [k for k, (_, last) in self.open.items() if last < seen.step - self.config.forget]:
            del self.open[key]
            self.anchors.pop(key.partition(" ")[2], None)
        since = {key: int(first) for key, (first, _) in self.open.items()}
        return [Alarm(f.kind, f.signal, f.value, f.z, since.get(f"{f.kind} {f.signal}", seen.step)) for f in found]

    def since(self, kinds: tuple[str, ...] | None = None) -> int | None:
        """First step of the earliest open alarm of these kinds; None where none is open."""
        return min(
            (int(s) for key, (s, _) in self.open.items() if kinds is None or key.split()[0] in kinds), default=None
        )

    def level(self, name: str) -> tuple[float, float]:
        """Level and deviation of a log loss before a jump, which it does not learn from; a guess early in a run."""
        jump = self._jump(name)
        reading = jump.read(jump.values[-1], jump.sums["weight"]) if jump.sums else None
        return (reading.level, reading.scale) if reading else (median(jump.values or [0.0]), EARLY_DEVIATION)

    def right_rate(self, seen: Observation) -> float | None:
        """See `Rate.right`."""
        return self.rate.right(seen.step, seen.lr, seen.lr_expected, seen.lr_before, self.config.lr_off)

    def _found(self, seen: Observation) -> Iterator[RawAlarm]:
        if self.right_rate(seen) is not None:
            yield RawAlarm("learning_rate", "lr", seen.lr, 0.0)
        else:
            self.rate.feed(seen.step, seen.lr_expected / seen.lr_factor)
        yield from (RawAlarm("hardware", f"{h.kind} {h.where}", float(h.corrupts), 0.0) for h in seen.hardware)
        self.losses = {}
        if not seen.healthy:
            yield RawAlarm("nonfinite", "loss" if not isfinite(seen.loss) else "grad_norm", seen.loss, 0.0)
            return
        self._mix(seen)
        losses = self._losses(seen)
        self.losses = {name: value for name, (value, _) in losses.items()}
        yield from self._jumps(seen, losses)
        yield from self._drifts(seen, losses)
        yield from self._log_z(seen)
        yield from self._groups(seen)
        yield from self._zeros(seen)
        yield from self._habits(seen)

    def _mix(self, seen: Observation) -> None:
        """Count of which data sets the step is. While there is one, its loss is that of all, and so is its past."""
        alone = next(iter(self.mixture.shares)) if len(self.mixture.shares) == 1 else None
        targets = _targets(seen)
        if not targets:
            return
        before = dict(self.mixture.usual)
        changed = self.mixture.feed(targets)
        if alone is not None and len(self.mixture.shares) > 1:
            for test in OF_A_SET:
                if f"{test} loss" in self.signals and f"{test} loss:{alone}" not in self.signals:
                    self._signal(test, f"loss:{alone}").load(self.signals[f"{test} loss"].state())
        if changed:
            self._begin_anew(seen.step)
            self._move("loss", lambda mean: log(max(mean, 1e-6)), before)
            self._move("log_z", float, before)

    def _move(self, number: str, scale: Callable[[float], float], before: Mapping[str, float]) -> None:
        """Let jumps of the mean over data sets be told from where it is at the mix that is the usual one now."""
        jump, levels = self.signals.get(f"jump {number}"), self._levels(number)
        old, new = mean_at(before, levels), mean_at(self.mixture.usual, levels)
        known = all(name in levels for name, share in self.mixture.usual.items() if share)
        if jump is not None and old is not None and new is not None and known:
            jump.values = [value + scale(new) - scale(old) for value in jump.values]
        else:
            self.signals.pop(f"jump {number}", None)

    def _begin_anew(self, step: int) -> None:
        """The mix is another one: numbers of the whole batch find another level, and each data set's loss another line.

        What has jumped is still told, by data set: levels of losses and of log z stay.
        """
        anew = [k for k in self.signals if k.startswith(("climb ", "drift ")) or k in _OF_ANY_MIX]
        for key in anew:
            del self.signals[key]
            self.refused.pop(key.partition(" ")[2], None)
        for key in [k for k, (first, _) in self.open.items() if first > step - self.config.drift_recent]:
            if key.partition(" ")[0] not in JUMPS:
                del self.open[key]
                self.anchors.pop(key.partition(" ")[2], None)

    def _losses(self, seen: Observation) -> dict[str, tuple[float, float]]:
        """Log loss and weight: of each data set where there are several, and of all, what their mix explains taken off.

        A step of harder data sets has a higher loss by itself. What is expected of it are the data sets' own losses of
        late, weighted as they stand in the step.
        """
        targets = _targets(seen)
        levels = self._levels("loss")
        own = {n: seen.datasets[n].loss for n in targets}  # expected of a data set that nothing is known of
        here, usual = self.mixture.expected(targets, own | levels)
        losses = {"loss": (seen.loss * usual / here, float(max(sum(targets.values()), 1)))}
        if len(self.mixture.shares) > 1:
            losses |= {f"loss:{n}": (seen.datasets[n].loss, float(t)) for n, t in targets.items()}
        return {n: (log(max(x, 1e-6)), w) for n, (x, w) in losses.items() if isfinite(x)}

    def _new(self, seen: Observation) -> set[str]:
        """Signals of the data sets of this step whose losses were never learnt from."""
        names = {f"loss:{n}" for n in _targets(seen)} if len(self.mixture.shares) > 1 else set()
        return {name for name in names if not self._jump(name).values}

    def _levels(self, number: str) -> dict[str, float]:
        """Median of the latest losses or log z by data set, to see jumps from. Data sets without any are left out."""
        known = {name: self.signals.get(f"jump {number}:{name}") for name in self.mixture.shares}
        late = {name: median(jump.values[-self.config.short :]) for name, jump in known.items() if jump and jump.values}
        return (
            {name: exp(value) for name, value in late.items()} if number == "loss" else late
        )  # losses are kept as logs

    def _jumps(self, seen: Observation, losses: Mapping[str, tuple[float, float]]) -> Iterator[RawAlarm]:
        c = self.config
        grad = log(max(seen.grad_norm, 1e-12))
        zero = seen.grad_norm == 0  # says nothing of how long gradients are: see `_zeros`
        readings = {name: self._jump(name).read(*value) for name, value in losses.items()}
        of_grad = None if zero else self._jump("grad_norm").read(grad)
        top = max((self._over(r, c.loss_z, c.loss_jump) for r in readings.values()), default=0.0)
        grad_over = self._over(of_grad, c.grad_z, c.grad_jump)
        together = top >= c.joint and grad_over >= c.joint
        # beside a loss that jumped, a far gradient need not be a record: windows of young runs hold wild ones
        far = of_grad is not None and of_grad.rise >= c.grad_jump and of_grad.z >= c.grad_z
        new = self._new(seen)
        if new and far:  # the loss of a new data set may be high; beside a far gradient it explains nothing away
            readings["loss"] = self._jump("loss").read(log(max(seen.loss, 1e-6)), losses["loss"][1])
            top = max(top, self._over(readings["loss"], c.loss_z, c.loss_jump))
        together = together or (top >= 1 and far)
        for name, value in losses.items():
            reading = readings[name]
            early = self._early(name, value[0]) if reading is None else False
            over = self._over(reading, c.loss_z, c.loss_jump)
            if early or over >= 1 or (together and (over >= c.joint or name in new)):
                yield RawAlarm("loss_jump", name, _measured(seen, name), reading.z if reading else 0.0)
                self._refuse(name)
            else:
                self._learn(name, *value)
        early = self._early("grad_norm", grad) if of_grad is None else False
        if grad_over >= 1 or together:
            yield RawAlarm("grad_jump", "grad_norm", seen.grad_norm, of_grad.z if of_grad else 0.0)
            if of_grad and of_grad.rise >= c.grad_far:
                yield RawAlarm("grad_far", "grad_norm", seen.grad_norm, of_grad.z)
            self._refuse("grad_norm")
        elif not zero:
            self._learn("grad_norm", grad)
        for name, signs in seen.datasets.items():
            if not signs.worst > 0 or not isfinite(signs.worst):
                continue
            worst = self._jump(f"worst:{name}").read(log(signs.worst))
            if worst and worst.z > c.document_z and worst.rise > DOCUMENT_JUMP and worst.record > c.document_record:
                yield RawAlarm("document", f"worst:{name}", signs.worst, worst.z)
                self._refuse(f"worst:{name}")
            else:
                self._learn(f"worst:{name}", log(signs.worst))

    def _drifts(self, seen: Observation, losses: Mapping[str, tuple[float, float]]) -> Iterator[RawAlarm]:
        c = self.config
        for name, (value, _) in losses.items():
            climb = self._signal("climb", name)
            climb.feed(value)
            risen = climb.read()
            since = int(self.open.get(f"loss_drift {name}", [seen.step])[0])
            # what has begun need be no record: in a long rise it stands beside what itself has risen before
            if risen and self._drifted(risen, c.loss_drift, record=0.0 if since < seen.step else 1.0):
                yield RawAlarm("loss_drift", name, _measured(seen, name), risen.z)
                far = self._drifted(risen, c.loss_far, OF_MANY, record=0.0)
                if far and seen.step - since >= c.divergence_steps:
                    yield RawAlarm("loss_far", name, _measured(seen, name), risen.z)
            drift = self._drift(name)
            drift.feed(seen.step, value)
            reading = drift.read()
            if reading and reading.rise < -c.too_low and reading.z < -c.drift_z and reading.record > c.record:
                yield RawAlarm("too_low", name, _measured(seen, name), reading.z)
            if self._signal("plateau", name).feed(value):
                yield RawAlarm("plateau", name, _measured(seen, name), 0.0)
        if seen.grad_norm == 0:
            return
        drift = self._drift("grad_norm")
        drift.feed(seen.step, log(max(seen.grad_norm, 1e-12)))
        reading = drift.read()
        if reading and self._drifted(reading, c.grad_drift):
            yield RawAlarm("grad_drift", "grad_norm", seen.grad_norm, reading.z)

    def _log_z(self, seen: Observation) -> Iterator[RawAlarm]:
        """Logits that collapse: log z falls, or no place has a log z of its own any more."""
        c = self.config
        targets = _targets(seen)
        new = {n: seen.datasets[n].log_z for n in targets if isfinite(seen.datasets[n].log_z)}
        here, usual = self.mixture.expected(targets, new | self._levels("log_z"))
        named = {"log_z": seen.log_z - here + usual}
        named |= {f"log_z:{n}": d.log_z for n, d in seen.datasets.items() if d.targets}
        for name, value in named.items():
            if not isfinite(value):
                continue
            reading = self._jump(name).read(value)
            if (
                reading
                and abs(reading.z) > c.log_z_z
                and abs(reading.rise) > c.log_z_jump
                and reading.record > c.record
            ):
                yield RawAlarm("logit_collapse" if reading.rise < 0 else "log_z_jump", name, value, reading.z)
                self._refuse(name)
            else:
                self._learn(name, value)
            drift = self._drift(name)
            drift.feed(seen.step, value)
            reading = drift.read()
            if reading and self._drifted(replace(reading, rise=abs(reading.rise), z=abs(reading.z)), c.log_z_drift):
                yield RawAlarm("log_z_drift", name, value, reading.z)
        room = seen.log_z_max - seen.log_z
        if isfinite(room) and room > 0:
            reading = self._jump("log_z_room").read(log(room))
            if reading and reading.rise < -SPREAD_FALL and reading.z < -c.grad_z and reading.record > c.record:
                yield RawAlarm("logit_collapse", "log_z_room", room, reading.z)
                self._refuse("log_z_room")
            else:
                self._learn("log_z_room", log(room))

    def _groups(self, seen: Observation) -> Iterator[RawAlarm]:
        """Activations and gradients of groups, on sampled steps."""
        c = self.config
        for name, a in seen.activations.items():
            if not a.rms > 0 or not isfinite(a.rms):
                continue
            yield from self._group(seen.step, f"activation:{name}", a.rms, c.activation_drift, c.activation_jump)
        for name, g in seen.gradients.items():
            if not g > 0 or not isfinite(g):
                continue
            # a group's gradient is noisier than the norm of all
            for f in self._group(seen.step, f"gradient:{name}", g, 2 * c.grad_drift, 2 * c.grad_jump):
                if f.kind == "activation_drift":
                    yield RawAlarm("grad_drift", f.signal, f.value, f.z)

    def _group(self, step: int, name: str, value: float, drift_limit: float, jump_limit: float) -> Iterator[RawAlarm]:
        c = self.config
        drift = self._drift(name)
        drift.feed(step, log(value))
        reading = drift.read()
        if reading is None:
            return
        now = log(value) - (reading.value - reading.rise)  # what was expected, from what was found
        # there are dozens of groups, and each has its chance to be wrong
        if self._drifted(reading, drift_limit, OF_MANY, OF_MANY):
            yield RawAlarm("activation_drift", name, value, reading.z)
            # against where the alarm began: a growth that lasts becomes its own line
            anchor = self.anchors.setdefault(name, reading.value - reading.rise)
            if min(reading.value, log(value)) - anchor > c.activation_far:
                yield RawAlarm("activation_far", name, value, reading.z)
        if now > jump_limit and now / reading.scale > 2 * c.drift_z:
            yield RawAlarm("activation_jump", name, value, now / reading.scale)

    def _zeros(self, seen: Observation) -> Iterator[RawAlarm]:
        """Gradients that are exactly zero: nothing is learned, or a group of parameters is frozen by accident.

        Without a picture in the step, what only pictures reach has none, and groups are not judged.
        """
        told = {"grad_norm": (seen.grad_norm, ZERO_STEPS)}
        if seen.images:
            told |= {f"gradient:{name}": (g, ZERO_SAMPLES) for name, g in seen.gradients.items()}
        for name, (gradient, least) in told.items():
            self.zeros[name] = self.zeros.get(name, 0) + 1 if gradient == 0 else 0
            if self.zeros[name] >= least:
                yield RawAlarm("grad_zero", name, 0.0, 0.0)

    def _habits(self, seen: Observation) -> Iterator[RawAlarm]:
        """What is wrong without any jump."""
        # an untrained model predicts the commonest token, and may
        if seen.top1_share > self.config.top1_share and self.clips.steps >= self.config.window:
            yield RawAlarm("one_token", "top1_share", seen.top1_share, 0.0)
        self.clips.feed(seen.clipped)
        if self.clips.read() > self.config.clip_share:
            yield RawAlarm("clip_frequency", "clipped", self.clips.share, 0.0)

    def _signal(self, test: str, name: str) -> Any:
        key = f"{test} {name}"
        if key not in self.signals:
            self.signals[key] = _made(self.config, test, name)
        return self.signals[key]

    def _jump(self, name: str) -> Jump:
        found: Jump = self._signal("jump", name)
        return found

    def _drift(self, name: str) -> Drift:
        found: Drift = self._signal("drift", name)
        return found

    def _over(self, reading: Reading | None, z: float, jump: float) -> float:
        """How far over its thresholds a reading is, as a multiple of them; the least of the three counts."""
        if reading is None:
            return 0.0
        return min(reading.z / z, reading.rise / jump, reading.record / self.config.record)

    def _drifted(self, reading: Reading, least: float, z: float = 1.0, record: float = 1.0) -> bool:
        """Whether it has risen, out of its noise, and farther than it wandered before; `z`, `record`: factors."""
        c = self.config
        return reading.rise > least and reading.z > z * c.drift_z and reading.record > record * c.drift_record

    def _early(self, name: str, value: float) -> bool:
        """Whether a number that has no spread yet has grown by `early_factor`."""
        values = self._jump(name).values
        return len(values) >= 8 and value - max(values[-self.config.short :]) > log(self.config.early_factor)

    def _learn(self, name: str, value: float, weight: float = 1.0) -> None:
        self.refused.pop(name, None)
        self._jump(name).feed(value, weight)

    def _refuse(self, name: str) -> None:
        """Do not learn from a jump; but what has stayed there for long is the new level."""
        self.refused[name] = self.refused.get(name, 0) + 1
        if self.refused[name] > 2 * self.config.wait_steps:
            del self.signals[f"jump {name}"]
            del self.refused[name]

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "signals": {key: signal.state() for key, signal in self.signals.items()},
            "rate": self.rate.state(),
            "clips": self.clips.state(),
            "refused": dict(self.refused),
            "anchors": dict(self.anchors),
            "open": {k: list(v) for k, v in self.open.items()},
            "zeros": dict(self.zeros),
            "mixture": deepcopy(self.mixture.state()),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """As `state` gave it."""
        self.signals = {}
        for key, kept in state["signals"].items():
            self._signal(*key.split(" ", 1)).load(kept)
        self.rate.load(state["rate"])
        self.clips.load(state["clips"])
        self.refused = dict(state["refused"])
        self.anchors = dict(state["anchors"])
        self.open = {k: list(v) for k, v in state["open"].items()}
        # checkpoints of before have neither
        self.zeros = dict(state.get("zeros", {}))
        self.__post_init__()
        if "mixture" in state:
            self.mixture.load(deepcopy(state["mixture"]))


_OF_ANY_MIX = ("jump grad_norm", "jump log_z_room")
"""Jumps of numbers that nobody can take the mix off."""


def _targets(seen: Observation) -> dict[str, int]:
    return {name: d.targets for name, d in seen.datasets.items() if d.targets}


def _measured(seen: Observation, name: str) -> float:
    """The loss that a signal is of, in nats per target."""
    return seen.loss if name == "loss" else seen.datasets[name.removeprefix("loss:")].loss


def _made(config: GuardConfig, test: str, name: str) -> Memory:
    """A test of a signal that has seen nothing."""
    c, floor = config, _floor(name)
    if test == "jump":
        return Jump(c.window, c.short, c.least, floor)
    if test == "climb":
        return Climb(c.drift_recent, c.drift_span, c.drift_span // 2, floor)
    if test == "plateau":
        return Plateau(c.plateau_steps)
    few = name.startswith(("activation:", "gradient:"))
    return Drift(c.drift_recent, c.drift_span, LEAST_SAMPLES if few else c.drift_span // 2, floor)


def _floor(name: str) -> float:
    """Least deviation of a signal, by its name."""
    if name in ("grad_norm", "log_z_room"):
        return GRAD_FLOOR
    if name.startswith("log_z"):
        return LOG_Z_FLOOR
    return ACTIVATION_FLOOR if name.startswith(("activation:", "gradient:")) else LOSS_FLOOR
