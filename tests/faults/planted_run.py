"""Trainings with planted faults, in this process or as one of two; the parts of benchmarks/guarding.py."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.planted.corpus import make_corpus
from benchmarks.planted.faults import planted
from benchmarks.planted.trainer import config_of, trainer
from benchmarks.planted.trial import Outcome, Setting, trial
from obelics_pipeline.training.train.processes import join, leave

AT = 33
"""The step of the fault: eight after a checkpoint."""


def setting(work: Path, seed: int = 0, at: int = AT) -> Setting:
    """A training of a few dozen steps."""
    make_corpus(work / "corpus", 400, 7)
    schedule = {"peak": 3e-3, "warmup_steps": 10, "shape": "constant", "steps": 400}
    return Setting(work / "corpus", schedule, at, seed)


def outcome(work: Path, fault: str, seed: int, at: int = AT, after: int = 20) -> Outcome:
    """Of a fault that strikes at `at`, beside an undisturbed training, which is made once for a seed."""
    return trial(work, setting(work, seed, at), fault, after)


def one_of_two(rank: int, work: str, port: int, seed: int | None) -> None:
    """One of two processes that train together; a bit flips in the second, where a seed is given."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = join("cpu")
    try:
        of = setting(Path(work))
        config = config_of(of.corpus, steps=AT + 5, schedule=dict(of.schedule), seed=0, micro_rows=2)
        output = Path(work) / ("sound" if seed is None else f"flipped-{seed}")
        with trainer(config, output, processes) as training:
            if rank == 1 and seed is not None:
                with planted("bit", training, AT, seed):
                    training.run()
            else:
                training.run()
    finally:
        leave()
