"""How soon the guard of a training finds planted faults, how soon the training is well again, and whether it lets
healthy trainings alone: the trainer itself, a very small model, one process, one core.

    python benchmarks/guarding.py [--faults NAME …] [--seeds FIRST STOP] [--clean STEPS] [--remixed] [--cost]
        [--work DIR]

Faults: document (noise in rows of one to three steps), collapse (the last layer shrinks in an update), projection (a
matrix is 6 to 80 times what it was), growth (it grows by 2 to 12 % a step), rate (after a resume the schedule begins
anew, or the optimiser has a rate of its own), bit (any bit of any trained weight flips, before or after the gradient),
nan (a weight is read as NaN); and what updates do that are like any other: pages (noise for dozens of steps), logits
(the loss on log z has the wrong sign), climb (the ledger raises the rate 5 to 40 times), moments (wrong betas).
Last, what learns nothing: zero (all gradients are zero), frozen (those of one group are).
Which, when and how much each seed draws, as the peak, the length of the warm-up and the shape of the schedule.

A fault is found at the first alarm; recovered where the held-out loss is, at that evaluation and all further ones
(means of three), within 1 % of an undisturbed training's at the same step, or all losses are again those of it to the
bit. Steps are counted as they are made, those after a rollback too. `--no-watch` leaves out the sums and norms of
weights (health.weight_steps: 0), so that only the figures of training remain: what is found where the optimiser
itself, and not its machine, breaks a model. `--remixed` trains with nothing wrong on rows that are all of one data set
at first, and a fifth of them from step 330 on; the other set's loss ends at a level that is far from its own.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from obelics_pipeline.models.device.torchvision_import import mend_torchvision

mend_torchvision()

import numpy as np

from benchmarks.planted.corpus import ROWS, make_corpus
from benchmarks.planted.faults import FAULTS
from benchmarks.planted.trainer import GarblingReader, config_of, trainer
from benchmarks.planted.trial import Outcome, Setting, trial
from obelics_pipeline.training.train.journal import read_journal

REMIXED_STEPS, REMIXED_AT, REMIXED_SHARE = 500, 330, 0.2
"""Of a training whose mix changes: its steps, the first of the other mix, and what is left there of the first set."""
WIDE = {"web": 80, "wiki": 1}
"""How many words may follow a word in its two sets: one is learned by heart, the other hardly at all."""


def main() -> None:
    """Run what was asked for, part by part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), choices=FAULTS)
    parser.add_argument("--seeds", nargs=2, type=int, default=(100, 103), metavar=("FIRST", "STOP"))
    parser.add_argument("--steps", type=int, default=300, help="after a fault")
    parser.add_argument("--clean", type=int, default=0, help="steps of healthy trainings, all together")
    parser.add_argument("--remixed", action="store_true", help="a healthy training for each seed, whose mix changes")
    parser.add_argument("--no-watch", action="store_true", help="health.weight_steps: 0")
    parser.add_argument("--cost", action="store_true", help="time sums and norms of weights")
    parser.add_argument("--work", type=Path, default=None, help="keep trainings here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        work = options.work or Path(made)
        more: dict[str, Any] = {"health": {"kernel_log": None, "weight_steps": 0}} if options.no_watch else {}
        if options.cost:
            cost()
        if options.clean:
            healthy(work, range(*options.seeds), options.clean)
        if options.remixed:
            remixed(work, range(*options.seeds))
        if options.clean or options.remixed:
            return
        outcomes: list[Outcome] = []
        for seed in range(*options.seeds):
            setting = Setting.drawn(work, seed, options.steps)
            for fault in options.faults:
                outcomes.append(trial(work, setting, fault, options.steps, **more))
                print(outcomes[-1].line, flush=True)
        table(outcomes)


def table(outcomes: list[Outcome]) -> None:
    """By fault."""
    print(f"{'fault':<12}{'trials':>7}{'found after (median, max)':>27}{'recovered after (median, max)':>31}  actions")
    for fault in FAULTS:
        mine = [o for o in outcomes if o.fault == fault]
        if mine:
            found = [math.inf if o.found is None else o.found for o in mine]
            well = [math.inf if o.recovered is None else o.recovered for o in mine]
            kinds = [a.split()[0] for o in mine for a in o.actions]
            acts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
            print(
                f"{fault:<12}{len(mine):>7}{np.median(found):>19.0f}, {max(found):>6.0f}{np.median(well):>23.0f}, "
                f"{max(well):>6.0f}  {acts or 'none'}"
            )
    print(f"actions before a fault: {sum(len(o.false) for o in outcomes)}")


def healthy(work: Path, seeds: range, steps: int) -> None:
    """Trainings with nothing wrong, of different rates, shapes and seeds."""
    done = 0
    for seed in seeds:
        draw = np.random.default_rng([seed, 1])
        corpus = work / f"corpus-{seed % 3}"
        make_corpus(corpus, 6000, seed % 3)
        each = math.ceil(steps / len(seeds))
        schedule = {
            "peak": float(np.exp(draw.uniform(np.log(5e-4), np.log(1.2e-2)))),
            "warmup_steps": int(draw.integers(5, 150)),
            "shape": str(draw.choice(["cosine", "constant", "linear", "inverse_sqrt"])),
            "steps": each,
        }
        clip = [None, 1.0, 0.3][int(draw.integers(3))]
        began = time.process_time()
        output = work / f"clean-{seed}"
        checkpoint, optimizer = {"every_steps": 250}, {"clip": clip}
        config = config_of(corpus, steps=each, schedule=schedule, seed=seed, checkpoint=checkpoint, optimizer=optimizer)
        with trainer(config, output) as training:
            training.run()
        made = sum(1 for _ in read_journal(output / "metrics.jsonl"))
        done += made
        told(f"clean {seed}: {made} steps, {schedule}, clip {clip}", output, each)
        print(f"    {(time.process_time() - began) / made:.3f} s a step", flush=True)
    print(f"{done} clean steps")


def remixed(work: Path, seeds: range) -> None:
    """Trainings with nothing wrong whose rows are of one data set first, and a fifth of them afterwards."""
    for seed in seeds:
        draw, output = np.random.default_rng([seed, 2]), work / f"remixed-{seed}"
        corpus = work / f"wide-{seed % 3}"
        make_corpus(corpus, 6000, seed % 3, WIDE)
        schedule = {
            "peak": float(np.exp(draw.uniform(np.log(1e-3), np.log(6e-3)))),
            "warmup_steps": 40,
            "shape": "cosine",
            "steps": REMIXED_STEPS,
        }
        config = config_of(corpus, steps=REMIXED_STEPS, schedule=schedule, seed=seed)
        with trainer(config, output) as training:
            plan, reader = training.plan, training.feed.reader
            assert isinstance(reader, GarblingReader)
            sets = plan.datasets_of_rows()
            rows = [iter(np.flatnonzero(sets == number)) for number in draw.permutation(len(plan.datasets))]
            for number in range(REMIXED_STEPS * ROWS):
                first = number < REMIXED_AT * ROWS or draw.random() < REMIXED_SHARE
                reader.order[number] = int(next(rows[0 if first else 1]))
            training.run()
        told(f"remixed {seed}: {schedule}", output, REMIXED_STEPS)


def told(what: str, output: Path, steps: int) -> None:
    """Print what a guard did in a training of so many steps with nothing wrong: each action is false."""
    ledger = [json.loads(line) for line in (output / "ledger.jsonl").read_text().splitlines()]
    acts = [
        e for e in ledger if e["kind"] in ("skip_update", "rollback") or (e["kind"] == "stop" and e["step"] < steps)
    ]
    waits = sum(e["kind"] == "wait" for e in ledger)
    kinds = [e["evidence"]["kind"] for e in ledger if e["kind"] == "alarm"]
    alarms = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    print(f"{what}; actions {len(acts)}, waits {waits}, alarms {alarms}", flush=True)
    for entry in acts:
        print(f"    FALSE {entry['kind']} {entry['step']}: {entry.get('why') or entry.get('reason')}")


def cost() -> None:
    """Milliseconds of one core for sums and norms of weights, each made once a step or twice."""
    import torch

    from obelics_pipeline.training.train.health.checksum import quick_sum
    from obelics_pipeline.training.train.health.update_bounds import UpdateBounds

    torch.set_num_threads(1)
    for width, layers in ((32, 2), (512, 8), (1024, 8)):
        shapes = [(width, width)] * 4 * layers + [(4 * width, width)] * 3 * layers
        weights = {str(i): torch.randn(*shape) for i, shape in enumerate(shapes)}
        bounds = UpdateBounds(weights, 0.9, 0.95)
        times = []
        for work in (lambda w=weights: quick_sum(w.values()), lambda b=bounds: b.moved(1e-3, 0.1)):
            work()
            began = time.process_time()
            for _ in range(5):
                work()
            times.append((time.process_time() - began) / 5 * 1e3)
        million = sum(w.numel() for w in weights.values()) / 1e6
        print(f"{million:8.2f} M weights: {2 * times[0]:8.2f} ms for two sums, {times[1]:8.2f} ms for norms, a step")


if __name__ == "__main__":
    main()
