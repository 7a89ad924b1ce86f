"""A checkpoint: a folder of safetensors, a state.json and copies of the run's history, whole or not there at all.

Every rank writes its own part of every tensor through torch.distributed.checkpoint, so any number of processes can
read it again. Nothing is pickled: opening a checkpoint runs no code of its author. Weights that are not trained
are not in it.
"""

from __future__ import annotations

import fnmatch
import json
import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256, remove_tree, sync
from obelics_pipeline.training.train.journal import METRICS, cut_half_line
from obelics_pipeline.training.train.state.fingerprint import fingerprint
from obelics_pipeline.training.train.state.kept import DRAFT, HISTORY, OLD, name_of
from obelics_pipeline.training.train.state.ledger import NAME as LEDGER
from obelics_pipeline.training.train.state.manifest import files_in, verify, write_manifest
from obelics_pipeline.training.train.state.saved import STATE, Loaded, Progress, SavedState, read_state

TENSORS = "tensors"
_WRITTEN = ".written-"  # what a rank leaves when its part is on the disk; gone before the manifest is made
_FAILED = "failed"
_BY_STEP = ("params", "lr", "initial_lr", "weight_decay", "param_names")  # of a group: not settings, or of the step
_POLL_SECONDS = 0.05
warnings.filterwarnings("ignore", message="torch.distributed is disabled")  # in one process there is nothing amiss


class Saving:
    """A checkpoint that is being written. `wait` returns its folder, or raises what went wrong."""

    def __init__(self, path: Path, work: Callable[[], None], background: bool) -> None:
        self.path = path
        self._work = work
        self._failure: BaseException | None = None
        self._thread: Thread | None = None
        if background:
            self._thread = Thread(target=self._run, name=f"write {path.name}")
            self._thread.start()
        else:
            work()

    def done(self) -> bool:
        """Whether this process has done its part; on rank 0: whether the checkpoint stands."""
        return self._thread is None or not self._thread.is_alive()

    def wait(self) -> Path:
        """Wait until this process has done its part. Call it before the next save and before the end."""
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self.path

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._failure = error


def save(
    folder: Path,
    progress: Progress,
    trainable: Mapping[str, torch.Tensor],
    optimiser: torch.optim.Optimizer,
    *,
    run: Path | None = None,
    late: Sequence[str] = (),
    background: bool = False,
    group: dist.ProcessGroup | None = None,
) -> Saving:
    """Write the checkpoint of a step into `folder`; all ranks call it. It replaces one of the same step.

    `run` is the folder whose ledger and metrics are copied along. `late` are patterns of parameters that may have made
    fewer updates than the others, because they were unfrozen later. In the background the tensors are copied to the
    host first, so that training can go on; `group` is then a gloo group of all ranks that nothing else uses.
    Raises `UserError` where the optimiser has not made as many updates as the run.
    """
    rank, ranks = _rank()
    tensors, moments = dict(_tensors(trainable)), _moments(trainable, optimiser)
    state = _state(progress, trainable, optimiser, late, tensors, moments, ranks)
    draft, path = folder / f"{DRAFT}{name_of(progress.step)}", folder / name_of(progress.step)
    if rank == 0:
        remove_tree(draft)
        (draft / TENSORS).mkdir(parents=True)
        state = state.model_copy(update=_copy_history(run, draft)) if run is not None else state
        (draft / STATE).write_text(state.model_dump_json(indent=1) + "\n", encoding="utf-8")
        sync(draft / STATE)
    _barrier()
    index = dict.fromkeys(tensors, 1) | dict.fromkeys(moments, 2)  # weights in files of their own, for others to read
    writer = HuggingFaceStorageWriter(str(draft / TENSORS), index, save_distributed=True)
    alone = not _distributed()
    written: Callable[[], Any]
    if background:
        future = dcp.async_save({**tensors, **moments}, storage_writer=writer, process_group=group, no_dist=alone)
        written = future.result
    else:
        dcp.save({**tensors, **moments}, storage_writer=writer, process_group=group, no_dist=alone)
        written = _nothing

    def finish() -> None:
        try:
            written()
            _mark_written(draft, rank)
        except BaseException as error:
            _mark(draft, rank, {_FAILED: f"rank {rank}: {error}"})  # or rank 0 would wait for ever
            raise
        if rank == 0:
            _publish(draft, path, ranks)

    saving = Saving(path, finish, background)
    if not background:
        _barrier()
    return saving


