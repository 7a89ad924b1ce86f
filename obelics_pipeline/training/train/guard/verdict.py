"""The likely cause of a loss spike: data, hardware, numerics, or unknown; each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log
from typing import Any, Literal

from obelics_pipeline.training.train.guard.lead_lag import LeadLag, lead_lags
from obelics_pipeline.training.train.guard.signals import median, robust_deviation

Kind = Literal["data", "hardware", "numerics", "unknown"]

NEAR_STEPS = 50
"""Steps around a spike in which a hardware event is evidence."""
BEFORE_STEPS = 100
"""Steps before a spike that say what was usual."""
AFTER_STEPS = 20
"""Steps after a spike that are looked at."""
FAR = 6.0
"""Robust deviations that are evidence."""


@dataclass(frozen=True)
class Verdict:
    """The kind that has most evidence, and the evidence of all kinds, in words."""

    kind: Kind
    why: str
    evidence: Mapping[str, tuple[str, ...]]
    """By kind."""
    lead_lag: Mapping[str, LeadLag]
    """log_z, grad_norm and the loudest activation, against the loss."""


def verdict(lines: Sequence[Mapping[str, Any]], step: int, ledger: Sequence[Mapping[str, Any]] = ()) -> Verdict:
    """That on the spike at this step, from lines of metrics.jsonl around it and the ledger's entries.

    The lines are those of one lineage: each step once. Hardware has the first word where a check says that numbers
    were wrong; the data has it where one batch alone was bad, or one data set; numerics where activations, gradients
    or the learning rate moved before the loss did.
    """
    lines = sorted(lines, key=lambda line: int(line["step"]))
    before = [line for line in lines if step - BEFORE_STEPS <= int(line["step"]) < step]
    after = [line for line in lines if step <= int(line["step"]) <= step + AFTER_STEPS]
    near = [entry for entry in ledger if abs(int(entry.get("step") or 0) - step) <= NEAR_STEPS]
    moves = _moves([*before, *after])
    evidence: dict[Kind, list[str]] = {
        "hardware": _hardware(near),
        "numerics": _numerics(before, after, near, step),
        "data": _data(before, after),
    }
    kind: Kind = "unknown"
    if evidence["hardware"]:
        kind = "hardware"
    elif evidence["numerics"] or evidence["data"]:
        kind = "data" if len(evidence["data"]) >= len(evidence["numerics"]) else "numerics"
    why = "; ".join(evidence[kind]) if kind != "unknown" else "nothing stands out before the loss, or beside it"
    return Verdict(kind, why, {k: tuple(v) for k, v in evidence.items()}, moves)


def _hardware(near: Sequence[Mapping[str, Any]]) -> list[str]:
    events = [e for e in near if e["kind"] == "hardware"]
    return [f"step {e.get('step')}: {e.get('event') or e.get('why') or 'hardware event'}" for e in events]


def _numerics(
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
    near: Sequence[Mapping[str, Any]],
    step: int,
) -> list[str]:
    found = []
    alarms = [(_kind(e), str(e.get("signal")), int(e.get("since") or e["step"])) for e in near if e["kind"] == "alarm"]
    if any(kind == "learning_rate" for kind, _, _ in alarms):
        found.append("the learning rate left its line")
    if any(kind == "logit_collapse" for kind, _, _ in alarms) or _fell(before, after):
        found.append("log z fell: the logits collapsed")
    early = sorted(
        (since, signal)
        for kind, signal, since in alarms
        if since < step and str(kind).startswith(("activation", "grad_drift"))
    )
    if early:
        found.append(f"{early[0][1]} rose from step {early[0][0]} on, {step - early[0][0]} steps before the loss")
    for name in sorted({n for line in after for n in line.get("activations") or {}}):
        z = _z([_activation(line, name) for line in before], [_activation(line, name) for line in after])
        if z > 2 * FAR and not _returns(before, after):
            found.append(f"activations of {name} are {z:.0f} deviations up, and stay there")
            break
    if any(line.get("loss") is None for line in after[:1]):
        found.append("the loss is not a number")
    return found


def _data(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    names = sorted({n for line in [*before, *after] for n in line.get("datasets") or {}})
    usual = {n: [_loss(line, n) for line in before] for n in names}
    jumped = [n for n in names if _z(usual[n], [_loss(line, n) for line in after[:3]]) > FAR]
    rises = {n: _rise(usual[n], [_loss(line, n) for line in after[:1]]) for n in names}
    others = [n for n in names if n not in jumped]
    # a noisy data set that rose as far as those that jumped is no witness against them
    if jumped and others and all(rises[n] < 0.5 * max(rises[j] for j in jumped) for n in others):
        found.append(f"only {', '.join(jumped)} jumped, of {len(names)} data sets")
    if (
        after
        and _returns(before, after)
        and _z([_loss(line) for line in before], [_loss(line) for line in after[:3]]) > FAR
    ):
        found.append("the loss was back as soon as the batch was gone")
    worst = [_worst(line) for line in before]
    if _z(worst, [_worst(line) for line in after[:3]]) > FAR:
        found.append("one document's loss is far above all before it")
    return found


def _kind(entry: Mapping[str, Any]) -> str:
    """Of an alarm in the ledger."""
    return str(entry.get("alarm") or (entry.get("evidence") or {}).get("kind") or entry.get("why") or "")


def _number(value: Any) -> float:
    return log(max(float(value), 1e-12)) if value is not None and isfinite(float(value)) else float("nan")


def _loss(line: Mapping[str, Any], dataset: str | None = None) -> float:
    """Its logarithm; NaN where it is missing."""
    if dataset is None:
        return _number(line.get("loss"))
    return _number(((line.get("datasets") or {}).get(dataset) or {}).get("loss"))


def _worst(line: Mapping[str, Any]) -> float:
    """How far the worst document is above its data set's loss, in logarithms: it alone, and not all of them."""
    sets = (line.get("datasets") or {}).values()
    above = [_number(d.get("worst")) - _number(d.get("loss")) for d in sets]
    return max((a for a in above if isfinite(a)), default=float("nan"))


