"""The command line: `obelics COMMAND`. Each command imports what it needs when it is called: help is instant."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from obelics_pipeline import __version__
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.forget.command import add_forget

if TYPE_CHECKING:
    from obelics_pipeline.fit.farm_detector.sources import Sources

ENGINES = ("local", "ray", "beam")
STAGES = ("extract", "dedup", "site", "fetch", "dedup-images", "assemble", "score", "shard")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, with exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"obelics: {message}; see: {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed units, 2 wrong command or config, 3 stopped."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.command(arguments)
        return code
    except (UserError, Stopped) as error:
        print(f"obelics: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("obelics: stopped; run the same command again to go on", file=sys.stderr)
        return Stopped.exit_code
    except BrokenPipeError:  # the reader of our output is gone: nothing to say to anybody
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="obelics", description="From WARC records to shards of interleaved image-text documents.")
    parser.add_argument("--version", action="version", version=f"obelics-pipeline {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    _add_run(commands)
    _add_check(commands)
    _add_tune(commands)
    _add_demo(commands)
    _add_validate(commands)
    _add_export(commands)
    add_forget(commands)
    _add_explain(commands)
    _add_explain_spike(commands)
    _add_losses(commands)
    _add_chronicle(commands)
    _add_report(commands)
    _add_score(commands)
    _add_map(commands)
    _add_train(commands)
    _add_ablate(commands)
    _add_probe(commands)
    _add_evaluate(commands)
    _add_expect(commands)
    _add_tensorboard(commands)
    _add_plan(commands)
    _add_fit(commands)
    _add_download(commands)
    _add_intervene(commands)
    _add_inspect(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[_Parser]) -> None:
    run = commands.add_parser(
        "run",
        help="the main job: WARC files in, shards out; run it again to go on",
        description="Read WARC files and write shards. The same command goes on where it was stopped, and does nothing "
        "when all is done. Exit codes: 0 done, 1 some units failed, 2 wrong command or config, 3 stopped.",
    )
    run.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a bundled one: default, obelics")
    run.add_argument(
        "--input", nargs="+", required=True, metavar="INPUT",
        help="WARC files (path, glob, s3://, https://, gs://), a list of them (.txt, warc.paths, warc.paths.gz), or a "
        "pointer table (.parquet)",
    )  # fmt: skip
    run.add_argument("--output", required=True, metavar="DIR", help="folder of the run: a path, s3://… or gs://…")
    run.add_argument("--engine", choices=ENGINES, default="local", help="who runs the units (default: local)")
    run.add_argument(
        "--workers", type=_positive, metavar="N",
        help="processes (default: one per CPU core; on a Ray cluster as many as it has room for)",
    )  # fmt: skip
    run.add_argument(
        "--ray-address", metavar="ADDRESS",
        help="a Ray cluster's, with --engine ray (default: RAY_ADDRESS, or a Ray of this machine for this run)",
    )  # fmt: skip
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the config")
    run.add_argument("--stage", nargs="+", choices=STAGES, default=list(STAGES), help="only these stages")
    run.add_argument(
        "--retry-failed", nargs="+", default=[], metavar="REASON",
        help="ask once more for images that failed for these reasons; retryable: all that may pass by themselves",
    )  # fmt: skip
    run.add_argument(
        "--sample", type=float, metavar="SHARE",
        help="read only this share of the units, and of these measure every score and fetch every image, also of what "
        "is dropped: to choose thresholds by (obelics tune)",
    )  # fmt: skip
    run.add_argument(
        "--force", action="store_true", help="go on in a folder that another config file or other input began"
    )
    run.add_argument(
        "--against", nargs="+", default=[], metavar="DIR",
        help="finished runs that this one is added to: their documents come first where duplicates are looked for",
    )  # fmt: skip
    run.set_defaults(command=_run)


def _add_check(commands: argparse._SubParsersAction[_Parser]) -> None:
    check = commands.add_parser(
        "check",
        help="before a run: what is missing, and what it would cost, from a measured sample",
        description="Look at everything that `obelics run` with the same arguments would need, take a few units of the "
        "input through its stages in a temporary folder, and estimate the whole. Exit codes: 0 a run can start, 2 "
        "something is missing.",
    )
    check.add_argument("config", metavar="CONFIG", help="as for run")
    check.add_argument("--input", nargs="+", required=True, metavar="INPUT", help="as for run")
    check.add_argument("--output", required=True, metavar="DIR", help="as for run; it is tried, and left as it was")
    check.add_argument("--engine", choices=("local", "ray", "beam"), default="local", help="default: local")
    check.add_argument("--workers", type=_positive, metavar="N", help="CPUs of the run (default: of this machine)")
    check.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the config")
    check.add_argument("--price", nargs="+", default=[], metavar="NAME=VALUE", help="in place of an assumption")
    check.add_argument("--sample", type=_positive, default=5, metavar="N", help="units that are measured (default: 5)")
    check.add_argument("--seconds", type=_positive, default=120, metavar="N", help="to begin units in (default: 120)")
    check.add_argument(
        "--fetch-sample", type=_positive, default=0, metavar="N", help="images that are fetched (default: none)"
    )
    check.add_argument("--json", type=Path, metavar="FILE", help="everything that was found, for a machine")
    check.set_defaults(command=_check)


def _add_demo(commands: argparse._SubParsersAction[_Parser]) -> None:
    demo = commands.add_parser("demo", help="the whole of it on a small web site, offline, in a minute")
    demo.add_argument("--output", type=Path, default=Path("demo-output"), metavar="DIR", help="default: demo-output")
    demo.add_argument(
        "--train", action="store_true",
        help="then train a small model on its shards, and find the page that made its loss jump; needs the extra train",
    )  # fmt: skip
    demo.set_defaults(command=_demo)


def _add_validate(commands: argparse._SubParsersAction[_Parser]) -> None:
    validate = commands.add_parser("validate", help="read every shard back and check all that can be checked")
    validate.add_argument("folder", metavar="DIR", help="folder of a finished run")
    validate.set_defaults(command=_validate)


def _add_export(commands: argparse._SubParsersAction[_Parser]) -> None:
    export = commands.add_parser("export", help="write the documents in another format")
    export.add_argument("folder", metavar="DIR", help="folder of a finished run")
    export.add_argument(
        "--format",
        choices=("parquet", "open_flamingo", "laion"),
        required=True,
        help="parquet: the published OBELICS columns; open_flamingo: tars for both options of its train.py; laion: "
        "only the tars of image-text pairs",
    )
    export.add_argument(
        "--shards",
        type=_positive,
        metavar="N",
        help="open_flamingo, laion: at least so many tars; its loader wants one for each worker of each process",
    )
    export.add_argument("--output", metavar="DIR", help="default: DIR/export-FORMAT")
    export.set_defaults(command=_export)


def _add_tune(commands: argparse._SubParsersAction[_Parser]) -> None:
    tune = commands.add_parser(
        "tune", help="a page in the browser: move thresholds, see what leaves and what stays; writes the YAML"
    )
    tune.add_argument("folder", metavar="DIR", help="folder of a run, best of one with --sample")
    tune.add_argument("--port", type=int, default=0, metavar="N", help="of this machine (default: a free one)")
    tune.add_argument(
        "--workers", type=_positive, metavar="N", help="processes that rehearse (default: one per CPU core)"
    )
    tune.add_argument("--no-browser", action="store_true", help="print the page's address and open nothing")
    tune.set_defaults(command=_tune)


def _add_explain(commands: argparse._SubParsersAction[_Parser]) -> None:
    explain = commands.add_parser(
        "explain", help="one record, from its bytes to what was kept of it and why; --html shows it in a browser"
    )
    explain.add_argument("place", metavar="DIR|FILE", help="folder of a run; or a WARC file, or an HTML file")
    explain.add_argument(
        "which", nargs="?", metavar="DOC|URL", help="document id or URL; of a WARC file, its URL or offset; of an HTML "
        "file, its address",
    )  # fmt: skip
    explain.add_argument("--html", type=Path, metavar="FILE", help="raw, simplified and final side by side")
    explain.add_argument("--input", nargs="+", default=[], metavar="INPUT", help="where the run's WARC files are now")
    explain.add_argument("--config", metavar="CONFIG", help="default: the run's own; for a FILE, default")
    explain.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of it")
    explain.set_defaults(command=_explain)


def _add_explain_spike(commands: argparse._SubParsersAction[_Parser]) -> None:
    spike = commands.add_parser(
        "explain-spike",
        help="a step of a training run where the loss jumped: the documents that did it, and what would remove them",
        description="Rank the documents that the steps before a spike have seen, each with its text, images, scores of "
        "curation and WARC record; say which thresholds would have removed them, and what left its range first.",
    )
    spike.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    spike.add_argument("step", type=_positive, metavar="STEP", help="a step of the spike: its peak, or the alarm's")
    spike.add_argument(
        "--window", type=_positive, default=50, metavar="N", help="steps before it to look at (default: 50)"
    )
    spike.add_argument("--top", type=_positive, default=10, metavar="N", help="documents to show (default: 10)")
    spike.add_argument(
        "--attempt", type=_positive, metavar="N", help="of a step that was trained more than once (default: where it "
        "spiked most)",
    )  # fmt: skip
    spike.add_argument("--html", type=Path, metavar="FILE", help="the same with pictures and curves, for a browser")
    spike.add_argument("--without", type=Path, metavar="FILE", help="their ids, as obelics plan --without takes them")
    spike.set_defaults(command=_explain_spike)


def _add_losses(commands: argparse._SubParsersAction[_Parser]) -> None:
    losses = commands.add_parser(
        "losses",
        help="what a training run learned of each document, as columns that tune, report and explain show",
        description="Write training.parquet beside each curation run that the documents came from: the mean loss of "
        "each, how far it was above that of documents like it, and which steps saw it. It replaces an earlier one.",
    )
    losses.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    losses.set_defaults(command=_losses)


def _add_chronicle(commands: argparse._SubParsersAction[_Parser]) -> None:
    chronicle = commands.add_parser(
        "chronicle",
        help="the story of a training run: incidents, what was done, rollbacks, with curves; or two runs compared",
        description="Write chronicle.md and its curves into the folder of a run, from metrics.jsonl and ledger.jsonl.",
    )
    chronicle.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    chronicle.add_argument("--against", type=Path, metavar="OTHER", help="another run, drawn over it: compare.md")
    chronicle.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: RUN/chronicle)")
    chronicle.set_defaults(command=_chronicle)


def _add_report(commands: argparse._SubParsersAction[_Parser]) -> None:
    report = commands.add_parser(
        "report",
        help="what a run kept and dropped, and why, as one HTML file; --against sets two runs side by side",
        description="Write one HTML file that needs nothing else: counts by stage and reason, yields, scores with "
        "their thresholds, images, duplicates, examples of what was dropped, times and cost. Of a run that has not "
        "finished, what is there.",
    )
    report.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    report.add_argument("--against", metavar="OTHER", help="folder of another run, to compare with")
    report.add_argument(
        "--output", metavar="FILE", help="default: DIR/report.html; with --against DIR/report-against.html"
    )
    report.set_defaults(command=_report)


def _add_score(commands: argparse._SubParsersAction[_Parser]) -> None:
    score = commands.add_parser(
        "score",
        help="scores for documents that exist already: the published OBELICS, an export, JSON Lines",
        description="Write the rows of the input, in their order, with scores as further columns. A row that cannot be "
        "scored stays, with nulls, and is counted. Exit codes: 0 done, 1 some rows failed, 2 wrong command or input, 3 "
        "stopped.",
    )
    score.add_argument("config", metavar="CONFIG", help="as for run; it says the options of the scores")
    score.add_argument(
        "--input", nargs="+", required=True, metavar="FILE",
        help="*.parquet as published or with a column text, or *.jsonl(.gz); paths, globs and URLs, of one format",
    )  # fmt: skip
    score.add_argument("--output", required=True, metavar="FILE", help="of the same format: a path, s3://… or gs://…")
    score.add_argument(
        "--columns", nargs="+", default=[], metavar="NAME,…",
        help="names of filters, language, language_score, columns of the models that the config names; flamingo "
        "and similarity stand for all of a model's (default: every document filter of the config)",
    )  # fmt: skip
    score.add_argument("--replace", action="store_true", help="columns of these names that the input has already")
    score.add_argument(
        "--images", default="none", metavar="fetch|DIR|none",
        help="where images are, for scores that look at them: from the web, kept in FILE.images; in a folder; nowhere "
        "(default: none)",
    )  # fmt: skip
    score.add_argument("--engine", choices=("local", "ray"), default="local", help="default: local")
    score.add_argument(
        "--workers", type=_positive, metavar="N",
        help="processes (default: one per CPU core; where they hold a model that looks at images, one per GPU, or one)",
    )  # fmt: skip
    score.add_argument("--ray-address", metavar="ADDRESS", help="as for run")
    score.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the config")
    score.set_defaults(command=_score)


def _add_map(commands: argparse._SubParsersAction[_Parser]) -> None:
    map_ = commands.add_parser(
        "map",
        help="a run's documents as points in a plane, near each other where their words are alike",
        description="Write map/points.parquet and map/labels.parquet into the folder of a run, unless they are there "
        "and its documents have not changed. Exit codes: 0 done, 2 wrong folder, or the extra tune is missing.",
    )
    map_.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    map_.add_argument(
        "--documents", type=_positive, default=100_000, metavar="N", help="at most, a fair sample (default: 100000)"
    )
    map_.add_argument("--workers", type=_positive, metavar="N", help="threads (default: one per CPU core)")
    map_.set_defaults(command=_map)


def _add_plan(commands: argparse._SubParsersAction[_Parser]) -> None:
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
    plan.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the recipe")
    plan.add_argument(
        "--counts", type=Path, metavar="DIR", help="where counts of tokens are kept (default: token-counts beside DIR)"
    )
    plan.add_argument(
        "--workers", type=_positive, metavar="N", help="processes that count tokens (default: one per CPU core)"
    )
    plan.set_defaults(command=_plan)


def _add_fit(commands: argparse._SubParsersAction[_Parser]) -> None:
    fit = commands.add_parser("fit", help="make a model anew from pages and what is known of them")
    models = fit.add_subparsers(required=True, metavar="MODEL", parser_class=_Parser)
    main_content = models.add_parser("main-content", help="the model that tells a page's main content from the rest")
    main_content.add_argument("--input", nargs="+", required=True, metavar="INPUT", help="WARC files, as for run")
    main_content.add_argument("--gold", type=Path, required=True, metavar="FILE.jsonl", help="what is known of pages")
    main_content.add_argument("--output", type=Path, required=True, metavar="MODEL.json", help="the model")
    main_content.add_argument("--folds", type=_positive, default=5, metavar="N", help="to measure with (default: 5)")
    main_content.add_argument("--workers", type=_positive, metavar="N", help="processes (default: one per CPU core)")
    main_content.set_defaults(command=_fit_main_content)
    _add_fit_detector(models)
    _add_fit_farm_texts(models)
    _add_fit_kenlm(models)
    _add_fit_classifier(models)
    _add_fit_flamingo(models)


def _add_fit_detector(models: argparse._SubParsersAction[_Parser]) -> None:
    detector = models.add_parser("detector", help="the model that tells generated text from what people wrote")
    _add_sources(detector)
    detector.add_argument("--language", default="en", metavar="CODE", help="of the texts (default: en)")
    detector.add_argument("--steps", type=_positive, default=6000, metavar="N", help="of learning (default: 6000)")
    detector.add_argument(
        "--documents", type=_positive, default=12000, metavar="N", help="that the forest learns from (default: 12000)"
    )
    detector.add_argument("--workers", type=_positive, metavar="N", help="threads (default: one per CPU core)")
    detector.add_argument(
        "--forest-without-each",
        action="store_true",
        help="tell what a forest finds of each family that saw none of it (the network did): one more fit for each",
    )
    detector.add_argument("--output", type=Path, required=True, metavar="MODEL.npz", help="the detector")
    detector.set_defaults(command=_fit_detector)


def _add_fit_farm_texts(models: argparse._SubParsersAction[_Parser]) -> None:
    texts = models.add_parser(
        "farm-texts",
        help="no model, but texts for one: honest documents, and generated ones as a detector learns from",
        description="Write honest.jsonl.gz and generated.jsonl.gz, half of the documents each: what obelics fit "
        "classifier takes. PyTorch and LightGBM are not needed.",
    )
    _add_sources(texts)
    texts.add_argument("--documents", type=_positive, default=24000, metavar="N", help="of both kinds (default: 24000)")
    texts.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="of the two files")
    texts.set_defaults(command=_fit_farm_texts)


def _add_sources(command: argparse.ArgumentParser) -> None:
    """What honest and generated documents are made of."""
    command.add_argument(
        "--trusted", nargs="+", required=True, metavar="CORPUS",
        help='texts that people wrote, as for kenlm: lines {"text": …}, or Parquet; generated ones are made of them',
    )  # fmt: skip
    command.add_argument(
        "--unusual", nargs="+", default=[], metavar="CORPUS",
        help="texts of genres that must not be taken for generated: poems, recipes, law, code",
    )  # fmt: skip
    command.add_argument(
        "--thesaurus", type=Path, metavar="FILE.dat", help="synonyms, as LibreOffice has them; default: of the texts"
    )
    command.add_argument(
        "--dictionary", nargs=2, type=Path, action="append", default=[], metavar=("THERE.index", "BACK.index"),
        help="a pair of freedict's dictionaries, to translate with and back; may be given again",
    )  # fmt: skip
    command.add_argument(
        "--leave-out", nargs="+", default=[], metavar="FAMILY", help="not to be made, to see how a model does without"
    )


def _add_fit_flamingo(models: argparse._SubParsersAction[_Parser]) -> None:
    flamingo = models.add_parser(
        "flamingo",
        help="a small Flamingo from scratch, for the flamingo columns, in minutes on a CPU",
        description="Train a small language model that sees, all of it from random weights, on documents with their "
        "images. It is for tests, the demo and measurements: models of use are trained elsewhere.",
    )
    flamingo.add_argument(
        "--documents", nargs="+", required=True, metavar="DOCUMENTS",
        help='folders of finished runs; Parquet with the OBELICS columns; lines {"texts", "images"} or {"text"}',
    )  # fmt: skip
    flamingo.add_argument(
        "--images", type=Path, metavar="DIR", help="for files: of each image, named by the sha256 of its URL"
    )
    flamingo.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="the model, a new folder")
    flamingo.add_argument("--steps", type=_positive, default=300, metavar="N", help="of learning (default: 300)")
    flamingo.add_argument("--layers", type=_positive, default=4, metavar="N", help="of the language model (default: 4)")
    flamingo.add_argument("--width", type=_positive, default=128, metavar="N", help="a multiple of 32 (default: 128)")
    flamingo.add_argument(
        "--words", type=_positive, default=2000, metavar="N", help="of its vocabulary (default: 2000)"
    )
    flamingo.add_argument("--workers", type=_positive, metavar="N", help="threads (default: one per CPU core)")
    flamingo.set_defaults(command=_fit_flamingo)


def _add_fit_classifier(models: argparse._SubParsersAction[_Parser]) -> None:
    classifier = models.add_parser("classifier", help="the model of the filter quality_score, from texts of two kinds")
    corpus = 'lines {"text": …, "source"?: …} (.jsonl, .jsonl.gz), or Parquet with the OBELICS columns'
    classifier.add_argument("--positive", nargs="+", required=True, metavar="FILE", help=f"texts as wanted: {corpus}")
    classifier.add_argument("--negative", nargs="+", required=True, metavar="FILE", help="texts of the other kind")
    classifier.add_argument("--output", type=Path, required=True, metavar="MODEL.ftz", help="what options.model names")
    classifier.add_argument(
        "--features", type=_positive, default=50_000, metavar="N",
        help="words and pairs of words that are kept: decides the size (default: 50000)",
    )  # fmt: skip
    classifier.set_defaults(command=_fit_classifier)


def _add_fit_kenlm(models: argparse._SubParsersAction[_Parser]) -> None:
    kenlm = models.add_parser("kenlm", help="the language model of the filter perplexity, from a corpus of texts")
    kenlm.add_argument(
        "--input", nargs="+", required=True, metavar="CORPUS",
        help='lines {"text": …} (.jsonl, .jsonl.gz), or Parquet with the OBELICS columns',
    )  # fmt: skip
    kenlm.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="what options.folder then names")
    kenlm.add_argument("--language", default="en", metavar="CODE", help="of the corpus (default: en)")
    kenlm.add_argument("--order", type=_positive, default=5, metavar="N", help="longest n-gram, 2 to 6 (default: 5)")
    kenlm.add_argument(
        "--pieces", type=_positive, default=32_000, metavar="N", help="of SentencePiece, at most (32000)"
    )
    kenlm.add_argument(
        "--prune", type=int, nargs="+", default=[0], metavar="N",
        help="leave n-grams out that were seen so often or less, by length from 1 (default: 0, none)",
    )  # fmt: skip
    kenlm.add_argument("--memory", default="2G", metavar="SIZE", help="for sorting; changes no byte (default: 2G)")
    kenlm.add_argument("--programs", type=Path, metavar="FOLDER", help="of lmplz and build_binary (default: the PATH)")
    kenlm.set_defaults(command=_fit_kenlm)


def _add_download(commands: argparse._SubParsersAction[_Parser]) -> None:
    download = commands.add_parser("download", help="fetch a language model for the filter perplexity from its hub")
    download.add_argument("name", metavar="OWNER/REPOSITORY/FOLDER", help="such as edugp/kenlm/wikipedia")
    download.add_argument("--language", nargs="+", required=True, metavar="CODE", help="such as en de; GB each")
    download.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="what options.folder then names")
    download.add_argument("--revision", default="main", metavar="NAME", help="a commit, for ever the same (main)")
    download.set_defaults(command=_download)


def _add_train(commands: argparse._SubParsersAction[_Parser]) -> None:
    train = commands.add_parser(
        "train",
        help="train a Flamingo on a plan; run it again to go on",
        description="Train a Flamingo on the shards that a plan names, or go on from the newest checkpoint. With "
        "several GPUs: torchrun --nproc-per-node N -m obelics_pipeline train … Exit codes: 0 done, 2 wrong command or "
        "config, 3 stopped.",
    )
    train.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a bundled one: flamingo")
    train.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder of the training")
    train.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the config")
    train.add_argument("--step", type=_positive, metavar="N", help="go on from the checkpoint of this step")
    train.set_defaults(command=_train)


def _add_ablate(commands: argparse._SubParsersAction[_Parser]) -> None:
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
        help="a YAML file, or the name of a bundled one: ablate-filters, ablate-orders",
    )
    ablate.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder of the experiment")
    ablate.add_argument(
        "--workers", type=_positive, metavar="N", help="processes that count tokens (default: one per CPU)"
    )
    ablate.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of it")
    ablate.set_defaults(command=_ablate)


def _add_probe(commands: argparse._SubParsersAction[_Parser]) -> None:
    probe = commands.add_parser(
        "probe",
        help="before a training: learn eight documents by heart, a range of learning rates, the first steps watched",
        description="Try the config and the plan of a training for a minute. Exit codes: 0 nothing is amiss, 1 "
        "something is: do not train so, 2 wrong command or config.",
    )
    probe.add_argument("config", metavar="CONFIG", help="as for train")
    probe.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder that probe.json is written to")
    probe.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the config")
    names = ("overfit", "range", "stability")
    probe.add_argument("--only", nargs="+", choices=names, default=names, help="not all three")
    probe.set_defaults(command=_probe)


def _add_evaluate(commands: argparse._SubParsersAction[_Parser]) -> None:
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
    evaluate.add_argument("--precision", choices=("float32", "bfloat16", "float16"), default="float32")
    evaluate.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu, to be in no way")
    evaluate.set_defaults(command=_evaluate)


def _add_expect(commands: argparse._SubParsersAction[_Parser]) -> None:
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


def _add_tensorboard(commands: argparse._SubParsersAction[_Parser]) -> None:
    board = commands.add_parser("tensorboard", help="the numbers of a training as TensorBoard reads them")
    board.add_argument("run", type=Path, metavar="RUN", help="folder of a training run; it may be at work")
    board.add_argument("--output", type=Path, metavar="DIR", help="default: tensorboard/ in the run's folder")
    board.set_defaults(command=_tensorboard)


def _add_intervene(commands: argparse._SubParsersAction[_Parser]) -> None:
    intervene = commands.add_parser(
        "intervene",
        help="change a training run, with a reason: one line of its ledger, which can be undone",
        description="Write one change into the ledger of a training run. Exit codes: 0 written, 2 refused.",
    )
    intervene.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    kinds = intervene.add_subparsers(required=True, metavar="CHANGE", parser_class=_Parser)

    def kind(name: str, help: str, at: bool = True) -> _Parser:
        parser = kinds.add_parser(name, help=help)
        if at:
            parser.add_argument("--at", type=_positive, metavar="STEP", help="from this step on (default: the next)")
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
    undo.add_argument("of", type=_positive, metavar="NUMBER", help="of its entry: obelics inspect RUN lists them")
    rollback = kind("rollback", "go on from an earlier checkpoint, when the run is started again", at=False)
    rollback.add_argument("step", type=int, metavar="STEP", help="of a checkpoint that is kept")
    rollback.add_argument("--skip", type=_rows, metavar="A:B", help="leave these rows out")


def _add_inspect(commands: argparse._SubParsersAction[_Parser]) -> None:
    inspect = commands.add_parser(
        "inspect", help="a training run or one of its checkpoints: steps, rates, changes in force, files"
    )
    inspect.add_argument("place", type=Path, metavar="RUN|CHECKPOINT", help="folder")
    inspect.set_defaults(command=_inspect)


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


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {text}")
    return number


def _refuse_ray_address(arguments: argparse.Namespace) -> None:
    if arguments.ray_address and arguments.engine != "ray":
        raise UserError(
            f"--ray-address is of --engine ray, and the engine is {arguments.engine}: leave one of them out"
        )


def _run(arguments: argparse.Namespace) -> int:
    _refuse_ray_address(arguments)
    if arguments.engine == "beam":
        return _run_on_beam(arguments)
    from obelics_pipeline.run import open_ray, run

    on_ray = partial(open_ray, arguments.ray_address, arguments.workers)
    return run(
        arguments.config,
        arguments.input,
        arguments.output,
        workers=arguments.workers or os.cpu_count() or 1,
        overrides=arguments.set,
        stages=arguments.stage,
        retry=arguments.retry_failed,
        force=arguments.force,
        against=arguments.against,
        open_engine=on_ray if arguments.engine == "ray" else None,
        sample=arguments.sample,
    )


def _run_on_beam(arguments: argparse.Namespace) -> int:
    """The job of `python -m beam_jobs.curate`, on this machine; other runners are asked for there."""
    from beam_jobs.curate import curate
    from beam_jobs.options import local_options

    return curate(
        arguments.config,
        arguments.input,
        arguments.output,
        local_options(arguments.workers or os.cpu_count() or 1),
        overrides=arguments.set,
        stages=arguments.stage,
        retry=arguments.retry_failed,
        force=arguments.force,
        against=arguments.against,
        sample=arguments.sample,
    )


def _tune(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.tune.command import tune

    workers = arguments.workers or os.cpu_count() or 1
    return tune(arguments.folder, arguments.port, workers, browser=not arguments.no_browser)


def _check(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.check.command import Bounds, check

    return check(
        arguments.config,
        arguments.input,
        arguments.output,
        arguments.engine,
        arguments.workers,
        overrides=arguments.set,
        prices=arguments.price,
        bounds=Bounds(arguments.sample, arguments.seconds, arguments.fetch_sample),
        json_file=arguments.json,
    )


def _demo(arguments: argparse.Namespace) -> int:
    if arguments.train:
        from obelics_pipeline.demo.training import train_demo

        return train_demo(arguments.output)
    from obelics_pipeline.demo.run import run_demo

    return run_demo(arguments.output)


def _validate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.shard.validate import validate
    from obelics_pipeline.storage import place

    report = validate(place(arguments.folder))
    for line in report.lines():
        print(line)
    return report.exit_code


def _export(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.shard.export import export_parquet
    from obelics_pipeline.storage import place
    from obelics_pipeline.tombstones.obeyed import note_export, refuse_forgotten

    folder = place(arguments.folder)
    output = place(arguments.output) if arguments.output else folder / f"export-{arguments.format}"
    refuse_forgotten(folder)
    note_export(folder, output)
    if arguments.format != "parquet":
        from obelics_pipeline.shard.export_flamingo import export_flamingo

        only = arguments.format == "laion"
        for line in export_flamingo(folder, output, arguments.shards or 1, pairs_only=only).lines():
            print(line)
        return 0
    if arguments.shards is not None:
        raise UserError("--shards is of --format open_flamingo and laion; leave it out")
    files = export_parquet(folder, output)
    print(f"wrote {len(files)} files to {output}")
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.explain.command import explain, write_html
    from obelics_pipeline.explain.lines import lines_of

    account = explain(arguments.place, arguments.which, arguments.config, arguments.set, arguments.input)
    for line in lines_of(account):
        print(line)
    if arguments.html is not None:
        write_html(account, arguments.html)
        print(f"wrote {arguments.html}")
    return 0


def _explain_spike(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.spike.command import explain

    a = arguments
    for line in explain(a.run, a.step, a.window, a.top, a.attempt, a.html, a.without):
        print(line)
    return 0


def _losses(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.spike.losses import losses

    for line in losses(arguments.run):
        print(line)
    return 0


def _chronicle(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.spike.chronicle import chronicle
    from obelics_pipeline.spike.compare import compare

    output = arguments.output or arguments.run / "chronicle"
    if arguments.against is None:
        print(f"wrote {chronicle(arguments.run, output)}")
    else:
        print(f"wrote {compare(arguments.run, arguments.against, output)}")
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.report.command import report

    print(f"wrote {report(arguments.folder, arguments.against, arguments.output)}")
    return 0


def _score(arguments: argparse.Namespace) -> int:
    _refuse_ray_address(arguments)
    from obelics_pipeline.score.command import score

    on_ray = None
    if arguments.engine == "ray":
        from obelics_pipeline.run import open_ray

        on_ray = partial(open_ray, arguments.ray_address, arguments.workers)
    return score(
        arguments.config,
        arguments.input,
        [name.strip() for names in arguments.columns for name in names.split(",")],
        arguments.output,
        workers=arguments.workers,
        overrides=arguments.set,
        images=arguments.images,
        replace=arguments.replace,
        open_engine=on_ray,
        say=partial(print, flush=True),
        warn=lambda line: print(line, file=sys.stderr, flush=True),  # at that time: a progress line may be in its way
    )


def _map(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.corpus_map.command import map_run

    say = partial(print, flush=True)
    return map_run(arguments.folder, arguments.documents, arguments.workers or os.cpu_count() or 1, say)


def _train(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.command import train

    return train(arguments.config, arguments.output, arguments.set, arguments.step, partial(print, flush=True))


def _ablate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.ablate.command import ablate

    workers = arguments.workers or os.cpu_count() or 1
    return ablate(arguments.experiment, arguments.output, arguments.set, workers, partial(print, flush=True))


def _probe(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.probing import probe

    return probe(arguments.config, arguments.set, arguments.output, arguments.only, partial(print, flush=True))


def _evaluate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.evaluate.beside import evaluate_beside

    names = ("tasks", "shots", "rows", "prompts", "precision", "device")
    wanted = {name: getattr(arguments, name) for name in names}
    where = (arguments.place, arguments.plan, arguments.output)
    return evaluate_beside(*where, wanted, partial(print, flush=True), arguments.watch, arguments.every)


def _expect(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.evaluate.expect import expect_run

    fine, line = expect_run(arguments.run, arguments.small, arguments.scale)
    print(line)
    return 0 if fine else 1


def _tensorboard(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.train.tensorboard import tensorboard

    for folder in tensorboard(arguments.run, arguments.output):
        print(f"wrote {folder}")
    return 0


def _plan(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.plan.command import plan

    plan(
        arguments.recipe,
        arguments.output,
        workers=arguments.workers or os.cpu_count() or 1,
        without=arguments.without,
        overrides=arguments.set,
        counts=arguments.counts,
        say=partial(print, flush=True),
    )
    return 0


def _fit_main_content(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.main_content import fit_main_content

    fit_main_content(
        arguments.input,
        arguments.gold,
        arguments.output,
        folds=arguments.folds,
        workers=arguments.workers or os.cpu_count() or 1,
        say=partial(print, flush=True),
    )
    return 0


def _fit_detector(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_detector.command import fit_detector

    fit_detector(
        _sources(arguments),
        arguments.output,
        language=arguments.language,
        steps=arguments.steps,
        documents=arguments.documents,
        threads=arguments.workers or os.cpu_count() or 1,
        say=partial(print, flush=True),
        forest_without_each=arguments.forest_without_each,
    )
    return 0


def _fit_farm_texts(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.farm_detector.farm_texts import make_farm_texts

    make_farm_texts(_sources(arguments), arguments.output, arguments.documents, partial(print, flush=True))
    return 0


def _sources(arguments: argparse.Namespace) -> Sources:
    from obelics_pipeline.fit.farm_detector.sources import Sources

    dictionaries = [(there, back) for there, back in arguments.dictionary]
    return Sources(arguments.trusted, arguments.unusual, arguments.thesaurus, dictionaries, arguments.leave_out)


def _fit_flamingo(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.flamingo.command import fit_flamingo
    from obelics_pipeline.fit.flamingo.shape import Shape

    fit_flamingo(
        arguments.documents,
        arguments.images,
        arguments.output,
        Shape(arguments.layers, arguments.width, arguments.words),
        arguments.steps,
        arguments.workers or os.cpu_count() or 1,
        partial(print, flush=True),
    )
    return 0


def _fit_kenlm(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.kenlm import KenlmSettings, fit_kenlm

    fit_kenlm(
        arguments.input,
        arguments.output,
        KenlmSettings(arguments.language, arguments.order, arguments.pieces, tuple(arguments.prune)),
        partial(print, flush=True),
        memory=arguments.memory,
        programs=arguments.programs,
    )
    return 0


def _fit_classifier(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.classifier import fit_classifier

    say = partial(print, flush=True)
    fit_classifier(arguments.positive, arguments.negative, arguments.output, say, arguments.features)
    return 0


def _download(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.fit.published import download_kenlm

    say = partial(print, flush=True)
    download_kenlm(arguments.name, arguments.language, arguments.output, arguments.revision, say)
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
