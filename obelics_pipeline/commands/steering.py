"""Commands that look at a training run and change it: from explain-spike to intervene."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.commands.parser import Commands, Parser, positive


def add_explain_spike(commands: Commands) -> None:
    spike = commands.add_parser(
        "explain-spike",
        help="a step of a training run where the loss jumped: the documents that did it, and what would remove them",
        description="Rank the documents that the steps before a spike have seen, each with its text, images, scores of "
        "curation and WARC record; say which thresholds would have removed them, and what left its range first.",
    )
    spike.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    spike.add_argument("step", type=positive, metavar="STEP", help="a step of the spike: its peak, or the alarm's")
    spike.add_argument(
        "--window", type=positive, default=50, metavar="N", help="steps before it to look at (default: 50)"
    )
    spike.add_argument("--top", type=positive, default=10, metavar="N", help="documents to show (default: 10)")
    spike.add_argument(
        "--attempt", type=positive, metavar="N", help="of a step that was trained more than once (default: where it "
        "spiked most)",
    )  # fmt: skip
    spike.add_argument(
        "--replay", action=argparse.BooleanOptionalAction, help="compute the gradients of the documents on the weights "
        "before the spike (default: where the model is small)",
    )  # fmt: skip
    spike.add_argument("--html", type=Path, metavar="FILE", help="the same with pictures and curves, for a browser")
    spike.add_argument("--without", type=Path, metavar="FILE", help="their ids, as obelics plan --without takes them")
    spike.set_defaults(command=_explain_spike)


def _explain_spike(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.spike.command import explain

    a = arguments
    for line in explain(a.run, a.step, a.window, a.top, a.attempt, a.html, a.without, a.replay):
        print(line)
    return 0


def add_losses(commands: Commands) -> None:
    losses = commands.add_parser(
        "losses",
        help="what a training run learned of each document, as columns that tune, report and explain show",
        description="Write training.parquet beside each curation run that the documents came from: the mean loss of "
        "each, how far it was above that of documents like it, and which steps saw it. It replaces an earlier one.",
    )
    losses.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    losses.set_defaults(command=_losses)


def _losses(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.spike.losses import losses

    for line in losses(arguments.run):
        print(line)
    return 0


def add_chronicle(commands: Commands) -> None:
    chronicle = commands.add_parser(
        "chronicle",
        help="the story of a training run: incidents, what was done, rollbacks, with curves; or two runs compared",
        description="Write chronicle.md and its curves into the folder of a run, from metrics.jsonl and ledger.jsonl.",
    )
    chronicle.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    chronicle.add_argument("--against", type=Path, metavar="OTHER", help="another run, drawn over it: compare.md")
    chronicle.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: RUN/chronicle)")
    chronicle.set_defaults(command=_chronicle)


def _chronicle(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.spike.chronicle import chronicle
    from obelics_pipeline.spike.compare import compare

    output = arguments.output or arguments.run / "chronicle"
    if arguments.against is None:
        print(f"wrote {chronicle(arguments.run, output)}")
    else:
        print(f"wrote {compare(arguments.run, arguments.against, output)}")
    return 0


def add_expect(commands: Commands) -> None:
    expect = commands.add_parser(
        "expect",
        help="whether a run's loss is below that of a smaller run at equal tokens",
        description="Exit codes: 0 the loss is where it should be, 1 it is above, 2 wrong command.",
    )
    expect.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    expect.add_argument("--small", type=Path, required=True, metavar="RUN", help="a run of a smaller model, same plan")
    expect.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="X",
        help="the bound is the small run's loss times this (default: 1)",
    )
    expect.set_defaults(command=_expect)


def _expect(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.evaluate.expect import expect_run

    fine, line = expect_run(arguments.run, arguments.small, arguments.scale)
    print(line)
    return 0 if fine else 1


def add_tensorboard(commands: Commands) -> None:
    board = commands.add_parser("tensorboard", help="the numbers of a training as TensorBoard reads them")
    board.add_argument("run", type=Path, metavar="RUN", help="folder of a training run; it may be at work")
    board.add_argument("--output", type=Path, metavar="DIR", help="default: tensorboard/ in the run's folder")
    board.set_defaults(command=_tensorboard)


def _tensorboard(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.tensorboard import tensorboard

    for folder in tensorboard(arguments.run, arguments.output):
        print(f"wrote {folder}")
    return 0


def add_inspect(commands: Commands) -> None:
    inspect = commands.add_parser(
        "inspect", help="a training run or one of its checkpoints: steps, rates, changes in force, files"
    )
    inspect.add_argument("place", type=Path, metavar="RUN|CHECKPOINT", help="folder")
    inspect.set_defaults(command=_inspect)


def _inspect(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.state.inspection import inspect
    from obelics_pipeline.train.state.manifest import verify
    from obelics_pipeline.train.state.saved import STATE

    for line in inspect(arguments.place):
        print(line)
    if (arguments.place / STATE).exists():
        verify(arguments.place)
        print("all files are as they were written")
    return 0


def add_intervene(commands: Commands) -> None:
    intervene = commands.add_parser(
        "intervene",
        help="change a training run, with a reason: one line of its ledger, which can be undone",
        description="Write one change into the ledger of a training run. Exit codes: 0 written, 2 refused.",
    )
    intervene.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    kinds = intervene.add_subparsers(required=True, metavar="CHANGE", parser_class=Parser)

    def kind(name: str, help: str, at: bool = True) -> Parser:
        parser = kinds.add_parser(name, help=help)
        if at:
            parser.add_argument("--at", type=positive, metavar="STEP", help="from this step on (default: the next)")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; it stands in the ledger")
        parser.add_argument("--force", action="store_true", help="though another change begins at the same step")
        parser.set_defaults(command=_intervene, kind=name.replace("-", "_"))
        return parser

    rate = kind("lr", "multiply the learning rate")
    rate.add_argument("--factor", type=float, required=True, metavar="X", help="more than 1 only with --branch")
    rate.add_argument("--branch", action="store_true", help="a trial: undone and rolled back at the guard's first act")
    kind("weight-decay", "another weight decay").add_argument("--value", type=float, required=True, metavar="X")
    kind("clip", "clip gradients at another norm").add_argument("--value", type=float, metavar="X", help="default: not")
    kind("reset-moments", "set the optimiser's moments to 0").add_argument(
        "--pattern", default="*", metavar="PATTERN", help="of parameter names (default: all)"
    )
    kind("unfreeze", "train parameters that were frozen").add_argument("pattern", metavar="PATTERN", help="of names")
    config = kind("config", "let a resumed run differ from its checkpoint in a value of the config")
    config.add_argument("key", metavar="KEY", help="with dots, such as optimiser.beta2")
    config.add_argument("value", type=_json, metavar="VALUE", help="as JSON; else it is taken for a text")
    for name, what in (("skip-rows", "leave rows out"), ("requeue-rows", "train on rows once more, after all others")):
        kind(name, what, at=False).add_argument(
            "rows", type=_rows, metavar="A:B", help="A to B-1, in order of training"
        )
    undo = kind("undo", "take a change back, from the next step on", at=False)
    undo.add_argument("of", type=positive, metavar="NUMBER", help="of its entry: obelics inspect RUN lists them")
    rollback = kind("rollback", "go on from an earlier checkpoint, when the run is started again", at=False)
    rollback.add_argument("step", type=int, metavar="STEP", help="of a checkpoint that is kept")
    rollback.add_argument("--skip", type=_rows, metavar="A:B", help="leave these rows out")


def _intervene(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.state.interventions import described, intervene

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
