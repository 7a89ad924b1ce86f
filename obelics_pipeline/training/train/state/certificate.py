"""The certificate of a resume: that the run goes on exactly where it was, in about ten lines. A red one refuses it."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import ConfigChange, Entry
from obelics_pipeline.training.train.state.ledger import holdings
from obelics_pipeline.training.train.state.saved import Loaded, differences
from obelics_pipeline.training.train.state.schedule import ScheduleSection, lr, weight_decay

Level = Literal["ok", "look", "RED"]
_TOLERANCE = 1e-9  # of a learning rate: the same formula gives the same number, but for another mathematics library
_HOW = ("foreach", "fused", "capturable", "differentiable")  # settings of speed, which a machine decides
_SHORT = 12  # digits of a fingerprint that a person is shown


@dataclass(frozen=True)
class Now:
    """What is about to train, beside what was loaded."""

    checkpoint: str  # its name, for messages
    cursor: int  # the position that the loader will begin at
    seed: int
    plan_id: str
    config: Mapping[str, Any]  # resolved
    versions: Mapping[str, str]
    schedule: ScheduleSection
    entries: Sequence[Entry]
    ranks: int = 1
    frozen: str = ""  # fingerprint of the weights that are not trained
    ledger_bytes: int | None = None  # size of the ledger's file
    recorded: Mapping[str, Any] | None = None  # the line of metrics.jsonl of the checkpoint's step and attempt
    may_change: Sequence[str] = field(default=())  # fnmatch patterns of config keys that change no figure


@dataclass(frozen=True)
class Line:
    """One thing that was compared."""

    name: str
    level: Level
    text: str

    def __str__(self) -> str:
        return f"{self.level:<4}  {self.name:<13}  {self.text}"


@dataclass(frozen=True)
class Certificate:
    """All that was compared before a resume."""

    checkpoint: str
    lines: tuple[Line, ...]

    def refuse(self) -> None:
        """Raise `UserError`, with the red lines, if there is one."""
        red = "; ".join(f"{line.name}: {line.text}" for line in self.lines if line.level == "RED")
        if red:
            raise UserError(f"{self.checkpoint}: not resumed, because it would not go on as it was: {red}")

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))


def certificate(loaded: Loaded, now: Now) -> Certificate:
    """Compare what was saved with what is there after loading, and with what is about to train."""
    lines = (
        _step(loaded),
        _rate(loaded, now),
        _cursor(loaded, now),
        _same("weights", loaded.saved.parameters_fingerprint, loaded.parameters_fingerprint, "before save, after load"),
        _same("moments", loaded.saved.moments_fingerprint, loaded.moments_fingerprint, "before save, after load"),
        _same("frozen", loaded.saved.frozen, now.frozen, "the weights that are not trained, then and now"),
        _same("plan", loaded.saved.plan_id, now.plan_id, "then and now"),
        _same("seed", str(loaded.saved.seed), str(now.seed), "then and now"),
        _optimiser(loaded, now),
        _config(loaded, now),
        _versions(loaded, now),
        _ledger(loaded, now),
        _ranks(loaded, now),
    )
    return Certificate(now.checkpoint, lines)


def _step(loaded: Loaded) -> Line:
    saved = loaded.saved
    text = (
        f"{saved.step}, attempt {saved.attempt}, {saved.skipped_updates} updates skipped, the optimiser made "
        f"{loaded.optimiser_steps}"
    )
    if loaded.optimiser_steps == saved.optimiser_step == saved.optimiser_steps:
        return Line("step", "ok", text)
    return Line("step", "RED", f"{text}, and should have made {saved.optimiser_step}")


def _rate(loaded: Loaded, now: Now) -> Line:
    saved, changes = loaded.saved, holdings(now.entries)
    then, following = lr(saved.step, now.schedule, changes), lr(saved.step + 1, now.schedule, changes)
    told = {"the checkpoint": saved.lr, "metrics.jsonl": (now.recorded or {}).get("lr")} if saved.step else {}
    text = f"{then:.6g}, then {following:.6g}"
    explained = any(key.startswith("schedule.") for key in _explained(now.entries))
    for who, value in told.items():
        if value is not None and not math.isclose(value, then, rel_tol=_TOLERANCE, abs_tol=1e-300):
            text = f"step {saved.step} had {value:.6g} by {who}, and has {then:.6g} by config and ledger"
            if explained:
                return Line("learning rate", "look", f"{text}; the ledger says so")
            return Line("learning rate", "RED", f"{text}; a change belongs in the ledger: obelics intervene RUN lr")
    decay = weight_decay(saved.step, now.schedule, changes)
    if (
        saved.step
        and saved.weight_decay is not None
        and not math.isclose(saved.weight_decay, decay, rel_tol=_TOLERANCE)
    ):
        text = f"weight decay was {saved.weight_decay:.6g}, and is {decay:.6g} by config and ledger"
        return Line("learning rate", "look" if explained else "RED", text)
    return Line("learning rate", "ok", f"{text}; weight decay {decay:.6g}")


def _cursor(loaded: Loaded, now: Now) -> Line:
    saved = loaded.saved.cursor
    if now.cursor != saved:
        return Line("cursor", "RED", f"the loader begins at {now.cursor}, and the checkpoint ended before {saved}")
    if now.recorded is not None:
        least = int(now.recorded["cursor"]) + int(now.recorded["rows"])  # more where rows between were left out
        if saved < least:
            return Line("cursor", "RED", f"{saved}, and by metrics.jsonl the rows before {least} are done")
    return Line("cursor", "ok", str(saved))


def _same(name: str, before: str, after: str, what: str) -> Line:
    if before == after:
        return Line(name, "ok", f"{before[:_SHORT] or 'none'}, {what}")
    return Line(name, "RED", f"{before[:_SHORT] or 'none'} became {after[:_SHORT] or 'none'} ({what})")


def _optimiser(loaded: Loaded, now: Now) -> Line:
    explained = {key.rpartition(".")[2]: value for key, value in _explained(now.entries).items()}
    found = differences(loaded.saved.hyper, loaded.hyper)
    red = {key: pair for key, pair in found.items() if key not in _HOW and not _is(explained, key, pair[1])}
    if red:
        text = f"{_listed(red)}; a change belongs in the ledger: obelics intervene RUN config KEY VALUE"
        return Line("optimiser", "RED", text)
    return Line("optimiser", "look" if found else "ok", _listed(found) or f"{loaded.hyper.get('class')}, as it was")


def _config(loaded: Loaded, now: Now) -> Line:
    explained = _explained(now.entries)
    found = differences(loaded.saved.config, now.config)
    red = {
        key: pair
        for key, pair in found.items()
        if not _is(explained, key, pair[1]) and not any(fnmatch.fnmatchcase(key, pattern) for pattern in now.may_change)
    }
    if red:
        text = f"{_listed(red)}; a change belongs in the ledger: obelics intervene RUN config KEY VALUE"
        return Line("config", "RED", text)
    return Line("config", "look" if found else "ok", _listed(found) or "as it was")


def _versions(loaded: Loaded, now: Now) -> Line:
    found = differences(loaded.saved.versions, now.versions)
    return Line("versions", "look" if found else "ok", _listed(found) or "as they were")


def _ledger(loaded: Loaded, now: Now) -> Line:
    if now.ledger_bytes is not None and now.ledger_bytes < loaded.saved.ledger_bytes:
        text = f"it has {now.ledger_bytes} bytes, and had {loaded.saved.ledger_bytes}; put it back from the checkpoint"
        return Line("ledger", "RED", text)
    last = now.entries[-1] if now.entries else None
    tail = f"; the last: {last.kind} at step {last.step}{f', {last.why}' if last.why else ''}" if last else ""
    return Line("ledger", "ok", f"{len(now.entries)} entries{tail}")


def _ranks(loaded: Loaded, now: Now) -> Line:
    if loaded.saved.world_size == now.ranks:
        return Line("processes", "ok", str(now.ranks))
    text = f"{loaded.saved.world_size} became {now.ranks}: the same rows in each step, sums in another order"
    return Line("processes", "look", text)


def _explained(entries: Sequence[Entry]) -> dict[str, Any]:
    """Config keys that the ledger changes on purpose, with their values."""
    changes = (holding.entry for holding in holdings(entries) if holding.until is None)
    return {entry.key: entry.value for entry in changes if isinstance(entry, ConfigChange)}


def _is(explained: Mapping[str, Any], key: str, value: Any) -> bool:
    return key in explained and explained[key] == (list(value) if isinstance(value, tuple) else value)


def _listed(found: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(f"{key} was {old} and is {new}" for key, (old, new) in found.items())
