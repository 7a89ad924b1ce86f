"""What scores of a text find of content farms, and what of honest text they take for one.

    python benchmarks/content_farms.py BENCH.jsonl … [--columns farm_score word_repetition_ratio …]
        [--detector FILE.npz] [--kenlm FOLDER] [--classifier FILE.ftz]
    python benchmarks/content_farms.py --honest FILE.jsonl … --run DIR … [--detector FILE.npz]

BENCH.jsonl, or BENCH.jsonl.gz, has {"id", "label", "generator", "text"} a line. Label 1 is generated; of label 0,
generators whose names begin with `hard_` are honest genres that look unusual, and the others are clean. The threshold
that one in a hundred of the clean documents of all files is above is set on these documents, and so is that of five in
a hundred. Where rows have a "domain", a generator is judged domain by domain, by the clean documents of the domain if
these are a hundred or more: otherwise what is found is the domain. A column named `perplexity:low` is read from its
other side: what is too predictable. Each file has a mean over its generators, so that those that a detector was made
for and those of strangers stand apart. Beside it is what the threshold in the detector's file does, and the bound of
the default config, with Wilson's 95 % intervals. Below each table is its CPU time on one core, and in the end that of
all columns together, each document measured by all of them in turn: `--columns perplexity worse_than_unigram_ratio
quality_score farm_score`. The models are those that the package ships, but where the command line names another.

--honest and --run name pages that are all taken for honest, such as those of a crawl: {"id", "text"} lines, in English
where "language" says nothing else, and the output of a finished run. Of such a run it is the English documents that it
kept, and those that it dropped as generated: without these it would be what such a filter has left. For each it prints
the share of those with a farm_score that is above the threshold of the detector's file and above the bound of the
default config, with Wilson's interval, and the highest scores.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.rates import Share, auc, mean, share_above, threshold
from obelics_pipeline.core.storage import location, read_table
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.demo.verdicts import REASONS
from obelics_pipeline.filters.registry import Filter, build
from obelics_pipeline.filters.text import Text
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.inspect.run_tables.folders import document_folders
from obelics_pipeline.models.farm_detector.detector import bundled, load

FALSE_POSITIVES, MORE_FALSE_POSITIVES = 0.01, 0.05
FEWEST_OF_DOMAIN = 100  # clean documents of a domain, below which all clean documents set its threshold
CHAT_BOUND = 0.95  # of chat_score: no config has one
LOW = ":low"  # after a column's name: low is what others are high for
CLEAN, HARD = "clean", "hard_"
SIGN = {"quality_score": -1, "distinct_word_ratio": -1, "lexical_cohesion": -1}  # low is what others are high for
WARM_UP = 20  # documents before the clock starts
STRETCHES = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01)  # of scores
LANGUAGE = "en"  # of the shipped detector, and of the bench
HIGHEST = 5  # scores of honest pages that are told


def main() -> None:
    """Score, and print a table for each column, and what is taken for generated of each source of honest pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", nargs="*", metavar="BENCH.jsonl")
    parser.add_argument("--columns", nargs="+", default=["farm_score"])
    parser.add_argument("--detector", help="in place of the shipped one")
    parser.add_argument("--kenlm", help="a folder as obelics fit kenlm writes it, in place of the shipped one")
    parser.add_argument("--classifier", help="a file as obelics fit classifier writes it, in place of the shipped one")
    parser.add_argument("--honest", nargs="+", default=[], metavar="FILE.jsonl", help="pages that are all honest")
    parser.add_argument(
        "--run", nargs="+", default=[], metavar="DIR", help="finished runs, whose English is all honest"
    )
    arguments = parser.parse_args()
    if not (arguments.bench or arguments.honest or arguments.run):
        parser.error("nothing to measure: give BENCH.jsonl, --honest FILE.jsonl or --run DIR")
    try:
        if arguments.bench:
            print_bench(arguments)
        for name, pages in honest_pages(arguments.honest, arguments.run):
            print("\n".join(taken_for_generated(name, pages, arguments.detector)))
    except UserError as error:
        parser.exit(error.exit_code, f"{error}\n")


