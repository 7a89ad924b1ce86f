"""Which checkpoints of a run there are, which one it goes on from, and which may go."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import remove_tree
from obelics_pipeline.training.train.journal import METRICS
from obelics_pipeline.training.train.state.ledger import NAME as LEDGER
from obelics_pipeline.training.train.state.lineage import Lineage
from obelics_pipeline.training.train.state.manifest import NAME as MANIFEST
from obelics_pipeline.training.train.state.saved import read_state

FOLDER = "checkpoints"
DRAFT, OLD = ".draft-", ".old-"
HISTORY = "run"  # folder within a checkpoint for copies of the run's own files
_NAME = re.compile(r"step-(\d{8})")


@dataclass(frozen=True, order=True)
class Kept:
    """A finished checkpoint."""

    step: int
    attempt: int
    path: Path


def name_of(step: int) -> str:
    """Folder name of a step's checkpoint."""
    return f"step-{step:08d}"


def checkpoints(folder: Path) -> list[Kept]:
    """All finished checkpoints in a folder, by step. Raises `UserError` for one that cannot be read."""
    found = []
    for path in sorted(folder.glob("step-*")) if folder.is_dir() else []:
        if _NAME.fullmatch(path.name) and (path / MANIFEST).exists():
            found.append(Kept(int(path.name[5:]), read_state(path).attempt, path))
    return found


def on_line(folder: Path, lineage: Lineage) -> list[Kept]:
    """The finished checkpoints that led to the model that there is now: not those of what was rolled back."""
    return [kept for kept in checkpoints(folder) if lineage.on_line(kept.attempt, kept.step)]


def to_resume(folder: Path, lineage: Lineage, step: int | None = None) -> Kept | None:
    """The last checkpoint on the final line, or that of `step`; None where a run has none yet.

    Raises `UserError` where the one that is asked for is not kept.
    """
    found = on_line(folder, lineage)
    if step is None:
        return found[-1] if found else None
    for kept in found:
        if kept.step == step:
            return kept
    steps = ", ".join(str(kept.step) for kept in found) or "none"
    raise UserError(f"{folder}: no checkpoint of step {step} on the run's line; there are: {steps}")


def before(folder: Path, lineage: Lineage, alarm: int) -> Kept | None:
    """The last good checkpoint: of a step before the first sign of trouble. None where none is kept."""
    return max((kept for kept in on_line(folder, lineage) if kept.step < alarm), default=None)


def keep(steps: Iterable[int], last: int, every: int | None = None, signs: Iterable[int] = ()) -> set[int]:
    """Which of the steps' checkpoints stay: the `last` ones, multiples of `every`, and the last before each sign."""
    ordered = sorted(steps)
    kept = set(ordered[-last:] if last > 0 else [])
    if every:
        kept |= {step for step in ordered if step % every == 0}
    before = ((step for step in ordered if step < sign) for sign in signs)
    return kept | {step for good in before if (step := max(good, default=None)) is not None}


def retain(
    folder: Path, lineage: Lineage, *, last: int, every: int | None = None, signs: Iterable[int] = ()
) -> list[Path]:
    """Remove what need not stay; returns what was removed. One process does this.

    Of what was rolled back a checkpoint stays until the run has come past its step again.
    """
    found = checkpoints(folder)
    line = {kept.step for kept in found if lineage.on_line(kept.attempt, kept.step)}
    stay = keep(line, last, every, signs)
    head = max(line, default=0)
    gone = [kept.path for kept in found if (kept.step not in stay if kept.step in line else kept.step <= head)]
    for path in gone:
        remove_checkpoint(path)
    return gone


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint so that a kill never leaves half of one under its name."""
    old = path.with_name(OLD + path.name)
    remove_tree(old)
    path.rename(old)
    (old / MANIFEST).unlink()  # first, or what is left of it would look like one to put back
    remove_tree(old)


def sweep(folder: Path) -> list[str]:
    """Tidy up after a killed process, before the first save; returns what was found, for the log. One process does it.

    A draft goes. A checkpoint that was about to be replaced goes back where its successor never came.
    """
    said = []
    for path in sorted(folder.glob(f"{DRAFT}*")) if folder.is_dir() else []:
        remove_tree(path)
        said.append(f"{path}: half written, removed")
    for path in sorted(folder.glob(f"{OLD}*")) if folder.is_dir() else []:
        target = path.with_name(path.name.removeprefix(OLD))
        if target.exists() or not (path / MANIFEST).exists():
            remove_tree(path)
            said.append(f"{path}: replaced, removed")
        else:
            path.rename(target)
            said.append(f"{target}: put back")
    return said


def restore_history(checkpoint: Path, run: Path) -> list[str]:
    """Bring ledger and metrics of a run back from the copies in a checkpoint, where they are gone or cut short.

    Returns what was brought back. Raises `UserError` where a file is another than the one that was copied.
    """
    said = []
    for name in (LEDGER, METRICS):
        copy, here = checkpoint / HISTORY / name, run / name
        if not copy.exists():
            continue
        saved = copy.read_bytes()
        now = b""
        if here.exists():
            with here.open("rb") as stream:
                now = stream.read(len(saved))
        if now == saved:
            continue
        if not saved.startswith(now):
            raise UserError(f"{here} is not the file that {checkpoint.name} was written beside; put that back")
        here.parent.mkdir(parents=True, exist_ok=True)
        draft = here.with_name(f".{name}.draft")
        draft.write_bytes(saved)
        draft.replace(here)
        said.append(f"{here}: brought back from {checkpoint.name}")
    return said
