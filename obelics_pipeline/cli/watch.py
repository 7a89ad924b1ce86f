"""Commands that look at a training run and change it: from explain-spike to intervene."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.cli.parser import Commands, Parser, positive


def add_explain_spike(commands: Commands) -> None:
    spike = commands.add_parser(
        "explain-spike",
        help="find the documents behind a jump of the loss",
        description="Rank the documents of the steps before a loss spike. Show each with its text, images, filter "
        "scores and WARC record, the thresholds that would have removed it, and the measure that left its range first.",
    )
    spike.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    spike.add_argument(
        "step", type=positive, metavar="STEP", help="a step of the spike: its peak, or the step of the alarm"
    )
    spike.add_argument(
        "--window", type=positive, default=50, metavar="N", help="steps before it to look at (default: 50)"
    )
    spike.add_argument("--top", type=positive, default=10, metavar="N", help="documents to show (default: 10)")
    spike.add_argument(
        "--attempt", type=positive, metavar="N", help="which pass over a step that was trained more than once "
        "(default: the one with the highest loss)",
    )  # fmt: skip
    spike.add_argument(
        "--replay", action=argparse.BooleanOptionalAction,
        help="compute the gradient of each document with the weights "
        "before the spike (default: only for a small model)",
    )  # fmt: skip
    spike.add_argument("--html", type=Path, metavar="FILE", help="write a page with pictures and curves")
    spike.add_argument("--without", type=Path, metavar="FILE", help="write their ids, for obelics plan --without")
    spike.set_defaults(command=_explain_spike)


def _explain_spike(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.diagnosis.command import explain

    a = arguments
    for line in explain(a.run, a.step, a.window, a.top, a.attempt, a.html, a.without, a.replay):
        print(line)
    return 0


def add_losses(commands: Commands) -> None:
    losses = commands.add_parser(
        "losses",
        help="write each document's training loss beside its curation run",
        description="Write training.parquet into each curation run that the documents came from: the mean loss of each "
        "document, how far it was above that of similar documents, and which steps saw it. tune, report and explain "
        "show these columns. An earlier file is replaced.",
    )
    losses.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    losses.set_defaults(command=_losses)


def _losses(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.diagnosis.losses import losses

    for line in losses(arguments.run):
        print(line)
    return 0


def add_chronicle(commands: Commands) -> None:
    chronicle = commands.add_parser(
        "chronicle",
        help="write a training run's history: incidents, actions, curves",
        description="Write chronicle.md and its curves into the folder of a run, from metrics.jsonl and ledger.jsonl.",
    )
    chronicle.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    chronicle.add_argument(
        "--against", type=Path, metavar="OTHER", help="compare with this training run; writes compare.md"
    )
    chronicle.add_argument("--output", type=Path, metavar="DIR", help="output folder (default: RUN/chronicle)")
    chronicle.set_defaults(command=_chronicle)


def _chronicle(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.diagnosis.chronicle import chronicle
    from obelics_pipeline.training.diagnosis.compare import compare

    output = arguments.output or arguments.run / "chronicle"
    if arguments.against is None:
        print(f"wrote {chronicle(arguments.run, output)}")
    else:
        print(f"wrote {compare(arguments.run, arguments.against, output)}")
    return 0


def add_expect(commands: Commands) -> None:
    expect = commands.add_parser(
        "expect",
        help="check that the loss is below that of a smaller model",
        description="Compare the loss of a training run with that of a smaller model at the same number of tokens. "
        "Exit codes: 0 the loss is below the bound, 1 it is above, 2 wrong command.",
    )
    expect.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    expect.add_argument(
        "--small", type=Path, required=True, metavar="RUN", help="training run of a smaller model, with the same plan"
    )
    expect.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="X",
        help="the bound is the smaller model's loss times X (default: 1)",
    )
    expect.set_defaults(command=_expect)


def _expect(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.experiments.evaluate.expect import expect_run

    fine, line = expect_run(arguments.run, arguments.small, arguments.scale)
    print(line)
    return 0 if fine else 1


def add_tensorboard(commands: Commands) -> None:
    board = commands.add_parser("tensorboard", help="write a training run's metrics for TensorBoard")
    board.add_argument("run", type=Path, metavar="RUN", help="folder of a training run, finished or not")
    board.add_argument(
        "--output", type=Path, metavar="DIR", help="output folder (default: tensorboard/ in the run's folder)"
    )
    board.set_defaults(command=_tensorboard)


def _tensorboard(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.train.tensorboard import tensorboard

    for folder in tensorboard(arguments.run, arguments.output):
        print(f"wrote {folder}")
    return 0


def add_inspect(commands: Commands) -> None:
    inspect = commands.add_parser("inspect", help="show the state of a training run or checkpoint; verify files")
    inspect.add_argument(
        "location", type=Path, metavar="RUN|CHECKPOINT", help="folder of a training run or of a checkpoint"
    )
    inspect.set_defaults(command=_inspect)


def _inspect(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.train.state.inspection import inspect
    from obelics_pipeline.training.train.state.manifest import verify
    from obelics_pipeline.training.train.state.saved import STATE

    for line in inspect(arguments.location):
        print(line)
    if (arguments.location / STATE).exists():
        verify(arguments.location)
        print("verified: all files match their hashes")
    return 0


def add_intervene(commands: Commands) -> None:
    intervene = commands.add_parser(
        "intervene",
        help="change a training run, with a reason on record; can be undone",
        description="Write one change into the ledger of a training run, which applies it at the given step. Exit "
        "codes: 0 written, 2 refused.",
    )
    intervene.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    kinds = intervene.add_subparsers(required=True, metavar="CHANGE", parser_class=Parser)

    def kind(name: str, help: str, at: bool = True) -> Parser:
        parser = kinds.add_parser(name, help=help)
        if at:
            parser.add_argument("--at", type=positive, metavar="STEP", help="from this step on (default: the next)")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; the ledger keeps it")
        parser.add_argument("--force", action="store_true", help="even if another change begins at the same step")
        parser.set_defaults(command=_intervene, kind=name.replace("-", "_"))
        return parser

    rate = kind("lr", "multiply the learning rate")
    rate.add_argument("--factor", type=float, required=True, metavar="X", help="the factor; above 1 only with --branch")
    rate.add_argument(
        "--branch", action="store_true", help="a trial: at the guard's first intervention it is undone and rolled back"
    )
    kind("weight-decay", "set the weight decay").add_argument(
        "--value", type=float, required=True, metavar="X", help="the weight decay"
    )
    kind("clip", "set the norm at which gradients are clipped").add_argument(
        "--value", type=float, metavar="X", help="the norm (default: do not clip)"
    )
    kind("reset-moments", "reset the optimiser's moments to 0").add_argument(
        "--pattern", default="*", metavar="PATTERN", help="pattern of parameter names (default: all)"
    )
    kind("unfreeze", "train parameters that were frozen").add_argument(
        "pattern", metavar="PATTERN", help="pattern of parameter names"
    )
    config = kind("config", "change a value of the config for a resumed run")
    config.add_argument("key", metavar="KEY", help="key with dots, such as optimiser.beta2")
    config.add_argument("value", type=_json, metavar="VALUE", help="the value as JSON, or else as text")
    for name, what in (
        ("skip-rows", "do not train on these rows"),
        ("requeue-rows", "train on these rows once more, after all others"),
    ):
        kind(name, what, at=False).add_argument(
            "rows", type=_rows, metavar="A:B", help="rows A to B-1, in training order"
        )
    undo = kind("undo", "undo a change from the next step on", at=False)
    undo.add_argument(
        "of", type=positive, metavar="NUMBER", help="number of the change, as obelics inspect RUN lists it"
    )
    rollback = kind("rollback", "continue from an earlier checkpoint at the next start of the run", at=False)
    rollback.add_argument("step", type=int, metavar="STEP", help="step of a checkpoint that still exists")
    rollback.add_argument("--skip", type=_rows, metavar="A:B", help="do not train on these rows")


def _intervene(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.training.train.state.interventions import described, intervene

    common = ("command", "run", "kind", "reason", "force")
    fields = {key: value for key, value in vars(arguments).items() if key not in common}
    if "skip" in fields:
        fields["rows"] = fields.pop("skip") or ()
    elif "rows" in fields:
        fields["start"], fields["stop"] = fields.pop("rows")
    entry = intervene(arguments.run, arguments.kind, arguments.reason, force=arguments.force, **fields)
    print(described(entry))
    return 0


def _rows(text: str) -> tuple[int, int]:
    start, _, stop = text.partition(":")
    try:
        found = int(start), int(stop)
    except ValueError:
        found = 0, 0
    if not 0 <= found[0] < found[1]:
        raise argparse.ArgumentTypeError(f"must be A:B with A < B, such as 8000:8064, got {text}")
    return found


def _json(text: str) -> object:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text
