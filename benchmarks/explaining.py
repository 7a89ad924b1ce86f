"""In how many trainings `obelics explain-spike` has a planted page among its first three: the trainer itself, real
texts, a small model, one process, one core.

    python benchmarks/explaining.py RUN … [--trials N] [--steps N] [--width W] [--layers L] [--work DIR]

RUN: folders of finished curation runs, such as demo-output of `make demo`. A small Flamingo is trained on their
documents. Then, for each trial, the training goes on from its last checkpoint, and one document that comes in the next
steps has another text: kinds in turn, long documents and short ones. The step that is explained is the one a person
would name: of the planted one and the three after it the one whose loss is highest above what is usual.

A trial spikes where loss, gradient norm or the guard see something in these steps that they do not see there in the
same training without the planted text.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from unittest import mock

from obelics_pipeline.models.device.torchvision_import import mend_torchvision

mend_torchvision()

import numpy as np
from transformers.utils.logging import disable_progress_bar

from benchmarks.planted.pages import KINDS
from benchmarks.planted.trainer import trainer
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.demo.show import read_documents
from obelics_pipeline.models.packed_flamingo.document_tokens import DocumentTokens
from obelics_pipeline.models.packed_flamingo.tiny import tiny
from obelics_pipeline.training.diagnosis.loss_diagnosis import LossDiagnosis, explain_spike
from obelics_pipeline.training.diagnosis.signals import BASELINE, FAR, signals_of
from obelics_pipeline.training.diagnosis.training_run import TrainingRun
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.train import stored_rows
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.stored_rows import RowReader

TOKENS, ROWS = 1024, 2  # of a row, and of a step
LATER, AFTER = 8, 4  # steps within which a planted document comes, and that are trained after it
FIRST = 3
LENGTHS = ("short", "any", "long", "any")


@dataclass(eq=False)
class PlantedReader(RowReader):
    """Reads some documents with another text: `planted` has its tokens, by document."""

    planted: dict[int, np.ndarray] = field(default_factory=dict)

    def _document(self, number: int) -> tuple[DocumentTokens, tuple[bytes, ...]]:
        tokens, files = super()._document(number)
        if number not in self.planted:
            return tokens, files
        ids, words = tokens.ids.copy(), self.planted[number]
        text = np.flatnonzero(tokens.targets & (ids < self.vocabulary.words) & (ids != self.vocabulary.end))
        ids[text] = np.resize(words, len(text))
        return replace(tokens, ids=ids), files


@dataclass(frozen=True)
class Found:
    """Of a trial: the places of the planted document among the suspects, from 1; 0: not among those shown.

    `place` is by losses and gradients, as the command has it for a small model; `by_losses` with --no-replay.
    """

    kind: str
    targets: int
    place: int
    by_losses: int
    spiked: bool


def config_of(work: Path, steps: int) -> TrainConfig:
    """Of the training, up to a step; the learning rate does not depend on it."""
    return TrainConfig.model_validate(
        {
            "plan": str(work / "plan"),
            "model": {
                "language_model": str(work / "parts/language_model"),
                "vision": str(work / "parts/vision"),
                "latents": 8,
                "resampler_depth": 1,
                "cross_every": 2,
                "heads": 4,
                "head_dim": 16,
                "unfreeze": ["language_model.*"],
            },
            "steps": steps,
            "micro_rows": ROWS,
            "precision": "float32",
            "device": "cpu",
            "threads": 1,
            "schedule": {"peak": 2e-3, "warmup_steps": 40, "shape": "constant"},
            "loader": {"workers": 0},
            "checkpoint": {"every_steps": 1000},
            "evaluation": {"rows": 2},
            "health": {"kernel_log": None},
        }
    )


def trained(runs: Sequence[Path], work: Path, steps: int, width: int, layers: int) -> list[str]:
    """Train below `work`, where it was not done yet; the texts of the documents."""
    records = (one for run in runs for shard in sorted((run / "shards").glob("*.tar")) for one in read_documents(shard))
    texts = ["\n".join(text for text in one["texts"] if text) for one in records]
    if not (work / "plan/plan.json").exists():
        language_model, _ = tiny(work / "parts", texts, words=2000, width=width, layers=layers)
        recipe = {
            "datasets": {"web": {"runs": [str(run.resolve()) for run in runs], "repeat": 50}},
            "language_model": str(language_model.resolve()),
            "sequence_tokens": TOKENS,
            "images_per_row": 12,
            "batch_tokens": ROWS * TOKENS,
            "tokens": (steps + LATER + AFTER + 1) * ROWS * TOKENS,
            "held_out": 0.02,
            "allow_equal_content": True,
        }
        make_plan(Recipe.model_validate(recipe), work / "plan")
    if not (work / "run/model").exists():
        shutil.rmtree(work / "run", ignore_errors=True)
        with trainer(config_of(work, steps), work / "run") as training:
            training.run()
        (work / "run/plan.txt").write_text(f"{(work / 'plan').resolve()} {open_plan(work / 'plan').id}\n")
    return [text for text in texts if len(text.split()) >= 50]


def chosen(plan: Plan, steps: int, length: str, draw: np.random.Generator) -> tuple[int, int, int]:
    """A document that stands as a whole in a row of the steps to come, its step, and its tokens."""
    found = []
    for row in range(steps * ROWS, (steps + LATER) * ROWS):
        for span in plan.row(row).spans:
            tokens = plan.document(span.document).n_tokens
            if span.token_start == 0 and span.token_stop in (tokens, TOKENS) and tokens >= 12:
                found.append((span.document, row // ROWS + 1, span.token_stop))
    found.sort(key=lambda one: one[2])
    third = max(1, len(found) // 4)
    of_length = {"short": found[:third], "long": found[-third:], "any": found}[length]
    return of_length[int(draw.integers(len(of_length)))]


def go_on(work: Path, output: Path, last: int, planted: Mapping[int, str], draw: np.random.Generator) -> PlantedReader:
    """Go on with the training up to a step, with documents of another text; who has read them."""
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(work / "run", output)
    with trainer(config_of(work, last), output) as training:
        old, plan = training.feed.reader, training.plan
        words: dict[int, np.ndarray] = {}
        for document, text in planted.items():
            ids, n_tokens = np.array(old.vocabulary.encode(text)), plan.document(document).n_tokens
            start = int(draw.integers(max(1, len(ids) - n_tokens)))
            words[document] = ids[start : start + n_tokens]
        reader = PlantedReader(plan, old.vocabulary, old.side, planted=words)
        training.feed = replace(training.feed, reader=reader)
        try:
            training.run()
        except Stopped as stopped:
            print("   ", stopped)
    return reader


def trial(work: Path, texts: Sequence[str], kind: str, number: int, steps: int) -> Found:
    """Go on with the training, with one document planted, and explain what is seen of it."""
    draw = np.random.default_rng([number, 7])
    control, output = work / "control", work / f"trial-{number:03d}"
    if not (control / "model").exists():
        go_on(work, control, steps + LATER + AFTER, {}, draw)
    document, step, n_tokens = chosen(open_plan(work / "plan"), steps, LENGTHS[number % len(LENGTHS)], draw)
    text = KINDS[kind](draw, texts[int(draw.integers(len(texts)))])
    reader = go_on(work, output, step + AFTER, {document: text}, draw)
    run = TrainingRun(output)
    peak, seen = spike(run, step)
    with mock.patch.object(stored_rows, "RowReader", partial(PlantedReader, planted=reader.planted)):
        diagnoses = [explain_spike(run, peak, pictures=False, replay=replay) for replay in (True, False)]
    spiked = bool(seen - spike(TrainingRun(control), step)[1])
    place, by_losses = (place_of(document, diagnosis) for diagnosis in diagnoses)
    return Found(kind, n_tokens, place, by_losses, spiked)


def place_of(document: int, diagnosis: LossDiagnosis) -> int:
    """From 1; 0: it is not there."""
    places = (i for i, one in enumerate(diagnosis.suspects, 1) if one.document.number == document)
    return next(places, 0)


def spike(run: TrainingRun, step: int) -> tuple[int, set[tuple[str, int]]]:
    """The step that a person would ask about, and what is to be seen at which steps."""
    last, attempt = step + AFTER - 1, min(run.attempts_with(step))
    lines = run.steps(attempt, step - BASELINE, last)
    signals = [s for s in signals_of(lines, step) if s.name in ("loss", "grad_norm")]
    of_loss = next(s for s in signals if s.name == "loss")
    peak = int(of_loss.steps[of_loss.z.argmax()])
    seen = {(s.name, at) for s in signals for at in s.steps[np.abs(s.z) > FAR].tolist()}
    noted = [e for e in run.ledger if step <= e["step"] <= last and e["kind"] in ("alarm", "skip_update")]
    return peak, seen | {(entry["kind"], entry["step"]) for entry in noted}


def table(found: Iterable[Found]) -> None:
    """By kind."""
    found = list(found)
    heads = ("trials", "in the first 3", "by losses", "spiked", "of these", "by losses")
    print(f"{'kind':<16}" + "".join(f"{head:>16}" for head in heads))
    for kind in [*dict.fromkeys(one.kind for one in found), "all"]:
        mine = [one for one in found if kind in (one.kind, "all")]
        seen = [one for one in mine if one.spiked]
        places = [[one.place for one in mine], [one.by_losses for one in mine]]
        places += [[one.place for one in seen], [one.by_losses for one in seen]]
        first = [sum(0 < at <= FIRST for at in some) for some in places]
        figures = (len(mine), *first[:2], len(seen), *first[2:])
        print(f"{kind:<16}" + "".join(f"{figure:>16}" for figure in figures))


def main() -> None:
    """Run the trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--trials", type=int, default=4 * len(KINDS))
    parser.add_argument("--steps", type=int, default=600, help="of the training before the trials")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--work", type=Path, default=None, help="keep trainings here, and go on with them")
    options = parser.parse_args()
    disable_progress_bar()
    with tempfile.TemporaryDirectory() as made:
        work = options.work or Path(made)
        texts = trained(options.runs, work, options.steps, options.width, options.layers)
        found = []
        for number in range(options.trials):
            kind = list(KINDS)[number % len(KINDS)]
            found.append(one := trial(work, texts, kind, number, options.steps))
            print(
                f"{kind}, {one.targets} tokens: place {one.place}, by losses alone {one.by_losses}"
                f"{'' if one.spiked else ', no spike'}", flush=True,
            )  # fmt: skip
        table(found)


if __name__ == "__main__":
    main()
