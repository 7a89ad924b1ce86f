"""Tokens per CPU second of our training steps and of open_flamingo's own, in turn, of the same run and the same model.

    python benchmarks/open_flamingo_speed.py RUN EXPORT ENVIRONMENT [--width 256] [--layers 4] [--every 1]
        [--tokens 1024] [--rounds 5] [--steps 1] [--work FOLDER]

RUN: a finished run; EXPORT: what `obelics export --format open_flamingo` made of it; ENVIRONMENT: what
benchmarks/open_flamingo/make_environment.sh made. There, benchmarks/open_flamingo/theirs.py runs their real
`train_one_epoch` (2.0.1) over batches of their real loader: 8 documents padded or cut to 256 tokens, 6 images each,
empty ones where a document has fewer, and one LAION pair beside them, the fewest that it takes. Here the same documents
are packed, 2,048 tokens a step too, with the settings that make the model the same (`of_open_flamingo`: same layers,
same arithmetic, same parameters). Both on one thread in float32; steps of each are made in turn and CPU seconds of the
process are counted: forward, backward, clip, optimiser; ours with its sums, figures and accounts. Start and loaders are
left out on both sides. Text tokens: those of documents, without marks and padding, whether predicted or not.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.training import ALONE, STEPS_PER_FILE, interval
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.saved import save_trained
from obelics_pipeline.models.packed_flamingo.settings import of_open_flamingo
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.train.accounts import AccountWriter
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.config import LoaderConfig, OptimizerConfig
from obelics_pipeline.training.train.feed import Feed
from obelics_pipeline.training.train.figures import figures_of
from obelics_pipeline.training.train.learner import make_learner
from obelics_pipeline.training.train.state.cursor import RowOrder
from obelics_pipeline.training.train.step import Objective
from obelics_pipeline.training.train.stored_rows import RowReader
from obelics_pipeline.training.train.sums import account_rows

HERE = Path(__file__).parent / "open_flamingo"
VISION = "ViT-S-32-alt"
STEP_TOKENS = 2048


class Theirs:
    """Their trainer in its own process."""

    def __init__(self, environment: Path, models: Path, export: Path, every: int, log: Path) -> None:
        python = str(environment / "bin" / "python")
        command = [python, str(HERE / "theirs.py"), "run", str(models), str(export), "--every", str(every)]
        self.log = log.open("w")
        one = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled"}
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, env=kept | one, cwd=HERE
        )
        self.about = self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"open_flamingo's trainer has ended; see {self.log.name}")
        found: dict[str, Any] = json.loads(line)
        return found

    def steps(self, n: int) -> dict[str, Any]:
        """So many steps: CPU seconds, counts of tokens and pictures, and the peak of memory so far."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        return self._read()

    def end(self) -> dict[str, Any]:
        """End it; the bytes of its checkpoint."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        found = self._read()
        self.process.wait()
        return found


class Ours:
    """Our trainer's step, as the loop makes it."""

    def __init__(self, run: Path, models: Path, every: int, tokens: int, work: Path) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        lm = str(models / "lm")
        recipe = {
            "datasets": {"run": {"runs": [str(run)]}},
            "language_model": lm,
            "sequence_tokens": tokens,
            "images_per_row": tokens // 64,
            "batch_tokens": STEP_TOKENS,
            "allow_equal_content": True,
        }
        make_plan(Recipe.model_validate(recipe), work / "plan")
        plan = open_plan(work / "plan")
        weights = str(models / "vision.pt")
        self.model = build(of_open_flamingo(lm, VISION, every, vision_weights=weights))
        reader = RowReader(plan, self.model.vocabulary, self.model.vision.side)
        feed = Feed(plan, reader, ALONE, STEP_TOKENS // tokens, LoaderConfig(workers=0, ahead=1))
        whole = [batches for rows, batches in feed.steps(RowOrder(plan.n_rows), 0) if rows.rows]
        self.batches = itertools.cycle(whole)
        objective = Objective(torch.ones(1), 1e-4, True, "float32")
        self.learner = make_learner(self.model, objective, ALONE, OptimizerConfig())
        self.accounts = AccountWriter(work, 1, 0, STEPS_PER_FILE)
        known = self.model.vocabulary
        self.marks = torch.tensor([known.begin, known.image, known.end_of_chunk, known.end, known.pad])
        self.number = 0

    def steps(self, n: int) -> dict[str, Any]:
        """As `Theirs.steps`."""
        coming = list(itertools.islice(self.batches, n))
        began = time.process_time()
        for batches in coming:
            self._step(batches)
        seconds = time.process_time() - began
        packed = [batch.packed for batches in coming for batch in batches]
        return {
            "cpu": seconds,
            "text": sum(int((~torch.isin(p.ids, self.marks)).sum()) for p in packed),
            "targets": sum(int(p.target.sum()) for p in packed),
            "places": sum(p.ids.numel() for p in packed),
            "images": sum(len(p.pictures) for p in packed),
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }

    def _step(self, batches: tuple[MicroBatch, ...]) -> None:
        self.number += 1
        sums, norm = self.learner.gradient(batches, lambda: None)
        figures_of(sums, batches, ("run",), ALONE)
        self.learner.set_rate(1e-4, 0.1)
        self.learner.update(norm, 1.0)
        self.accounts.add(self.number, account_rows(batches, sums.spans))

    def sizes(self, work: Path) -> tuple[int, int]:
        """Bytes of the trained weights as saved, and of these with the optimiser's state."""
        save_trained(self.model, work / "model")
        weights = sum(path.stat().st_size for path in (work / "model").iterdir())
        file = io.BytesIO()
        torch.save(self.learner.optimizer.state_dict(), file)
        return weights, weights + len(file.getbuffer())


def parameters(model: PackedFlamingo) -> tuple[int, int]:
    """All, and those that train."""
    return sum(p.numel() for p in model.parameters()), sum(p.numel() for p in model.trainable().values())


def compare(given: argparse.Namespace, work: Path) -> None:
    """Print the comparison."""
    models = work / "models"
    if not models.exists():
        models.mkdir(parents=True)
        texts = work / "texts.txt"
        texts.write_text(_texts(given.run))
        python = str(given.environment / "bin" / "python")
        sizes = ["--width", str(given.width), "--layers", str(given.layers)]
        command = [python, str(HERE / "theirs.py"), "make", str(models), str(texts), *sizes]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run(command, check=True, env=kept, cwd=HERE, stdout=sys.stderr)
    ours = Ours(given.run, models, given.every, given.tokens, work)
    theirs = Theirs(given.environment, models, given.export.resolve(), given.every, work / "theirs.log")
    sides: dict[str, Theirs | Ours] = {"open_flamingo": theirs, "obelics": ours}
    for side in sides.values():
        side.steps(2)  # warm
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    for _ in range(given.rounds):
        for name, side in sides.items():
            found[name].append(side.steps(given.steps))
    all_of, trains = parameters(ours.model)
    print(f"parameters, those that train: open_flamingo {theirs.about['parameters']:,}, {theirs.about['trained']:,};")
    print(f"    obelics {all_of:,}, {trains:,}; vocabulary {ours.model.vocabulary.words:,}")
    print("a step             CPU s   places   text  predicted  pictures   text tokens per CPU second")
    for name, rounds in found.items():
        n = given.rounds * given.steps
        sums = {key: sum(r[key] for r in rounds) / n for key in ("cpu", "places", "text", "targets", "images")}
        print(
            f"{name:<16}{sums['cpu']:8.2f} {sums['places']:8.0f} {sums['text']:6.0f} {sums['targets']:10.0f} "
            f"{sums['images']:9.1f} {sums['text'] / sums['cpu']:12.1f}"
        )
    for kind, label in (("text", "text tokens"), ("targets", "predicted tokens"), ("places", "places")):
        ratios = [
            (b[kind] / b["cpu"]) / (a[kind] / a["cpu"])
            for a, b in zip(found["open_flamingo"], found["obelics"], strict=True)
        ]
        low, high = interval(ratios)
        print(f"{label} per CPU second: {statistics.median(ratios):.2f} times theirs ({low:.2f} to {high:.2f})")
    peaks = {name: max(r["peak"] for r in rounds) for name, rounds in found.items()}
    weights, state = ours.sizes(work)
    of_theirs = theirs.end()["state"]
    most = {name: f"{peak / 1e6:,.0f} MB" for name, peak in peaks.items()}
    print(f"peak of memory: open_flamingo {most['open_flamingo']}, obelics {most['obelics']}")
    print(f"trained weights: open_flamingo {theirs.about['weights'] / 1e6:.1f} MB, obelics {weights / 1e6:.1f} MB")
    print(f"with the optimiser: open_flamingo {of_theirs / 1e6:.1f} MB, obelics {state / 1e6:.1f} MB")


def _texts(run: Path) -> str:
    import webdataset

    shards = [str(path) for path in sorted(run.glob("shards/*.tar"))]
    samples = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
    return "\n".join(text for sample in samples for text in json.loads(sample["json"])["texts"] if text)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("export", type=Path, metavar="EXPORT")
    parser.add_argument("environment", type=Path, metavar="ENVIRONMENT")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--work", type=Path, help="a new folder that stays")
    given = parser.parse_args()
    if given.work is not None:
        given.work.mkdir(parents=True, exist_ok=True)
        compare(given, given.work)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(given, Path(folder))


if __name__ == "__main__":
    main()
