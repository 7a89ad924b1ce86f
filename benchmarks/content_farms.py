"""What scores of a text find of content farms, and what of honest text they take for one.

    python benchmarks/content_farms.py BENCH.jsonl … [--columns farm_score chat_score perplexity:low …]
        [--learned GENERATOR …] [--scores DIR] [--detector FILE.npz] [--kenlm FOLDER] [--classifier FILE.ftz]
    python benchmarks/content_farms.py --honest FILE.jsonl … --run DIR … [--columns …] [--detector FILE.npz]

BENCH.jsonl, or BENCH.jsonl.gz, has {"id", "label", "generator", "text"} a line. Label 1 is generated; of label 0,
generators whose names begin with `hard_` are honest genres that look unusual, and the others are clean. The threshold
at 1 % is that which one in a hundred clean documents is above, and that at 5 % likewise: of a generator's domain, where
rows have a "domain" and a hundred clean documents are of it, else of its file, else of all files. Otherwise what is
found is the domain. A column named `perplexity:low` is read from its other side: what is too predictable.

Strangers stand first. A generator that the model has learned from is marked `learned` and has a mean of its own:
those after `--learned` (the beginning of a name will do), and those that the file of chat_score names.

`--scores DIR` keeps scores as DIR/COLUMN.jsonl, a line {"id", "score"} each, and reads what is there in place of
measuring it: empty DIR when a model changes. Lines with "unseen": true are by models that have seen neither generator
nor domain: `obelics fit chat-detector --unseen DIR/chat_score.jsonl` writes them.

Beside both thresholds is the bound of the default config, or 0.95, with Wilson's 95 % intervals. Below each table is
the CPU time of what was measured, on one core, and in the end that of all columns in turn on some documents. The
models are those that the package ships, but where the command line names another.

--honest and --run name pages that are all taken for honest, such as those of a crawl: {"id", "text"} lines, in English
where "language" says nothing else, and the output of a finished run. Of such a run it is the English documents that it
kept, and those that it dropped as generated: without these it would be what such a filter has left. For each column
that has a bound it prints the share above it, with Wilson's interval, and the highest scores.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.honest_pages import LANGUAGE, Page, honest_pages
from benchmarks.kept_scores import KeptScores, Score
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.rates import Share, auc, mean, share_above, threshold
from obelics_pipeline.filters.registry import Filter, build
from obelics_pipeline.filters.text import Text
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.models.chat_detector import detector as chat_detector
from obelics_pipeline.models.farm_detector import detector as farm_detector
from obelics_pipeline.models.wording_detector import detector as wording_detector

FALSE_POSITIVES, MORE_FALSE_POSITIVES = 0.01, 0.05
FEWEST_CLEAN = 100  # clean documents of a domain or file, below which more documents set its threshold
BOUND = 0.95  # of a detector that the default config has no bound for
DETECTORS = ("farm_score", "chat_score", "wording_score")  # columns with a bound
LOW = ":low"  # after a column's name: low is what others are high for
HARD = "hard_"  # how the names of unusual honest genres begin
STRANGER, LEARNED, UNUSUAL, CLEAN = "stranger", "learned", "unusual", "clean"  # kinds of writers
ORDER = (STRANGER, LEARNED, UNUSUAL, CLEAN)
SIGN = {"quality_score": -1, "distinct_word_ratio": -1, "lexical_cohesion": -1}  # low is what others are high for
WARM_UP, TIMED = 20, 1000  # documents before the clock starts, and of the time of all columns together
STRETCHES = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01)  # of scores
HIGHEST = 5  # scores of honest pages that are told


@dataclass(frozen=True, slots=True, order=True)
class Writer:
    """Who wrote some texts of a file, and of which domain."""

    kind: str  # one of `ORDER`
    file: str
    generator: str
    domain: str

    def __str__(self) -> str:
        return f"{self.generator}, {self.domain}" if self.domain else self.generator


Row = Mapping[str, Any]
Scores = Mapping[Writer, Sequence[float]]


def main() -> None:
    """Score, and print a table for each column, and what is taken for generated of each source of honest pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", nargs="*", metavar="BENCH.jsonl")
    parser.add_argument("--columns", nargs="+", default=["farm_score"])
    parser.add_argument("--learned", nargs="+", default=[], metavar="GENERATOR", help="what the models learned from")
    parser.add_argument("--scores", metavar="DIR", help="keep scores there, and read those that are there")
    parser.add_argument("--detector", help="of farm_score, in place of the shipped one")
    parser.add_argument("--chat-detector", help="of chat_score, in place of the shipped one")
    parser.add_argument("--wording-detector", help="of wording_score, in place of the shipped one")
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
            for column in arguments.columns:
                if column in DETECTORS:
                    print("\n".join(taken_for_generated(name, pages, column, options(arguments))))
    except UserError as error:
        parser.exit(error.exit_code, f"{error}\n")


