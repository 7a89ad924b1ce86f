"""What a report counts is what the ledgers of the run count: nothing is lost between its tables."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from obelics_pipeline.inspect.report.duplicates import duplicates_of
from obelics_pipeline.inspect.report.examples import ParagraphExamples, dropped_documents
from obelics_pipeline.inspect.report.funnel import Step, funnel_of, reason_order
from obelics_pipeline.inspect.report.opened import Opened, open_run
from obelics_pipeline.inspect.report.pictures import PictureCounts
from obelics_pipeline.inspect.report.scores import ParagraphScores, document_scores
from obelics_pipeline.inspect.report.thresholds import document_thresholds, paragraph_thresholds
from obelics_pipeline.inspect.report.yields import Yield, in_all, summed, yields_by
from obelics_pipeline.inspect.run_tables.images import image_tables
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_tables
from obelics_pipeline.jobs.stages import STAGES


@pytest.fixture(scope="module")
def run(run_of_demo: Path) -> Opened:
    return open_run(str(run_of_demo))


def reasons(steps: Sequence[Step], failed: bool) -> Counter[str]:
    counts = Counter[str]()
    for step in steps:
        counts.update({reason.name: reason.count for reason in step.reasons if reason.failed is failed})
    return counts


def test_the_steps_of_every_noun_add_up_to_its_ledger(run: Opened) -> None:
    assert run.manifest is not None
    funnel = funnel_of(run)
    assert funnel.urls is not None
    steps = {
        "records": [funnel.records],
        "documents": funnel.documents,
        "images": funnel.images,
        "urls": [funnel.urls],
    }
    for noun, of_noun in steps.items():
        ledger = run.manifest.ledgers[noun]
        assert (of_noun[0].entered, of_noun[-1].kept) == (ledger.entered, ledger.kept)
        assert reasons(of_noun, failed=False) == ledger.dropped
        assert reasons(of_noun, failed=True) == ledger.failed
        for step in of_noun:
            assert step.entered == step.kept + sum(reason.count for reason in step.reasons)
        for before, after in pairwise(of_noun):
            assert after.entered + after.missing == before.kept
    assert [step.stage for step in funnel.documents] == ["extract", "dedup", "site", "assemble", "shard"]
    assert funnel.documents[-1].kept == run.manifest.counts()["documents"]


def test_reasons_of_documents_stand_in_the_order_of_the_config(run: Opened) -> None:
    order = reason_order(STAGES, run.config)
    for step in funnel_of(run).documents[:-1]:
        ranks = [order.index(reason.name) for reason in step.reasons]
        assert ranks == sorted(ranks)
    assert order.index("word_count") < order.index("farm_score")


@pytest.mark.parametrize("column", ["site", "language", "page_type", "month"])
def test_yields_add_up_to_the_run(run: Opened, column: str) -> None:
    assert run.manifest is not None
    found = yields_by(run.documents, column)
    rows = [*found.rows, *([found.rest] if found.rest else [])]
    assert summed(rows) == in_all(run.documents)
    counts = run.manifest.counts()
    total = in_all(run.documents)
    assert (total.kept, total.images) == (counts["documents"], counts["images"])
    assert found.others == len(set(run.documents[column].to_pylist())) - len(found.rows)


def test_a_yield_counts_only_what_is_kept() -> None:
    documents = pa.table(
        {
            "site": ["a", "a", "b", None],
            "reason": pa.array([None, "x", None, "x"], pa.string()),
            "images": pa.array([1, 2, 4, 8], pa.int32()),
            "bytes": pa.array([10, 20, 40, 80], pa.int64()),
        }
    )
    assert yields_by(documents, "site").rows == [
        Yield("a", 2, 1, 1, 10),
        Yield(None, 1, 0, 0, 0),
        Yield("b", 1, 1, 4, 40),
    ]
    assert yields_by(documents, "site").rows[0].tokens == 2.5


def test_in_their_own_order_those_with_the_most_documents_are_shown() -> None:
    months = [f"2024-{month:02d}" for month in range(1, 41)]
    names = [name for i, name in enumerate(months) for _ in range(1 + i % 2)]  # every other month has two
    n = len(names)
    documents = pa.table({"month": names, "reason": pa.nulls(n, pa.string()), "images": [1] * n, "bytes": [1] * n})
    found = yields_by(documents, "month", rising=True)
    assert [row.name for row in found.rows] == sorted([*months[:20:2], *months[1::2]])
    assert (found.others, found.rest) == (10, Yield(None, 10, 10, 10, 10))


def test_every_score_counts_every_document_once(run: Opened) -> None:
    assert run.manifest is not None
    scores = document_scores(run.documents, document_thresholds(STAGES, run.config))
    by_rule = Counter(
        row["reason"] for row in run.documents.to_pylist() if row["stage"] in ("extract", "dedup", "site")
    )
    for score in scores:
        assert score.measured + sum(n for _, n in score.without) == run.documents.num_rows
        assert score.dropped == by_rule[score.name]
    names = [score.name for score in scores]
    assert names.index("image_count") < names.index("word_count") < names.index("site_documents")


def test_what_dropped_a_document_without_its_images_is_not_taken_for_the_score_of_that_name(run: Opened) -> None:
    scores = {score.name: score for score in document_scores(run.documents, document_thresholds(STAGES, run.config))}
    later = sum(row == ("assemble", "image_count") for row in pairs(run))
    assert later > 0
    assert scores["image_count"].dropped == sum(row == ("extract", "image_count") for row in pairs(run))


def pairs(run: Opened) -> list[tuple[str, str]]:
    return list(zip(*(run.documents[name].to_pylist() for name in ("stage", "reason")), strict=True))


def test_roles_and_scores_of_paragraphs_count_every_paragraph(run: Opened) -> None:
    scores, total, dropped = ParagraphScores(), 0, Counter[str | None]()
    for table in paragraph_tables(run.folder, run.documents):
        scores.add(table)
        total += table.num_rows
        dropped.update(table["reason"].to_pylist())
    roles = scores.roles()
    assert sum(role.entered for role in roles) == total
    assert sum(role.kept for role in roles) == dropped.pop(None)
    assert Counter({r: n for role in roles for r, n in role.reasons}).total() <= dropped.total()
    assert all(role.entered == role.kept + sum(n for _, n in role.reasons) for role in roles)
    for score in scores.scores(dict(paragraph_thresholds(run.config))):
        assert score.measured + sum(n for _, n in score.without) == total
        assert score.dropped == dropped[score.name]


def test_every_reason_has_examples_of_as_many_as_were_dropped(run: Opened) -> None:
    found = dropped_documents(run, document_thresholds(STAGES, run.config), reason_order(STAGES, run.config))
    assert {(d.stage, d.reason): d.count for d in found} == Counter(pair for pair in pairs(run) if pair[0])
    for dropped in found:
        assert len(dropped.examples) == min(5, dropped.count)
        assert all(example.command.endswith(example.doc_id) for example in dropped.examples)


def test_examples_of_documents_are_nearest_to_the_threshold_first(run: Opened) -> None:
    thresholds, rows = document_thresholds(STAGES, run.config), run.documents.to_pylist()
    checked = 0
    for dropped in dropped_documents(run, thresholds, reason_order(STAGES, run.config)):
        near = []
        for row in rows:
            if (row["stage"], row["reason"]) == ("extract", dropped.reason):
                bounds = thresholds[dropped.reason].bounds_for(row["language"])
                assert bounds is not None
                limits = [limit for limit in (bounds.min, bounds.max) if limit is not None]
                near.append((min(abs(row[dropped.reason] - limit) for limit in limits), row["doc_id"]))
        if near and dropped.stage == "extract":
            assert [example.doc_id for example in dropped.examples] == [doc_id for _, doc_id in sorted(near)[:5]]
            checked += len(near) > 5
    assert checked


def test_examples_of_paragraphs_are_nearest_to_the_threshold_first(run: Opened) -> None:
    thresholds = paragraph_thresholds(run.config)
    examples, rows = ParagraphExamples(run, dict(thresholds)), []
    for table in paragraph_tables(run.folder, run.documents):
        examples.add(table)
        rows += [row for row in table.to_pylist() if row["reason"] == "character_repetition_ratio"]
    found = {dropped.reason: dropped for dropped in examples.examples()}
    bound = thresholds["character_repetition_ratio"].max
    assert bound is not None
    nearest = sorted(
        {
            min(r["character_repetition_ratio"] for r in rows if r["document"] == d)
            for d in {r["document"] for r in rows}
        }
    )
    shown = [float(e.about.split(", ")[1]) for e in found["character_repetition_ratio"].examples]
    assert shown == [pytest.approx(value, abs=1e-3) for value in nearest[: len(shown)]]
    assert found["character_repetition_ratio"].count == len(rows)
    assert "first in document" in found["repeated_paragraph"].examples[0].about


def test_images_and_duplicates_are_those_of_the_ledgers(run: Opened) -> None:
    assert run.manifest is not None
    met = run.documents.filter(pa.compute.starts_with(run.documents["file"], "assembled/"))
    counts = PictureCounts(run.config.images)
    for table in image_tables(run.folder, met):
        counts.add(table)
    pictures, ledger = counts.pictures(), run.manifest.ledgers["images"]
    assert pictures.total == ledger.entered
    assert sum(host.failed for host in pictures.hosts) == ledger.failed.total()
    assert dict(pictures.opt_outs) == {
        r: n for r, n in ledger.dropped.items() if r in ("noai_header", "noimageai_header")
    }
    assert sum(n for _, n in pictures.formats) == pictures.measured[0].measured
    duplicates = duplicates_of(run.documents)
    by_rule = {r: n for r, n in run.manifest.ledgers["documents"].dropped.items() if r.startswith("duplicate_")}
    assert {rule.name: rule.left_out for rule in duplicates.rules} == by_rule
    assert all(group.url is not None for group in duplicates.largest)
