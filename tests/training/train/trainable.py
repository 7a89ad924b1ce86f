"""A plan over a small made run, small parts, and the config of a training on them; and trainings as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from upath import UPath

from obelics_pipeline.core.document import Document, Node, TextNode
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.train.journal import read_journal
from tests.stages.shard.runs import document, image, make_run

SENTENCES = (
    "The ferry left the harbour before the fog had lifted.",
    "Two gulls sat on the rail and watched the nets.",
    "Nobody on the quay had seen a winter like it.",
    "The baker sold his last loaf to the lock keeper.",
    "A letter from the coast came with the morning post.",
    "Children counted the boats that came back at night.",
)
ROOT = Path(__file__).parents[3]
SPEEDS = ("tokens_per_second", "images_per_second", "operations_per_second", "mfu")
OF_THE_CLOCK = ("time", *SPEEDS, "attempt")  # or of how often it was started


def page(number: int) -> Document:
    """A document of a few sentences, with a picture between them where its number is not a multiple of five."""
    nodes: list[Node] = []
    for i in range(2 + number % 4):
        nodes.append(TextNode(f"{SENTENCES[(number + i) % 6]} {SENTENCES[(number * 5 + i) % 6]} Page {number}."))
        if number % 5 and i < 2:
            nodes.append(image((number + 7 * i) % 16, ("jpeg", "png")[i]))
    return document(number, nodes)


def make_parts(folder: Path) -> tuple[Path, Path]:
    """Small random parts whose tokenizer knows the sentences."""
    from obelics_pipeline.models.packed_flamingo.tiny import tiny

    return tiny(folder, SENTENCES * 20, words=320, width=32, layers=2, side=16)


def make_training(folder: Path, documents: int = 40, repeat: int = 3, **recipe: Any) -> dict[str, Any]:
    """Two data sets, a plan and parts below a folder; the config of a training on them."""
    language_model, vision = make_parts(folder / "parts")
    numbers = list(range(documents))
    make_run(folder / "web", [page(n) for n in numbers if n % 4])
    make_run(folder / "wiki", [page(n) for n in numbers if n % 4 == 0])
    make_plan(recipe_of(folder, language_model, repeat, **recipe), folder / "plan")
    return config_of(folder, language_model, vision)


def recipe_of(runs: Path | UPath, language_model: Path, repeat: int = 3, **others: Any) -> Recipe:
    """Of the two data sets below a folder, wherever that is."""
    values = {
        "datasets": {name: {"runs": [str(runs / name)], "repeat": repeat} for name in ("web", "wiki")},
        "language_model": str(language_model),
        "sequence_tokens": 96,
        "images_per_row": 4,
        "batch_tokens": 96 * 4,
        "held_out": 0.1,
        "allow_equal_content": True,
    }
    return Recipe.model_validate(values | others)


def config_of(folder: Path, language_model: Path, vision: Path) -> dict[str, Any]:
    """A training on the plan of a folder, in float32 on one thread."""
    return {
        "plan": str(folder / "plan"),
        "model": {
            "language_model": str(language_model),
            "vision": str(vision),
            "latents": 4,
            "resampler_depth": 1,
            "heads": 2,
            "head_dim": 16,
            "unfreeze": ["language_model.*"],
        },
        "micro_rows": 2,
        "precision": "float32",
        "device": "cpu",
        "threads": 1,
        "schedule": {"peak": 3e-3, "warmup_steps": 5},
        "loader": {"workers": 0},
        "checkpoint": {"every_steps": 8},
        "evaluation": {"rows": 4},
        "record": {"monitor_steps": 5, "account_steps": 3},
        "health": {"canary_steps": 10, "weight_steps": 1},
    }


def write_config(folder: Path, config: dict[str, Any], name: str = "train.yaml") -> str:
    """The config as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return str(path)


def command(config: str, output: Path, *more: str, ranks: int = 1, module: str = "obelics_pipeline") -> list[str]:
    """The command line of a training, under torchrun where there are several processes."""
    start = [sys.executable, "-m"]
    if ranks > 1:
        start += ["torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", "0", "--standalone", "-m"]
    return [*start, module, "train", config, "--output", str(output), *more]


def environment() -> dict[str, str]:
    """Of a process that trains: one thread, and the packages of this checkout."""
    bytecode = Path(tempfile.gettempdir()) / f"obelics-bytecode-{os.getuid()}"  # or each start compiles 1,900 modules
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ours = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "TOKENIZERS_PARALLELISM": "false"}
    return inherited | ours | {"PYTHONPYCACHEPREFIX": str(bytecode)}


def run(config: str, output: Path, *more: str, check: bool = True, **how: Any) -> subprocess.CompletedProcess[str]:
    """Train as a process of its own, or `ranks` of them."""
    done = subprocess.run(
        command(config, output, *more, **how), capture_output=True, text=True, env=environment(), cwd=ROOT
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def lines(output: Path) -> list[dict[str, Any]]:
    """All lines of the metrics."""
    return list(read_journal(output / "metrics.jsonl"))


def curve(output: Path) -> dict[int, dict[str, Any]]:
    """What each step came to: the last word on it, without what depends on the clock or the attempt."""
    found = {}
    for line in lines(output):
        found[line["step"]] = {k: v for k, v in line.items() if k not in OF_THE_CLOCK}
    return dict(sorted(found.items()))


def ledger(output: Path) -> list[dict[str, Any]]:
    """The entries of the ledger."""
    return [json.loads(line) for line in (output / "ledger.jsonl").read_text().splitlines()]


def loss_tables(output: Path, attempt: int | None = None) -> pa.Table:
    """The losses per document of all processes of an attempt, or of all attempts."""
    which = "*" if attempt is None else f"{attempt:05d}"
    paths: Sequence[Path] = sorted(output.glob(f"accounts/attempt-{which}/rank-*/[!.]*.parquet"))
    return pa.concat_tables([pq.read_table(path) for path in paths])
