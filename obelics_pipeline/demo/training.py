"""`obelics demo --train`: a small Flamingo learns from the demo's shards, and meets a page that no reader wants.

Then the way back from the spike of its loss to the page is walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from rich.console import Console
from rich.markup import escape

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.demo.run import CONFIG, run_demo
from obelics_pipeline.demo.show import read_documents
from obelics_pipeline.demo.unfiltered import URL, pack_unfiltered, without_bounds
from obelics_pipeline.training.train.folder import TrainingFolder
from obelics_pipeline.training.train.journal import read_journal
from obelics_pipeline.training.train.state.ledger import NAME as LEDGER

Say = Callable[[str], None]
NEEDED = ("torch", "transformers", "tokenizers", "safetensors", "PIL")
ACTS = ("skip_update", "wait", "rollback", "stop")  # kinds of entries with which the guard does something
TOLD = (*ACTS, "skip_rows", "lr", "hardware")

TOKENS, ROWS = 1024, 2  # of a row, and of a step: the page is to be half of its step
PASSES = 7  # over the demo's documents: 45 seconds of two cores, and the page comes in the middle
WINDOW = 50  # steps before the spike that say what was usual: those that explain-spike looks at
WORDS, WIDTH, LAYERS = 1000, 64, 2  # of the language model


class TrainingDemo:
    """The folders and files of the demo's training."""

    def __init__(self, output: Path) -> None:
        self.output = output  # the demo's run
        self.folder = output / "training"
        self.board = self.folder / "board"  # the run of the second crawl
        self.parts = self.folder / "parts"  # a language model and a vision tower
        self.recipe = self.folder / "plan.yaml"
        self.plan = self.folder / "plan"
        self.config = self.folder / "train.yaml"
        self.run = self.folder / "run"


def train_demo(output: Path) -> int:
    """Run the demo where it has not been run, train on its shards, and explain the spike. Returns an exit code.

    What is there already is not done again. Raises UserError, and Stopped where the guard ends the training.
    """
    refuse_without_torch()
    demo, console = TrainingDemo(output), Console()
    if not (output / "validated").is_file():
        code = run_demo(output)
        if code:
            return code
    _make(demo, console)
    print_end(demo, console)
    return 0


def refuse_without_torch() -> None:
    """Raises UserError where a package is missing that the training needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UserError(
            f"the training needs {missing[0]}: pip install 'obelics-pipeline[demo,train]', or make train-demo, which "
            "installs it"
        )


def _make(demo: TrainingDemo, console: Console) -> None:
    """All that is not there yet: the second crawl, the parts, the plan and the training."""

    def title(text: str) -> None:
        console.print(f"\n[bold]{text}[/bold]", highlight=False)

    def say(line: str) -> None:
        console.print(escape(line), highlight=False, soft_wrap=True)

    if is_trained(demo):
        say(f"\n{demo.run}: trained already; to train again, remove {demo.folder}")
        return
    if not (demo.board / "validated").is_file():
        title("a second crawl, of one page, run with all thresholds taken away")
        _run_unfiltered(demo)
    if not (demo.parts / "vision" / "preprocessor_config.json").is_file():
        title("a language model, its tokenizer and a vision tower, small and random")
        make_parts(demo)
        say(f"{demo.parts}: {WORDS:,} words, width {WIDTH}, {LAYERS} layers")
    if not (demo.plan / "plan.json").is_file():
        title("the plan: which tokens of which documents stand in which step")
        _make_plan(demo, say)
    title("the training: about a minute")
    say(f"the page of the second crawl comes once, in step {step_of_page(demo):,}")
    _train(demo, say)


def _run_unfiltered(demo: TrainingDemo) -> None:
    from obelics_pipeline.jobs.main_job import run

    warc = pack_unfiltered(demo.board / "input")
    if run(CONFIG, [str(warc)], demo.board, 1, without_bounds(), yes=True):
        raise UserError(f"{demo.board}: the second crawl did not end well; remove {demo.folder} and try again")


def make_parts(demo: TrainingDemo) -> None:
    """A tokenizer that knows the demo's texts, and random weights; the same demo gives the same bytes."""
    from obelics_pipeline.models.device.torchvision_import import mend_torchvision

    mend_torchvision()
    from transformers.utils.logging import disable_progress_bar

    from obelics_pipeline.models.packed_flamingo.tiny import tiny

    disable_progress_bar()
    tiny(demo.parts, texts_of(demo.output), words=WORDS, width=WIDTH, layers=LAYERS)


def texts_of(output: Path) -> Iterator[str]:
    """The text of each document of a run."""
    for shard in sorted((output / "shards").glob("*.tar")):
        for document in read_documents(shard):
            yield "\n".join(text for text in document["texts"] if text)


def recipe_of(demo: TrainingDemo) -> dict[str, Any]:
    """Of the plan: the demo's English documents seven times, and the second crawl once."""
    return {
        "datasets": {
            "demo": {
                "runs": [str(demo.output.resolve())],
                "repeat": PASSES,
                "keep": {"language": {"any_of": ["en"]}},
            },
            "board": {"runs": [str(demo.board.resolve())]},
        },
        "language_model": str((demo.parts / "language_model").resolve()),
        "sequence_tokens": TOKENS,
        "images_per_row": 12,
        "batch_tokens": ROWS * TOKENS,
        "held_out": 0.04,
    }