def load(
    path: Path,
    trainable: Mapping[str, torch.Tensor],
    optimiser: torch.optim.Optimizer,
    *,
    fresh: Sequence[str] = (),
) -> Loaded:
    """Read a checkpoint into a model's parameters and an optimiser; all ranks call it, as many as there are now.

    The optimiser keeps the settings that the config gave it. `fresh` are patterns of parameters that need not be in
    the checkpoint, because they are unfrozen now. Raises `UserError` where a file is stray, missing or altered, and
    where names, shapes or types of parameters are others.
    """
    verify_together(path)
    saved = read_state(path)
    known = {name: tensor for name, tensor in trainable.items() if name in saved.tensors}
    _refuse_others(path, saved, trainable, fresh)
    tensors = dict(_tensors(known))
    moments = {
        f"{moment}.{name}": torch.zeros_like(tensor)
        for moment in saved.moments
        for name, tensor in tensors.items()
        if saved.late.get(name, saved.optimiser_steps)
    }
    reader = HuggingFaceStorageReader(str(path / TENSORS))
    dcp.load({**tensors, **moments}, storage_reader=reader, no_dist=not _distributed())
    groups = {id(parameter): group for group in optimiser.param_groups for parameter in group["params"]}
    for name, parameter in known.items():
        optimiser.state.pop(parameter, None)
        steps = saved.late.get(name, saved.optimiser_steps)
        if steps:
            group = groups[id(parameter)]
            where = parameter.device if group.get("fused") or group.get("capturable") else None
            values = {moment: moments[f"{moment}.{name}"] for moment in saved.moments}
            optimiser.state[parameter] = {"step": torch.tensor(float(steps), device=where), **values}
    return Loaded(
        saved,
        fingerprint(tensors),
        fingerprint(_moments(known, optimiser)),
        max(_steps(known, optimiser).values(), default=0),
        hyper_of(optimiser),
    )


def verify_together(path: Path) -> None:
    """Compare a checkpoint with its manifest, every rank a share of it; all raise what one has found."""
    rank, ranks = _rank()
    said = ""
    try:
        verify(path, rank, ranks)
    except UserError as error:
        said = str(error)
    if ranks > 1:
        all_said: list[str] = [""] * ranks
        dist.all_gather_object(all_said, said)
        said = next((text for text in all_said if text), "")
    if said:
        raise UserError(said)


def reset_moments(
    trainable: Mapping[str, torch.Tensor], optimiser: torch.optim.Optimizer, pattern: str = "*"
) -> list[str]:
    """Set the optimiser's tensors of all parameters that match to 0; its counts of steps stay. Returns their names."""
    names = [name for name in trainable if fnmatch.fnmatchcase(name, pattern)]
    for name in names:
        for key, value in optimiser.state.get(trainable[name], {}).items():
            if key != "step":
                value.zero_()
    return names