def _activation(line: Mapping[str, Any], name: str) -> float:
    return _number(((line.get("activations") or {}).get(name) or {}).get("rms"))


def _z(before: Sequence[float], after: Sequence[float]) -> float:
    """The largest of `after`, in robust deviations from the median of `before`; 0 where there is too little."""
    usual, now = [v for v in before if isfinite(v)], [v for v in after if isfinite(v)]
    if len(usual) < 5 or not now:
        return 0.0
    return (max(now) - median(usual)) / robust_deviation(usual, 0.01)


def _rise(before: Sequence[float], after: Sequence[float]) -> float:
    """The median of `after` less that of `before`; 0 if either has no finite number."""
    usual, now = [v for v in before if isfinite(v)], [v for v in after if isfinite(v)]
    return median(now) - median(usual) if usual and now else 0.0


def _returns(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the loss is, a few steps on, where it was before."""
    usual = [v for v in (_loss(line) for line in before) if isfinite(v)]
    late = [v for v in (_loss(line) for line in after[4:12]) if isfinite(v)]
    return len(usual) >= 5 and len(late) >= 3 and median(late) < median(usual) + 2 * robust_deviation(usual, 0.005)


def _fell(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the mean log z fell by more than a nat, far outside of what was usual."""
    usual = [float(line["log_z"]) for line in before if line.get("log_z") is not None]
    now = [float(line["log_z"]) for line in after[:5] if line.get("log_z") is not None]
    if len(usual) < 5 or not now:
        return False
    fall = median(usual) - min(now)
    return fall > 1.0 and fall / robust_deviation(usual, 0.02) > FAR


def _moves(lines: Sequence[Mapping[str, Any]]) -> dict[str, LeadLag]:
    """Lead and lag of the numbers that are there at every step."""
    series = {name: [_raw(line, name) for line in lines] for name in ("log_z", "grad_norm")}
    names = sorted({n for line in lines for n in line.get("activations") or {}})
    if names:
        series["activations"] = [max((_activation(line, n) for n in names), default=float("nan")) for line in lines]
    return lead_lags([_loss(line) for line in lines], series)


def _raw(line: Mapping[str, Any], name: str) -> float:
    value = line.get(name)
    if value is None:
        return float("nan")
    return float(value) if name == "log_z" else _number(value)