def print_bench(arguments: argparse.Namespace) -> None:
    """A table for each column, and its speed."""
    files = {file.where.name: list(file.rows((), lambda row: row)) for file in text_files(arguments.bench)}
    rows = [row for of_file in files.values() for row in of_file]
    clean = {row["generator"] for row in rows if row["label"] == 0 and not row["generator"].startswith(HARD)}
    families = {
        name: sorted({group(row, clean) for row in of_file if row["generator"] not in clean})
        for name, of_file in files.items()
    }
    given = options(arguments)
    names = {column: column.removesuffix(LOW) for column in arguments.columns}
    made = {column: build(name, given.get(name, {})) for column, name in names.items()}
    for column in arguments.columns:
        seconds, found = timed([made[column]], rows)
        scores = [score for (score,) in found]
        by_generator: dict[str, list[float]] = defaultdict(list)
        for row, score in zip(rows, scores, strict=True):
            sign = SIGN.get(names[column], 1) * (-1 if column.endswith(LOW) else 1)
            value = float("-inf") if score is None else sign * score
            for name in {group(row, clean), CLEAN} if row["generator"] in clean else {group(row, clean)}:
                by_generator[name].append(value)
        print(f"== {column}: {len(rows)} documents, {sum(s is None for s in scores)} without a score")
        fixed = {"farm_score": thresholds(arguments.detector), "chat_score": [CHAT_BOUND]}.get(column, [])
        print("\n".join(table(by_generator, families, fixed)))
        if column == "farm_score":
            print("\n".join(calibration(by_generator)))
        print(f"{speed(seconds, len(rows))}\n")
    if len(made) > 1:
        seconds, _ = timed(list(made.values()), rows)
        print(f"== {' + '.join(made)}: {speed(seconds, len(rows))}")


def group(row: Mapping[str, Any], clean: Container[str]) -> str:
    """Who wrote the text, and of which domain, where that is told."""
    name = CLEAN if row["generator"] in clean else str(row["generator"])
    return f"{name}, {row['domain']}" if row.get("domain") else name


