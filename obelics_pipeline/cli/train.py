"""Commands that train: plan, probe, train, evaluate, ablate."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.cli.parser import Commands, add_overrides, positive, say, workers_of


def add_plan(commands: Commands) -> None:
    plan = commands.add_parser(
        "plan",
        help="decide which documents to train on, how often, in what order",
        description="Count the tokens of the documents of finished runs, pack them into rows, put the rows in order, "
        "and account for every token. Equal recipes and runs give equal bytes. Exit codes: 0 done, 2 wrong recipe or "
        "run, 3 stopped.",
    )
    plan.add_argument("recipe", metavar="RECIPE", help="a YAML file; configs/training/plan.yaml explains every key")
    plan.add_argument("--output", type=Path, required=True, metavar="DIR", help="output folder, on this machine")
    plan.add_argument(
        "--without", nargs="+", default=[], metavar="FILE",
        help="files of document ids or URLs to leave out, one a line; the other rows keep their order",
    )  # fmt: skip
    add_overrides(plan, "the recipe")
    plan.add_argument(
        "--counts", type=Path, metavar="DIR", help="cache of token counts (default: token-counts beside DIR)"
    )
    plan.add_argument(
        "--workers", type=positive, metavar="N", help="processes that count tokens (default: one per CPU core)"
    )
    plan.set_defaults(command=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.plan.command import plan

    plan(
        arguments.recipe,
        arguments.output,
        workers=workers_of(arguments),
        without=arguments.without,
        overrides=arguments.set,
        counts=arguments.counts,
        say=say,
    )
    return 0


def add_probe(commands: Commands) -> None:
    probe = commands.add_parser(
        "probe",
        help="try a training config for a minute before you train",
        description="Make three short tests of a training config: overfit eight documents, sweep a range of learning "
        "rates, and watch the first steps. Exit codes: 0 all tests passed, 1 a test failed: do not train with this "
        "config, 2 wrong command or config.",
    )
    probe.add_argument("config", metavar="CONFIG", help="as for train")
    probe.add_argument("--output", required=True, type=Path, metavar="DIR", help="output folder, for probe.json")
    add_overrides(probe, "the config")
    names = ("overfit", "range", "stability")
    probe.add_argument("--only", nargs="+", choices=names, default=names, help="make only these tests")
    probe.set_defaults(command=_probe)


def _probe(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.train.probing import probe

    return probe(arguments.config, arguments.set, arguments.output, arguments.only, say)


def add_train(commands: Commands) -> None:
    train = commands.add_parser(
        "train",
        help="train a Flamingo on a plan; run it again to continue",
        description="Train a Flamingo on the shards that a plan names, or continue from the newest checkpoint. With "
        "several GPUs: torchrun --nproc-per-node N -m obelics_pipeline train … Exit codes: 0 done, 2 wrong command or "
        "config, 3 stopped.",
    )
    train.add_argument("config", metavar="CONFIG", help="a YAML file, or a bundled config: flamingo")
    train.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder of the training run")
    add_overrides(train, "the config")
    train.add_argument("--step", type=positive, metavar="N", help="continue from the checkpoint of this step")
    train.set_defaults(command=_train)


def _train(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.train.command import train

    return train(arguments.config, arguments.output, arguments.set, arguments.step, say)


def add_evaluate(commands: Commands) -> None:
    evaluate = commands.add_parser(
        "evaluate",
        help="measure checkpoints: held-out loss, few-shot tasks, prompts",
        description="Evaluate the checkpoints of a training run that have no evaluation yet, or a saved model. It can "
        "work beside a training and does not slow it down on purpose: it reads only finished checkpoints.",
    )
    evaluate.add_argument(
        "location", type=Path, metavar="RUN|MODEL", help="folder of a training run or of a saved model"
    )
    evaluate.add_argument("--plan", type=Path, required=True, metavar="DIR", help="plan with the held-out documents")
    evaluate.add_argument("--tasks", nargs="+", type=Path, default=[], metavar="DIR", help="folders of few-shot tasks")
    evaluate.add_argument(
        "--shots", nargs="+", type=int, default=[], metavar="N", help="examples per prompt (default: as each task says)"
    )
    evaluate.add_argument(
        "--output", type=Path, metavar="DIR", help="output folder (default: evaluated/ in the training run's folder)"
    )
    evaluate.add_argument("--watch", action="store_true", help="wait for new checkpoints until the training stops")
    evaluate.add_argument(
        "--every",
        type=float,
        default=30,
        metavar="SECONDS",
        help="seconds between looks for new checkpoints (default: 30)",
    )
    evaluate.add_argument("--rows", type=int, default=64, metavar="N", help="held-out rows at most (default: 64)")
    evaluate.add_argument(
        "--prompts", type=int, default=8, metavar="N", help="documents that the model continues (default: 8)"
    )
    evaluate.add_argument(
        "--precision",
        choices=("float32", "bfloat16"),
        default="float32",
        help="precision of matrix products (default: float32)",
    )
    evaluate.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where to compute (default: cpu, which leaves the GPUs to the training)",
    )
    evaluate.set_defaults(command=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.experiments.evaluate.beside import evaluate_beside

    names = ("tasks", "shots", "rows", "prompts", "precision", "device")
    wanted = {name: getattr(arguments, name) for name in names}
    where = (arguments.location, arguments.plan, arguments.output)
    return evaluate_beside(*where, wanted, say, arguments.watch, arguments.every)


def add_ablate(commands: Commands) -> None:
    ablate = commands.add_parser(
        "ablate",
        help="compare choices of curation by training small models on each",
        description="Train every arm of an experiment on the same number of tokens and with several seeds, measure "
        "them on the same clean held-out documents, and write ablation.md, ablation.html and ablation.json. Run it "
        "again to continue. Exit codes: 0 done, 1 a training failed, 2 wrong command or config, 3 stopped.",
    )
    ablate.add_argument(
        "experiment",
        metavar="EXPERIMENT",
        help="a YAML file, or a bundled config: ablate-filters, ablate-orders, ablate-settings",
    )
    ablate.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder of the experiment")
    ablate.add_argument(
        "--workers", type=positive, metavar="N", help="processes that count tokens (default: one per CPU core)"
    )
    add_overrides(ablate, "the experiment")
    ablate.set_defaults(command=_ablate)


def _ablate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.experiments.ablate.command import ablate

    return ablate(arguments.experiment, arguments.output, arguments.set, workers_of(arguments), say)
