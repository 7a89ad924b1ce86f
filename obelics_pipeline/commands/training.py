"""Commands that train: plan, probe, train, evaluate, ablate."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.commands.parser import Commands, add_overrides, positive, say, workers_of


def add_plan(commands: Commands) -> None:
    plan = commands.add_parser(
        "plan",
        help="the order of training as a file: which documents of which runs, how often, in which rows",
        description="Count the tokens of the documents of finished runs, pack them into rows, put the rows in order, "
        "and say where every token went. Equal recipes and runs give equal bytes. Exit codes: 0 done, 2 wrong recipe "
        "or run, 3 stopped.",
    )
    plan.add_argument("recipe", metavar="RECIPE", help="a YAML file; configs/training/plan.yaml explains every key")
    plan.add_argument("--output", type=Path, required=True, metavar="DIR", help="folder of the plan, on this machine")
    plan.add_argument(
        "--without", nargs="+", default=[], metavar="FILE",
        help="files of document ids or URLs, one in a line, to leave out; the other rows stay in their order",
    )  # fmt: skip
    add_overrides(plan, "the recipe")
    plan.add_argument(
        "--counts", type=Path, metavar="DIR", help="where counts of tokens are kept (default: token-counts beside DIR)"
    )
    plan.add_argument(
        "--workers", type=positive, metavar="N", help="processes that count tokens (default: one per CPU core)"
    )
    plan.set_defaults(command=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.plan.command import plan

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
        help="before a training: learn eight documents by heart, a range of learning rates, the first steps watched",
        description="Try the config and the plan of a training for a minute. Exit codes: 0 nothing is amiss, 1 "
        "something is: do not train so, 2 wrong command or config.",
    )
    probe.add_argument("config", metavar="CONFIG", help="as for train")
    probe.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder that probe.json is written to")
    add_overrides(probe, "the config")
    names = ("overfit", "range", "stability")
    probe.add_argument("--only", nargs="+", choices=names, default=names, help="not all three")
    probe.set_defaults(command=_probe)


def _probe(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.probing import probe

    return probe(arguments.config, arguments.set, arguments.output, arguments.only, say)


def add_train(commands: Commands) -> None:
    train = commands.add_parser(
        "train",
        help="train a Flamingo on a plan; run it again to go on",
        description="Train a Flamingo on the shards that a plan names, or go on from the newest checkpoint. With "
        "several GPUs: torchrun --nproc-per-node N -m obelics_pipeline train … Exit codes: 0 done, 2 wrong command or "
        "config, 3 stopped.",
    )
    train.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a bundled one: flamingo")
    train.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder of the training")
    add_overrides(train, "the config")
    train.add_argument("--step", type=positive, metavar="N", help="go on from the checkpoint of this step")
    train.set_defaults(command=_train)


def _train(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.command import train

    return train(arguments.config, arguments.output, arguments.set, arguments.step, say)


def add_evaluate(commands: Commands) -> None:
    evaluate = commands.add_parser(
        "evaluate",
        help="every finished checkpoint of a training, beside it: held-out losses, few-shot tasks, fixed prompts",
        description="Evaluate the checkpoints of a training that have no evaluation yet, or a saved model. A training "
        "at work is not waited for, and never held up.",
    )
    evaluate.add_argument("place", type=Path, metavar="RUN|MODEL", help="folder of a training, or of a saved model")
    evaluate.add_argument("--plan", type=Path, required=True, metavar="DIR", help="whose held-out documents are used")
    evaluate.add_argument("--tasks", nargs="+", type=Path, default=[], metavar="DIR", help="folders of few-shot tasks")
    evaluate.add_argument("--shots", nargs="+", type=int, default=[], metavar="N", help="default: as each task says")
    evaluate.add_argument("--output", type=Path, metavar="DIR", help="default: evaluated/ in the training's folder")
    evaluate.add_argument("--watch", action="store_true", help="go on with new checkpoints until the training stops")
    evaluate.add_argument("--every", type=float, default=30, metavar="SECONDS", help="between looks (default: 30)")
    evaluate.add_argument("--rows", type=int, default=64, metavar="N", help="held-out rows at most (default: 64)")
    evaluate.add_argument("--prompts", type=int, default=8, metavar="N", help="documents to go on with (default: 8)")
    evaluate.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="of matrix products")
    evaluate.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu, to be in no way")
    evaluate.set_defaults(command=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.evaluate.beside import evaluate_beside

    names = ("tasks", "shots", "rows", "prompts", "precision", "device")
    wanted = {name: getattr(arguments, name) for name in names}
    where = (arguments.place, arguments.plan, arguments.output)
    return evaluate_beside(*where, wanted, say, arguments.watch, arguments.every)


def add_ablate(commands: Commands) -> None:
    ablate = commands.add_parser(
        "ablate",
        help="the same small model trained on this and on that, with several seeds: what the difference is worth",
        description="Train the arms of an experiment on equal tokens, one after the other, measure them on the same "
        "clean held-out documents, and write ablation.md, ablation.html and ablation.json; run it again to go on. Exit "
        "codes: 0 done, 1 a training failed, 2 wrong command or config, 3 stopped.",
    )
    ablate.add_argument(
        "experiment",
        metavar="EXPERIMENT",
        help="a YAML file, or the name of a bundled one: ablate-filters, ablate-orders, ablate-settings",
    )
    ablate.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder of the experiment")
    ablate.add_argument(
        "--workers", type=positive, metavar="N", help="processes that count tokens (default: one per CPU)"
    )
    add_overrides(ablate, "it")
    ablate.set_defaults(command=_ablate)


def _ablate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.ablate.command import ablate

    return ablate(arguments.experiment, arguments.output, arguments.set, workers_of(arguments), say)