def options(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Of each column whose model the command line may name."""
    kenlm, classifier, detector = arguments.kenlm, arguments.classifier, arguments.detector
    return {
        "perplexity": {"folder": kenlm} if kenlm else {},
        "worse_than_unigram_ratio": {"folder": kenlm} if kenlm else {},
        "quality_score": {"model": classifier} if classifier else {},
        "farm_score": by_detector(detector),
    }


def by_detector(path: str | None) -> dict[str, Any]:
    """Options of farm_score, under which this detector is in place of the shipped one."""
    return {"paths": {LANGUAGE: path}} if path else {}


def timed(measuring: Sequence[Filter], rows: Sequence[dict[str, Any]]) -> tuple[float, list[list[float | None]]]:
    """Seconds of CPU time, and what each filter says of each document; models have read some text before."""
    for row in rows[:WARM_UP]:
        for one in measuring:
            one.score(Text(row["text"], LANGUAGE))
    begin = time.process_time()
    found = []
    for row in rows:
        text = Text(row["text"], LANGUAGE)
        found.append([one.score(text) for one in measuring])
    return time.process_time() - begin, found


def speed(seconds: float, documents: int) -> str:
    """Of one core."""
    return f"{documents / seconds:.0f} documents/s of one core, {seconds / documents * 1000:.2f} ms each"


def thresholds(path: str | None) -> list[float]:
    """The one that the detector's file has, where there is a detector; the bound of the default config."""
    file = path or bundled(LANGUAGE)
    bound = load_config("default").filters.document["farm_score"].max
    own = [] if file is None else [float(load(str(file)).about["threshold"])]
    return own if bound is None else [*own, float(bound)]


def table(
    by_generator: dict[str, list[float]], families: Mapping[str, Sequence[str]], fixed: Sequence[float]
) -> Iterator[str]:
    """Shares above the threshold at 1 % of the clean documents, and above fixed ones; means by file."""
    names = [name for name in sorted(by_generator) if name != CLEAN]
    hard = [name for name in names if name.startswith(HARD)]
    honest = [name for name in names if name.startswith(f"{CLEAN}, ")]
    farms = [name for name in names if name not in hard and name not in honest]
    means = [(f"generated, {file}", [n for n in of_file if n in farms]) for file, of_file in families.items()]
    means += [(f"hard genres, {file}", [n for n in of_file if n in hard]) for file, of_file in families.items()]
    yield f"{'':26}{'n':>6}{'at 1 %':>10}{'interval':>14}{'at 5 %':>10}{'AUC':>8}" + "".join(
        f"{f'over {over:.3f}':>22}" for over in fixed
    )
    for name in (*farms, *hard, *honest, CLEAN):
        scores, one, five = by_generator[name], *at_rates(by_generator, name)
        low, high = one.interval()
        line = f"{name:26}{len(scores):6}{one.value:10.3f}{f'({low:.2f}-{high:.2f})':>14}{five.value:10.3f}"
        line += f"{auc(scores, clean_of(by_generator, name)):8.3f}"
        for over in fixed:
            share = share_above(scores, over)
            low, high = share.interval()
            line += f"{share.value:10.3f} ({low:.2f}-{high:.2f})"
        yield line
    yield "means"
    for title, of_file in means:
        if of_file:
            rates = [at_rates(by_generator, name) for name in of_file]
            first, second = (mean(rate[at].value for rate in rates) for at in (0, 1))
            macro = [mean(share_above(by_generator[name], over).value for name in of_file) for over in fixed]
            yield f"{title:26}{'':6}{first:10.3f}{'':14}{second:10.3f}{'':8}" + "".join(
                f"{value:10.3f}{'':12}" for value in macro
            )


def at_rates(by_generator: Mapping[str, list[float]], name: str) -> tuple[Share, Share]:
    """What is found where 1 % and where 5 % of the clean documents are taken; of honest genres, that of all."""
    clean = by_generator[CLEAN] if name.startswith(CLEAN) else clean_of(by_generator, name)
    rates = (FALSE_POSITIVES, MORE_FALSE_POSITIVES)
    first, second = (share_above(by_generator[name], threshold(clean, rate)) for rate in rates)
    return first, second


def clean_of(by_generator: Mapping[str, list[float]], name: str) -> list[float]:
    """The clean documents of a generator's domain where there are enough, else all."""
    of_domain = by_generator.get(f"{CLEAN}, {name.partition(', ')[2]}", [])
    return of_domain if len(of_domain) >= FEWEST_OF_DOMAIN else by_generator[CLEAN]


def calibration(by_generator: dict[str, list[float]]) -> Iterator[str]:
    """Of each stretch of scores, what share would be generated if half of all documents were, each generator alike."""
    farms = [scores for name, scores in by_generator.items() if not name.startswith((CLEAN, HARD))]
    if farms:
        yield f"{'score':26}{'generated, of a half':>24}"
    for low, high in pairwise(STRETCHES) if farms else ():
        honest = mean(low <= score < high for score in by_generator[CLEAN])
        generated = mean(mean(low <= score < high for score in scores) for scores in farms)
        if honest + generated:
            yield f"{f'{low:g} to {min(high, 1):g}':26}{generated / (honest + generated):24.2f}"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is taken for honest."""

    id: str
    text: str
    language: str | None


def honest_pages(files: Sequence[str], runs: Sequence[str]) -> Iterator[tuple[str, list[Page]]]:
    """The name and the pages of each source. Raises UserError where one is not there, or is no such thing."""
    for file in text_files(files):
        pages = list(file.rows(("id", "text", "language"), page_of))
        yield str(file), pages  # with what was skipped of it
    for run in runs:
        yield run, list(pages_of_run(run))


def page_of(row: Mapping[str, Any]) -> Page | str:
    """The page of a row, or what is wrong with the row."""
    text, language = row.get("text"), row.get("language", LANGUAGE)
    if not isinstance(text, str):
        return "without text"
    if not isinstance(language, str | None):
        return "with a language that is no text"
    return Page(str(row.get("id", "")), text, language)


def pages_of_run(path: str) -> Iterator[Page]:
    """English documents that a run kept or dropped as generated, each as the last stage that read it has left it.

    Raises UserError where no finished run is.
    """
    folder = RunFolder(location(path))
    if not folder.manifest.exists():
        raise UserError(f"--run {path}: no finished run is there; give the --output of one")
    kept = set(read_table(folder.index, ["doc_id"])["doc_id"].to_pylist())
    found: dict[str, Page] = {}
    for _, stage in document_folders(folder):
        for manifest in read_manifests(stage, unit_names(stage)).values():
            for document in read_documents(manifest.path(stage, "data")):
                if document.language == LANGUAGE and (document.doc_id in kept or document.reason in REASONS):
                    found[document.doc_id] = Page(document.doc_id, document.text(), LANGUAGE)
    yield from found.values()


def taken_for_generated(name: str, pages: Sequence[Page], detector: str | None) -> Iterator[str]:
    """The share of honest pages above each threshold, and the highest of them."""
    measure = build("farm_score", by_detector(detector))
    measured = [(measure.score(Text(page.text, page.language)), page.id) for page in pages]
    found = [(score, id_) for score, id_ in measured if score is not None]
    yield f"== farm_score of honest pages, {name}: {len(pages)} documents, {len(pages) - len(found)} without a score"
    for over in thresholds(detector) if found else ():
        share = share_above((score for score, _ in found), over)
        low, high = share.interval()
        yield f"over {over:.3f}: {share.value:.3f} ({low:.2f}-{high:.2f}), {share.found} of {share.of}"
    for score, id_ in sorted(found, key=lambda one: (-one[0], one[1]))[:HIGHEST]:
        yield f"{score:10.3f}  {id_}"


if __name__ == "__main__":
    main()
