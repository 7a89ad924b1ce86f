"""The guard: a state machine from observations to decisions. No clock, no device, no files.

The loop asks before the optimiser steps (`before_step`: may this update be made?) and after it (`after_step`: does the
run go on?). Every rank asks with the same, reduced numbers, so all get the same answer.

    from obelics_pipeline.training.train.guard.config import GuardConfig
    guard = Guard(GuardConfig(), planned_steps=40_000)
    if not guard.before_step(seen).skip:
        optimizer.step()
    decision = guard.after_step(seen)
    if decision.action == "rollback":
        to_step = ...  # the last checkpoint of a step before decision.to_before_step
        guard.rolled_back(decision, to_step, state_of_that_checkpoint)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, isfinite, log
from typing import Any

from obelics_pipeline.training.train.guard.alarm import JUMPS, RISES, Alarm
from obelics_pipeline.training.train.guard.config import GuardConfig
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.history import History, Rollback
from obelics_pipeline.training.train.guard.observation import Hardware, Observation
from obelics_pipeline.training.train.guard.panel import Panel
from obelics_pipeline.training.train.guard.signals import median

ONSET = (
    "loss_jump",
    "loss_drift",
    "log_z_drift",
    "grad_jump",
    "grad_drift",
    "activation_jump",
    "activation_drift",
    "activation_far",
    "logit_collapse",
    "log_z_jump",
    "nonfinite",
)
"""Alarms whose first step may be where the trouble began."""
BROKEN = ("logit_collapse", "log_z_jump", "activation_jump", "activation_drift")
"""Alarms that say it is the model, and not the batch, that has changed."""
PERSISTENT_STEPS = 10
"""Steps that a rise of the loss, or gradients far out, must have lasted before they are the model's."""
AT_ONCE_STEPS = 10
"""Steps after a rollback's checkpoint within which the next sign was not made by training on."""