def config_of(demo: TrainingDemo) -> dict[str, Any]:
    """Of the training: everything learns, as nothing of it has learned before."""
    return {
        "plan": str(demo.plan.resolve()),
        "model": {
            "language_model": str((demo.parts / "language_model").resolve()),
            "vision": str((demo.parts / "vision").resolve()),
            "latents": 8,
            "resampler_depth": 1,
            "cross_every": 2,
            "heads": 4,
            "head_dim": 16,
            "unfreeze": ["language_model.*"],
        },
        "micro_rows": ROWS,
        "precision": "float32",
        "device": "cpu",
        "threads": 1,
        "schedule": {"peak": 3e-3, "warmup_steps": 40},
        "loader": {"workers": 1},
        "checkpoint": {"every_steps": 50},
        "evaluation": {"rows": 2},
        # the first steps, in which everything falls, say little of what is usual: a long run forgets them by itself
        "guard": {"window": 64},
    }


def _make_plan(demo: TrainingDemo, say: Say) -> None:
    from obelics_pipeline.training.plan.command import plan

    _write(demo.recipe, recipe_of(demo), "A recipe of obelics plan; configs/training/plan.yaml explains every key.")
    plan(str(demo.recipe), demo.plan, say=say)


def step_of_page(demo: TrainingDemo) -> int:
    """The step that the plan has the second crawl's page in."""
    from obelics_pipeline.training.plan.plan_file import open_plan

    plan = open_plan(demo.plan)
    board = plan.datasets.index("board")
    row = next(number for number in range(plan.n_rows) if plan.row(number).dataset == board)
    return row // plan.rows_per_step + 1


def _train(demo: TrainingDemo, say: Say) -> None:
    from transformers.utils.logging import disable_progress_bar

    from obelics_pipeline.training.train.command import train

    disable_progress_bar()
    _write(demo.config, config_of(demo), "A config of obelics train; configs/training/flamingo.yaml explains all keys.")
    train(str(demo.config), demo.run, (), None, say)


def _write(path: Path, values: Mapping[str, Any], comment: str) -> None:
    write_bytes(path, f"# {comment}\n{yaml.safe_dump(dict(values), sort_keys=False, width=120)}".encode())


def is_trained(demo: TrainingDemo) -> bool:
    """Whether the training has come to its end."""
    entries = ledger_of(demo)
    return bool(entries) and entries[-1]["kind"] == "stop" and TrainingFolder(demo.run).model.is_dir()


def ledger_of(demo: TrainingDemo) -> list[dict[str, Any]]:
    """The entries of the ledger; none where nothing was trained."""
    return list(read_journal(demo.run / LEDGER))


def spike_of(ledger: Iterable[Mapping[str, Any]]) -> int | None:
    """The step at which the guard's first act began; None where it did nothing."""
    for entry in ledger:
        if entry["kind"] in ACTS and entry["kind"] != "stop":
            evidence = entry.get("evidence") or {}
            return int((evidence.get("evidence") or evidence).get("earliest_alarm") or entry["step"])
    return None


def print_end(demo: TrainingDemo, console: Console) -> None:
    """Print what happened, the loss diagnosis, and what to type next.

    Raises UserError where nothing happened: then the page was no spike to this model.
    """
    from obelics_pipeline.training.diagnosis.command import explain

    ledger = ledger_of(demo)
    spike = spike_of(ledger)
    if spike is None:
        raise UserError(f"{demo.run}: the guard saw no loss spike; look at {demo.run / 'metrics.jsonl'}")
    console.print("\n[bold]what happened[/bold]", highlight=False)
    for line in lines_of_acts(ledger, list(read_journal(demo.run / "metrics.jsonl")), spike):
        console.print(escape(line), highlight=False, soft_wrap=True)
    console.print(
        f"\n[bold]obelics explain-spike {escape(str(demo.run))} {spike}[/bold]\n", highlight=False, soft_wrap=True
    )
    html, without = demo.folder / "spike.html", demo.folder / "without.txt"
    for line in explain(demo.run, spike, top=1, html=html, without=without):
        console.print(escape(line), highlight=False, soft_wrap=True)
    console.print("\n[bold]what to type next[/bold]", highlight=False)
    for line in next_commands(demo):
        console.print(escape(line), highlight=False, soft_wrap=True)


def lines_of_acts(ledger: Sequence[Mapping[str, Any]], metrics: Sequence[Mapping[str, Any]], spike: int) -> list[str]:
    """How high the spike was, and what the guard did, in the order of the ledger."""
    losses = {line["step"]: line["loss"] for line in metrics if line["loss"] is not None}
    usual = median(loss for step, loss in losses.items() if spike - WINDOW <= step < spike)
    peak = f"{losses[spike]:.2f}" if spike in losses else "is no number"
    lines = [f"  step {spike:<5} loss {peak}, where the {WINDOW} steps before it had {usual:.2f}"]
    for entry in ledger:
        if entry["kind"] in TOLD:
            who = "guard: " if entry["kind"] != "stop" else ""
            lines.append(f"  step {entry['step']:<5} {who}{entry.get('why') or entry.get('reason')}")
    return lines


def next_commands(demo: TrainingDemo) -> list[str]:
    """Each with what it is for."""
    where = demo.folder
    commands = {
        f"obelics plan {demo.recipe} --without {where / 'without.txt'} --output {where / 'plan-without'}": (
            "the same rows in the same order, but for the page"
        ),
        f"obelics explain {demo.board} {URL}": "the page's own story: bytes, texts, scores",
        f"obelics chronicle {demo.run}": "the training's story, with curves",
        f"obelics inspect {demo.run}": "steps, checkpoints, changes in force",
    }
    return [f"  {line}\n      {why}" for line, why in commands.items()] + [f"  {where / 'spike.html'}, in a browser"]