def print_bench(arguments: argparse.Namespace) -> None:
    """A table for each column, and its speed."""
    files = [(file.where.name, list(file.rows((), lambda row: row))) for file in text_files(arguments.bench)]
    rows = [row for _, of_file in files for row in of_file]
    given = options(arguments)
    made = {column: build(name_of(column), given.get(name_of(column), {})) for column in arguments.columns}
    for column, measuring in made.items():
        clock: list[str] = []

        def measure(missing: Sequence[Row], measuring: Filter = measuring, clock: list[str] = clock) -> list[Score]:
            seconds, found = timed([measuring], missing)
            clock.append(speed(seconds, missing))
            return [score for (score,) in found]

        kept = KeptScores.of(arguments.scores, name_of(column))
        found, unseen = kept.complete(rows, measure)
        scores = by_writer(files, found, sign_of(column), [*arguments.learned, *learned_by(column, given)], unseen)
        told = f", {len(unseen)} scored by models that have not seen them" if unseen else ""
        print(f"== {column}: {len(rows)} documents, {found.count(None)} without a score{told}")
        print("\n".join(table(scores, thresholds(column, given))))
        if column in DETECTORS:
            print("\n".join(calibration(scores)))
        print(*clock, end="\n\n")
    if len(made) > 1:
        some = rows[:: max(1, len(rows) // TIMED)]
        print(f"== {' + '.join(made)}: {speed(timed(list(made.values()), some)[0], some)}")


def name_of(column: str) -> str:
    """The filter's."""
    return column.removesuffix(LOW)


def sign_of(column: str) -> int:
    """-1 where low values are those of generated text."""
    return SIGN.get(name_of(column), 1) * (-1 if column.endswith(LOW) else 1)


def by_writer(
    files: Sequence[tuple[str, Sequence[Row]]],
    found: Sequence[Score],
    sign: int,
    learned: Sequence[str],
    unseen: Container[str],
) -> dict[Writer, list[float]]:
    """Scores of each writer, high for generated text, and without end low where there is none.

    A generator is learned where its name begins as one of `learned`, unless its texts' scores are of a model that has
    not seen them: their ids are `unseen`.
    """
    scores: dict[Writer, list[float]] = defaultdict(list)
    rows = ((file, row) for file, of_file in files for row in of_file)
    for (file, row), score in zip(rows, found, strict=True):
        generator = str(row["generator"])
        known = generator.startswith(tuple(learned)) and row.get("id") not in unseen
        honest = UNUSUAL if generator.startswith(HARD) else CLEAN
        kind = honest if row["label"] == 0 else LEARNED if known else STRANGER
        writer = Writer(kind, file, generator if kind != CLEAN else CLEAN, str(row.get("domain") or ""))
        scores[writer].append(float("-inf") if score is None else sign * score)
    return scores


def options(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Of each column whose model the command line may name."""
    kenlm = {"folder": arguments.kenlm} if arguments.kenlm else {}
    return {
        "perplexity": kenlm,
        "worse_than_unigram_ratio": kenlm,
        "quality_score": {"model": arguments.classifier} if arguments.classifier else {},
        "farm_score": by_detector(arguments.detector),
        "chat_score": kenlm | by_detector(arguments.chat_detector),
        "wording_score": by_detector(arguments.wording_detector),
    }


def by_detector(path: str | None) -> dict[str, Any]:
    """Options under which this detector is in place of the shipped one."""
    return {"paths": {LANGUAGE: path}} if path else {}


def learned_by(column: str, given: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Generators that a detector's file names; that of farm_score names none, for it makes its own texts."""
    return list(about_of(column, given).get("texts", ())) if column == "chat_score" else []


def thresholds(column: str, given: Mapping[str, Mapping[str, Any]]) -> list[float]:
    """The one that the detector's file has, where it has one; the bound of the default config, or `BOUND`."""
    if column not in DETECTORS:
        return []
    own = about_of(column, given).get("threshold")
    bounds = load_config("default").filters.document.get(column)
    bound = BOUND if bounds is None or bounds.max is None else float(bounds.max)
    return [bound] if own is None else [float(own), bound]


def about_of(column: str, given: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """What the file of a detector says of itself."""
    room = {"farm_score": farm_detector, "chat_score": chat_detector, "wording_score": wording_detector}[column]
    file = given[column].get("paths", {}).get(LANGUAGE) or room.all_bundled().get(LANGUAGE)
    return {} if file is None else room.load(str(file)).about


def timed(measuring: Sequence[Filter], rows: Sequence[Row]) -> tuple[float, list[list[Score]]]:
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


def speed(seconds: float, rows: Sequence[Row]) -> str:
    """Of one core."""
    each, words = 1000 * seconds / len(rows), sum(len(row["text"].split()) for row in rows)
    of_words = f"{1e6 * seconds / words:.2f} ms for 1,000 words"
    return f"{len(rows) / seconds:.0f} documents/s of one core, {each:.2f} ms each, {of_words}"


def table(scores: Scores, fixed: Sequence[float]) -> Iterator[str]:
    """Shares above the thresholds at 1 % and 5 % of the clean documents, and above fixed ones; means by file."""
    yield f"{'':28}{'n':>6}{'at 1 %':>10}{'interval':>14}{'at 5 %':>10}{'AUC':>8}" + "".join(
        f"{f'over {over:.3f}':>22}" for over in fixed
    )
    for kind in ORDER:
        for writer in sorted(one for one in scores if one.kind == kind):
            yield line(str(writer), kind, scores[writer], clean_of(scores, writer), fixed)
    if sum(writer.kind == CLEAN for writer in scores) > 1:
        yield line(f"all {CLEAN}", CLEAN, all_clean(scores), all_clean(scores), fixed)
    yield "means"
    for kind in (STRANGER, LEARNED, UNUSUAL):
        for file in dict.fromkeys(writer.file for writer in scores):
            of_file = [writer for writer in sorted(scores) if (writer.kind, writer.file) == (kind, file)]
            if of_file:
                yield mean_line(f"{kind}, {file}", scores, of_file, fixed)


def line(name: str, kind: str, found: Sequence[float], clean: Sequence[float], fixed: Sequence[float]) -> str:
    """What is found of one writer, judged by these clean documents."""
    one = share_above(found, threshold(clean, FALSE_POSITIVES))
    five = share_above(found, threshold(clean, MORE_FALSE_POSITIVES))
    said = f"{name:28}{len(found):6}{one.value:10.3f}{interval(one):>14}{five.value:10.3f}{auc(found, clean):8.3f}"
    for over in fixed:
        share = share_above(found, over)
        said += f"{share.value:10.3f} {interval(share)}"
    return f"{said}  {kind}"


def mean_line(name: str, scores: Scores, writers: Sequence[Writer], fixed: Sequence[float]) -> str:
    """Means over writers, each alike."""
    pairs = [(scores[writer], clean_of(scores, writer)) for writer in writers]
    one, five = (
        mean(share_above(found, threshold(clean, rate)).value for found, clean in pairs)
        for rate in (FALSE_POSITIVES, MORE_FALSE_POSITIVES)
    )
    area = mean(auc(found, clean) for found, clean in pairs)
    over = "".join(f"{mean(share_above(found, bound).value for found, _ in pairs):10.3f}{'':12}" for bound in fixed)
    return f"{name:34}{one:10.3f}{'':14}{five:10.3f}{area:8.3f}{over}".rstrip()


def interval(share: Share) -> str:
    """Wilson's, at 95 %."""
    low, high = share.interval()
    return f"({low:.2f}-{high:.2f})"


def clean_of(scores: Scores, writer: Writer) -> Sequence[float]:
    """The clean documents of a writer's domain, else of the file, where there are enough, else of all files.

    Clean documents themselves are judged by all of them.
    """
    if writer.kind != CLEAN:
        of_file = [one for one in scores if one.kind == CLEAN and one.file == writer.file]
        of_domain = [one for one in of_file if one.domain == writer.domain]
        for group in (of_domain, of_file):
            found = [score for one in group for score in scores[one]]
            if len(found) >= FEWEST_CLEAN:
                return found
    return all_clean(scores)


def all_clean(scores: Scores) -> list[float]:
    """Scores of the clean documents of all files."""
    return [score for writer, found in scores.items() if writer.kind == CLEAN for score in found]


def calibration(scores: Scores) -> Iterator[str]:
    """Of each stretch of scores, what share would be generated if half of all documents were, each generator alike."""
    farms = [found for writer, found in scores.items() if writer.kind in (STRANGER, LEARNED)]
    if farms:
        yield f"{'score':28}{'generated, of a half':>24}"
    for low, high in pairwise(STRETCHES) if farms else ():
        honest = mean(low <= score < high for score in all_clean(scores))
        generated = mean(mean(low <= score < high for score in found) for found in farms)
        if honest + generated:
            yield f"{f'{low:g} to {min(high, 1):g}':28}{generated / (honest + generated):24.2f}"


def taken_for_generated(name: str, pages: Sequence[Page], column: str, given: Mapping[str, Any]) -> Iterator[str]:
    """The share of honest pages above each threshold, and the highest of them."""
    measure = build(column, given[column])
    measured = [(measure.score(Text(page.text, page.language)), page.id) for page in pages]
    found = [(score, id_) for score, id_ in measured if score is not None]
    yield f"== {column} of honest pages, {name}: {len(pages)} documents, {len(pages) - len(found)} without a score"
    for over in thresholds(column, given) if found else ():
        share = share_above((score for score, _ in found), over)
        yield f"over {over:.3f}: {share.value:.3f} {interval(share)}, {share.found} of {share.of}"
    for score, id_ in sorted(found, key=lambda one: (-one[0], one[1]))[:HIGHEST]:
        yield f"{score:10.3f}  {id_}"


if __name__ == "__main__":
    main()