class Guard:
    """One run's guard."""

    def __init__(
        self,
        config: GuardConfig,
        state: Mapping[str, Any] | None = None,
        *,
        planned_steps: int,
        history: History | None = None,
    ) -> None:
        """`state` is a checkpoint's, as `state()` gave it; `history`, from the ledger, is newer than what it holds."""
        self.config = config
        self.planned_steps = planned_steps
        self.panel = Panel(config)
        self.history = history or History()
        self.waiting: dict[str, Any] | None = None
        self.steps: list[list[int]] = []
        """Step, first row, rows; of late."""
        self.hardware: list[dict[str, Any]] = []
        self.row_of_skips = 0
        self.far_in_a_row = 0
        """Steps in a row whose gradient was far out, skipped or not."""
        self.returned: list[int] | None = None
        """The last spike that returned: its first alarm, its step, and that of its return; until it was evaluated."""
        self.held_out: list[list[float]] = []
        """Step and logarithm of the held-out loss, the last evaluations."""
        self.damage = ""
        self.now: list[Alarm] = []
        if state is not None:
            self._load(state)
            self.history = history or History.of(state["history"])

    def before_step(self, seen: Observation) -> Decision:
        """Whether this update may be made, and the alarms of the step."""
        self.now = self.panel.judge(seen)
        self.steps = [*self.steps, [seen.step, seen.cursor, seen.rows]][-4 * self.config.suspect_most :]
        self.hardware += [_hardware(seen.step, h) for h in seen.hardware]
        self.hardware = [h for h in self.hardware if h["step"] > seen.step - 2 * self.config.wait_steps]
        self.far_in_a_row = self.far_in_a_row + 1 if any(a.kind == "grad_jump" for a in self.now) else 0
        jumped = [a for a in self.now if a.kind in JUMPS]
        if self.config.enabled and self.waiting is None and jumped:
            names = sorted({a.signal if a.kind == "loss_jump" else "loss" for a in jumped})
            self.waiting = {
                "since": seen.step,
                "said": False,
                "earliest": self._earliest(seen.step),
                "levels": {name: list(self.panel.level(name)) for name in names},
                "recent": {name: [] for name in names},
            }
        skip = self.config.enabled and self._must_skip() and self._may_skip(seen)
        self.row_of_skips = self.row_of_skips + 1 if skip else 0
        if skip:
            self.history.skipped.append(seen.step)
        reasons = [a for a in self.now if a.kind in ("nonfinite", "grad_jump", "grad_far", "learning_rate")]
        why = f"update of step {seen.step} skipped: " + ", ".join(f"{a.kind} {a.signal} {a.value:.4g}" for a in reasons)
        return Decision(skip, why=why if skip else "", alarms=tuple(self.now), evidence=self._evidence(seen))

    def after_step(self, seen: Observation) -> Decision:
        """Whether the run goes on; with the observation that `before_step` had."""
        if not self.config.enabled:
            return Decision()
        kinds = {a.kind for a in self.now}
        if "learning_rate" in kinds:
            return self._wrong_rate(seen)
        corrupt = [h for h in seen.hardware if h.corrupts]
        if corrupt:
            good = [h.good_until for h in corrupt if h.good_until is not None]
            since = min([g + 1 for g in good] or [self._earliest(seen.step)])
            return self._rollback(seen, "hardware", since, "hardware gives wrong numbers: " + _names(corrupt))
        if "nonfinite" in kinds and not self.row_of_skips:
            return self._rollback(
                seen, "nonfinite", self._earliest(seen.step), "NaN or infinity, and skipping is spent"
            )
        if "activation_far" in kinds:
            return self._rollback(seen, "divergence", self._earliest(seen.step), "activations have grown tenfold")
        if self.far_in_a_row > PERSISTENT_STEPS and (self.waiting is not None or "grad_far" in kinds):
            why = f"gradients are far out for {self.far_in_a_row} steps: it is the model, and not a batch"
            return self._rollback(seen, "spike", self._earliest(seen.step), why)
        if self.damage and self.returned is not None:
            return self._rollback(seen, "spike", self.returned[0], self.damage, until=self.returned[2])
        if self.damage and self.waiting is not None:
            return self._rollback(seen, "spike", self.waiting["earliest"], self.damage)
        if self.waiting is not None:
            return self._wait(seen, self.waiting)
        if "loss_far" in kinds:
            return self._rollback(seen, "divergence", self._earliest(seen.step), "the loss has risen and stays there")
        if self._diverges(seen):
            why = "the loss rises slowly, and activations or gradients with it"
            return self._rollback(seen, "divergence", self._earliest(seen.step), why)
        return Decision()

    def evaluated(self, step: int, losses: Mapping[str, float]) -> None:
        """Call it after every evaluation, with the held-out loss by data set after a step.

        A spike that returned may have left damage. The losses of training, each of another batch, are too noisy to
        show it.
        """
        found = [log(max(x, 1e-6)) for x in losses.values() if isfinite(x)]
        if not found:
            return
        now = sum(found) / len(found)
        if self.waiting is not None:
            before = [x for s, x in self.held_out if s < self.waiting["earliest"]][-3:]
            if before and now - max(before) > self.config.broken:
                worse = exp(now - max(before)) - 1
                self.damage = f"held-out loss is {worse:.0%} higher: it is the model, and not the batch"
        if self.returned is not None and step >= self.returned[2]:
            before = [x for s, x in self.held_out if s < self.returned[0]][-3:]
            if before and now - max(before) > self.config.damage:
                worse = exp(now - max(before)) - 1
                self.damage = f"held-out loss is {worse:.1%} higher than before the spike of step {self.returned[1]}"
            else:
                self.returned = None
        self.held_out = [*(e for e in self.held_out if e[0] < step), [float(step), now]][-8:]

    def rolled_back(self, decision: Decision, to_step: int, state: Mapping[str, Any] | None) -> None:
        """Call it after a rollback with the step of the checkpoint, and the guard's state in it (None: it had none).

        What was seen since is forgotten; what was done is not.
        """
        step = self.steps[-1][0] if self.steps else to_step  # of several processes only the first sees steps
        self.history.rollbacks.append(Rollback(step, to_step, decision.lr_factor, decision.cause))
        if state is None:
            self.panel, self.steps = Panel(self.config), []
        else:
            self._load(state)
        self.waiting, self.now, self.row_of_skips = None, [], 0
        self.far_in_a_row, self.returned, self.damage = 0, None, ""
        self.panel.open.clear()
        self.panel.anchors.clear()

    def state(self) -> dict[str, Any]:
        """All of it as JSON values, for a checkpoint."""
        return {
            "panel": self.panel.state(),
            "history": self.history.state(),
            "waiting": self.waiting,
            "steps": [list(s) for s in self.steps],
            "hardware": list(self.hardware),
            "row_of_skips": self.row_of_skips,
            "far_in_a_row": self.far_in_a_row,
            "returned": self.returned,
            "held_out": [list(e) for e in self.held_out],
            "damage": self.damage,
        }

    def _load(self, state: Mapping[str, Any]) -> None:
        self.panel.load(state["panel"])
        self.waiting = state["waiting"]
        self.steps = [list(s) for s in state["steps"]]
        self.hardware = list(state["hardware"])
        self.row_of_skips = int(state["row_of_skips"])
        self.far_in_a_row = int(state["far_in_a_row"])
        self.returned = state["returned"]
        self.held_out = [list(e) for e in state["held_out"]]
        self.damage = str(state["damage"])

    def _must_skip(self) -> bool:
        """A long gradient beside a loss as it was is let through: Adam's update has a bound whatever the gradient's
        length. Healthy runs have such steps, as where a new layer begins to be of use (seen: 150 times the usual). One
        that is a hundred times as long is skipped, and not the next one: where two batches say it, it is the model, and
        the way back is along the gradient."""
        kinds = {a.kind for a in self.now}
        if kinds & {"nonfinite", "learning_rate"} or ("grad_far" in kinds and self.far_in_a_row == 1):
            return True
        return "grad_jump" in kinds and bool(kinds & {*JUMPS, "document"})

    def _may_skip(self, seen: Observation) -> bool:
        c = self.config
        if any(a.kind == "learning_rate" for a in self.now):
            return True  # a rollback follows at once
        budget = c.skip_allowance + int(c.skip_share * max(seen.step, 0))
        return len(self.history.skipped) < budget and self.row_of_skips < c.skip_in_a_row

    def _earliest(self, step: int) -> int:
        since = self.panel.since(ONSET)
        return step if since is None else since

    def _wait(self, seen: Observation, waiting: dict[str, Any]) -> Decision:
        """A spike is open: has it returned, or has it had its time?"""
        c = self.config
        for name, recent in waiting["recent"].items():
            if name in self.panel.losses:
                recent.append(self.panel.losses[name])
                del recent[: -c.returned_steps]
        waited = seen.step - waiting["since"]
        evidence = self._evidence(seen) | {"spike": waiting["since"], "waited": waited}
        collapsed = any(a.kind in ("logit_collapse", "log_z_jump") for a in self.now)
        if not collapsed and all(
            len(recent) == c.returned_steps
            and median(recent) <= waiting["levels"][name][0] + c.returned_z * waiting["levels"][name][1]
            for name, recent in waiting["recent"].items()
        ):
            self.waiting = None
            self.returned = [min(waiting["earliest"], waiting["since"]), waiting["since"], seen.step]
            return Decision(why=f"the spike of step {waiting['since']} has returned", evidence=evidence)
        broken = self.panel.since(BROKEN) is not None  # it is not the batch: waiting longer is of no use
        if waited >= (min(c.divergence_steps, c.wait_steps) if broken else c.wait_steps):
            why = f"the spike of step {waiting['since']} has not returned in {waited} steps"
            earliest = min(waiting["earliest"], waiting["since"])
            return self._rollback(seen, "spike", earliest, why, until=waiting["since"] + c.returned_steps)
        if not waiting["said"]:
            waiting["said"] = True
            return Decision(
                action="wait",
                why=f"the loss has jumped, or the logits collapsed, at step {seen.step}",
                evidence=evidence,
            )
        return Decision()

    def _diverges(self, seen: Observation) -> bool:
        """A slow rise of the loss, seen now, with activations or gradients that have risen for long enough."""
        rising = [a.since for a in self.now if a.kind == "loss_drift"]
        cause = self.panel.since(RISES)
        if not rising or cause is None or seen.step - min(rising) < PERSISTENT_STEPS:
            return False
        return seen.step - min(cause, *rising) >= self.config.divergence_steps

    def _wrong_rate(self, seen: Observation) -> Decision:
        """The update was skipped. Go back to a checkpoint and read all again; if it is wrong soon again, stop.

        No factor is put on the rate: if the schedule started over, the rate would grow with the warm-up.
        """
        right = self.panel.right_rate(seen)
        said = f"{right:.6g}" if right is not None else "another"
        if isfinite(seen.lr_expected) and right == seen.lr_expected:
            why = f"the optimiser has learning rate {seen.lr:.6g}, and schedule and interventions say {said}"
        else:
            why = f"the schedule is another: step {seen.step - 1} had {said}, and it now says {seen.lr_before:.6g}"
        before = [r for r in self.history.rollbacks if r.cause == "learning_rate"]
        if any(abs(seen.step - r.step) <= self.config.again_steps for r in before):
            why += ", again; compare schedule, steps and ledger with those of the attempt before"
            return Decision(action="stop", why=why, evidence=self._evidence(seen))
        return self._rollback(seen, "learning_rate", seen.step, why)

    def _rollback(self, seen: Observation, cause: str, since: int, why: str, *, until: int | None = None) -> Decision:
        c, history, factor = self.config, self.history, 1.0
        near = [h for h in self.hardware if abs(h["step"] - since) <= c.hardware_steps or h["step"] >= since]
        if near and cause in ("spike", "divergence", "nonfinite"):
            cause, why = "hardware", f"{why}; hardware events beside it: {_names(near)}"
        evidence = self._evidence(seen) | {"earliest_alarm": since, "hardware": near}
        if len(history.rollbacks) >= c.most_rollbacks:
            return Decision(action="stop", why=f"{why}; all {c.most_rollbacks} rollbacks are spent", evidence=evidence)
        if history.lost > c.most_lost * self.planned_steps:
            why = f"{why}; {history.lost} of {self.planned_steps} planned steps are lost to rollbacks already"
            return Decision(action="stop", why=why, evidence=evidence)
        before = since
        rows: tuple[tuple[int, int], ...] = ()
        if cause not in ("hardware", "learning_rate"):
            before = self._sound(since)
            late = history.late(seen.step, c.again_steps)
            if late:
                before = min(before, seen.step - 2 * late[-1].distance + 1)
                # what comes back at once was in the checkpoint already, and says nothing of the rate
                if since - late[-1].to_step > AT_ONCE_STEPS:
                    factor = c.second_factor if all(r.factor == 1 for r in late) else c.third_factor
                    factor = max(factor, min(1.0, c.lr_floor / history.factor))
                until = None  # where a short cut was not enough, all of it goes
            rows = self._rows(since - c.suspect_steps, min(until or seen.step, since + c.suspect_most))
        return Decision(
            action="rollback",
            why=why,
            evidence=evidence,
            cause=cause,
            to_before_step=max(before, 1),
            lr_factor=factor,
            skip_rows=rows,
            deny=tuple(dict.fromkeys(str(h["where"]) for h in near if h["corrupts"])),
        )

    def _sound(self, since: int) -> int:
        """The step before which a checkpoint is to be: `since`, or that of the evaluations right before it whose losses
        are all higher by `broken` than the best one before them."""
        known = [(int(step), loss) for step, loss in self.held_out if step < since]
        while len(known) > 1 and known[-1][1] - min(loss for _, loss in known[:-1]) > self.config.broken:
            since = known.pop()[0]
        return since

    def _rows(self, first: int, last: int) -> tuple[tuple[int, int], ...]:
        """Rows of these steps, ranges that touch made one."""
        ranges: list[tuple[int, int]] = []
        for step, cursor, rows in self.steps:
            if not first <= step <= last:
                continue
            if ranges and ranges[-1][1] == cursor:
                ranges[-1] = (ranges[-1][0], cursor + rows)
            else:
                ranges.append((cursor, cursor + rows))
        return tuple(ranges)

    def _evidence(self, seen: Observation) -> dict[str, Any]:
        """What a person wants to see beside the decision."""
        if not self.now and self.waiting is None:
            return {}
        open_since = {key: int(times[0]) for key, times in sorted(self.panel.open.items())}
        return {
            "step": seen.step,
            "rows": [seen.cursor, seen.cursor + seen.rows],
            "loss": seen.loss if isfinite(seen.loss) else None,
            "grad_norm": seen.grad_norm if isfinite(seen.grad_norm) else None,
            "alarms": [a.entry() for a in self.now],
            "open_since": open_since,
        }


def _hardware(step: int, event: Hardware) -> dict[str, Any]:
    return {"step": step, "kind": event.kind, "where": event.where, "corrupts": event.corrupts}


def _names(events: list[Hardware] | list[dict[str, Any]]) -> str:
    pairs = [(e["kind"], e["where"]) if isinstance(e, dict) else (e.kind, e.where) for e in events]
    return ", ".join(dict.fromkeys(f"{kind} at {where}" for kind, where in pairs))