def hyper_of(optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """An optimiser's settings, except those that depend on the step. A setting is a list where its groups differ."""
    found: dict[str, Any] = {"class": type(optimiser).__name__}
    rows = [{key: value for key, value in group.items() if key not in _BY_STEP} for group in optimiser.param_groups]
    for key in sorted({key for row in rows for key in row}):
        values = [row.get(key) for row in rows]
        plain = values[0] if all(value == values[0] for value in values) else values
        if key == "betas" and isinstance(plain, tuple):
            found |= {"beta1": plain[0], "beta2": plain[1]}
        else:
            found[key] = list(plain) if isinstance(plain, tuple) else plain
    return found


def _state(
    progress: Progress,
    trainable: Mapping[str, torch.Tensor],
    optimiser: torch.optim.Optimizer,
    late: Sequence[str],
    tensors: Mapping[str, torch.Tensor],
    moments: Mapping[str, torch.Tensor],
    ranks: int,
) -> SavedState:
    steps = _steps(trainable, optimiser)
    made = max(steps.values(), default=0)
    if made != progress.optimiser_step:
        raise UserError(
            f"checkpoint of step {progress.step}: the optimiser has made {made} updates, and the run "
            f"{progress.optimiser_step} ({progress.skipped_updates} were skipped); nothing is saved"
        )
    fewer = {name: count for name, count in steps.items() if count != made}
    for name, count in fewer.items():
        if not _matches(name, late):
            raise UserError(
                f"checkpoint of step {progress.step}: {name} has made {count} updates of {made}, and no entry of the "
                "ledger unfroze it; nothing is saved"
            )
    return SavedState(
        **progress.model_dump(),
        world_size=ranks,
        optimiser_steps=made,
        late=fewer,
        tensors={name: _kind(tensor) for name, tensor in tensors.items()},
        moments=tuple(sorted({name.partition(".")[0] for name in moments})),
        hyper=json.loads(json.dumps(hyper_of(optimiser))),
        parameters_fingerprint=fingerprint(tensors),
        moments_fingerprint=fingerprint(moments),
    )


def _tensors(trainable: Mapping[str, torch.Tensor]) -> list[tuple[str, torch.Tensor]]:
    return [(name, parameter.detach()) for name, parameter in sorted(trainable.items())]


def _steps(trainable: Mapping[str, torch.Tensor], optimiser: torch.optim.Optimizer) -> dict[str, int]:
    """How many updates each parameter has made."""
    return {name: int(optimiser.state.get(tensor, {}).get("step", 0)) for name, tensor in trainable.items()}


def _moments(trainable: Mapping[str, torch.Tensor], optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """The optimiser's tensors, named after what they are and their parameter: exp_avg.NAME."""
    found: dict[str, torch.Tensor] = {}
    for name, parameter in sorted(trainable.items()):
        for key, value in optimiser.state.get(parameter, {}).items():
            if key == "step":
                continue
            if not isinstance(value, torch.Tensor) or value.shape != parameter.shape:
                raise UserError(
                    f"checkpoint: the optimiser keeps {key} of {name}, which is not a tensor of the parameter's shape"
                )
            found[f"{key}.{name}"] = value.detach()
    return found


def _kind(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _refuse_others(path: Path, saved: SavedState, trainable: Mapping[str, torch.Tensor], fresh: Sequence[str]) -> None:
    for name in saved.tensors:
        if name not in trainable:
            raise UserError(
                f"{path}: it has {name}, which this model does not train; build the model as config.yaml says"
            )
    for name, tensor in trainable.items():
        if name not in saved.tensors:
            if _matches(name, fresh):
                continue
            raise UserError(
                f"{path}: it has no {name}, which this model trains; obelics intervene RUN unfreeze says so"
            )
        if saved.tensors[name] != _kind(tensor):
            raise UserError(f"{path}: {name} is {saved.tensors[name]} there, and {_kind(tensor)} in this model")


def _copy_history(run: Path, draft: Path) -> dict[str, int]:
    """Copy ledger and metrics, up to their last whole line; how many bytes of each."""
    (draft / HISTORY).mkdir()
    found = {}
    for name, key in ((LEDGER, "ledger_bytes"), (METRICS, "metrics_bytes")):
        source, target = run / name, draft / HISTORY / name
        if source.exists():
            shutil.copyfile(source, target)
            cut_half_line(target)
            sync(target)
            found[key] = target.stat().st_size
    return found


def _mark_written(draft: Path, rank: int) -> None:
    """Say that this rank's files are on the disk, with their hashes: ranks hash side by side."""
    mine = sorted((draft / TENSORS).glob(f"shard-{rank + 1:05d}-*"))
    hashes = {path.relative_to(draft).as_posix(): file_sha256(path) for path in mine}
    _mark(draft, rank, hashes)


def _mark(draft: Path, rank: int, value: dict[str, str]) -> None:
    unfinished = draft / f"{_WRITTEN}{rank:05d}.draft"
    unfinished.write_text(json.dumps(value), encoding="utf-8")
    unfinished.rename(draft / f"{_WRITTEN}{rank:05d}")


def _publish(draft: Path, path: Path, ranks: int) -> None:
    """Once all ranks have written: the manifest, and the folder's name."""
    marks = [draft / f"{_WRITTEN}{rank:05d}" for rank in range(ranks)]
    while not all(mark.exists() for mark in marks):
        time.sleep(_POLL_SECONDS)
    hashes: dict[str, str] = {}
    for mark in marks:
        hashes |= json.loads(mark.read_text(encoding="utf-8"))
        mark.unlink()
    if _FAILED in hashes:
        raise OSError(f"{path} was not written: {hashes[_FAILED]}")
    write_manifest(draft, hashes)
    for folder in {(draft / name).parent for name in files_in(draft)}:
        sync(folder)
    old = path.with_name(OLD + path.name)
    if path.exists():
        remove_tree(old)
        path.rename(old)
    draft.rename(path)
    sync(path.parent)
    remove_tree(old)


def _distributed() -> bool:
    return bool(dist.is_available() and dist.is_initialized())


def _rank() -> tuple[int, int]:
    return (dist.get_rank(), dist.get_world_size()) if _distributed() else (0, 1)


def _barrier() -> None:
    if _distributed():
        dist.barrier()


def _nothing() -> None:
    return None
