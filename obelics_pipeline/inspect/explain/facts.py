"""What is shown of a record in words and numbers, as titled tables: the same on a terminal and in a browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from obelics_pipeline.core.config import FiltersConfig
from obelics_pipeline.core.config.filtering import Bounds, LanguageBounds
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.filters.genre import bounds_of
from obelics_pipeline.filters.sampling import keeps
from obelics_pipeline.inspect.explain.explanation import Explanation
from obelics_pipeline.inspect.explain.in_run import Fate, InRun
from obelics_pipeline.inspect.report.reasons import words_for, words_of
from obelics_pipeline.inspect.run_tables.training import Trained
from obelics_pipeline.stages.bounded import Bounded
from obelics_pipeline.stages.extract.tree import CHARS
from obelics_pipeline.stages.read.page import Page

Row = tuple[str, ...]
WIDEST = 200  # characters of a sentence that are shown
MOST_STEPS = 12  # that saw a document, and are shown


@dataclass(frozen=True)
class Facts:
    """A titled table. Text from the web in it is as it came."""

    title: str
    rows: Sequence[Row]


def facts_of(explanation: Explanation) -> Iterator[Facts]:
    """Tables of facts on a page: its record, decoding, head, main content, and its fate in the run."""
    yield Facts("record", list(_record(explanation)))
    if isinstance(explanation.record, Page):
        yield Facts("decoding", list(_decoding(explanation.record)))
    if explanation.simplified is not None:
        yield Facts("head", list(_head(explanation)))
        yield Facts("main content", list(_main_content(explanation)))
    if explanation.in_run is not None:
        yield Facts("in the run", list(_in_run(explanation.in_run)))


def facts_of_document(explanation: Explanation, document: Document) -> Iterator[Facts]:
    """Tables of facts on a document: its fate, its scores, and the reasons of filters that give them."""
    ended = explanation.ended(document)
    meaning = words_for(ended.reason, words_of(explanation.stages)) if ended.reason is not None else ""
    why = [("why", meaning)] if meaning else []
    rows: list[Row] = [("outcome", outcome_of(ended.reason)), *why, *_contents(ended)]
    if explanation.in_run is not None:
        rows += _fate(explanation, document)
    yield Facts(f"document {document.doc_id}", rows)
    yield Facts("scores", list(_scores(explanation, document)))
    fate = explanation.fates.get(document.doc_id, Fate())
    if fate.shared:
        yield Facts("shared with other pages", list(_shared(fate)))
    trained = fate.trained
    if trained is not None:
        yield Facts("in training", list(_in_training(trained)))
    for name, told in explanation.reasons.get(document.doc_id, {}).items():
        yield Facts(f"what made {name} {_number(document.scores[name])}", told)


def outcome_of(reason: str | None) -> str:
    """In a word or two."""
    return "kept" if reason is None else f"dropped: {reason}"


def bounds_text(bounds: Bounds | None) -> str:
    """The bounds of a score, as text."""
    if bounds is None:
        return "not for this language"
    parts = [
        sign + f" {value:g}"
        for sign, value in ((">=", bounds.min), ("<=", bounds.max), ("<", bounds.below))
        if value is not None
    ]
    if bounds.sample:
        parts.append("a share: " + ", ".join(f"{share:g} at {score:g}" for score, share in bounds.sample))
    return " and ".join(parts) or "no bound"


def verdict_on(node: TextNode, document: Document, filters: FiltersConfig) -> str:
    """The score that dropped a paragraph and what it should have been; empty where no score did."""
    threshold = filters.paragraph.get(node.reason or "")
    value = node.scores.get(node.reason or "")
    if threshold is None or value is None:
        return ""
    return f"{value:.4g}, must be {bounds_text(bounds_of(threshold, document))}"


def _record(explanation: Explanation) -> Iterator[Row]:
    record = explanation.record
    yield "url", record.url or "none"
    yield "file", redacted(explanation.path)
    if record.offset is not None and record.length is not None:
        yield "bytes", f"{record.offset:,} to {record.offset + record.length:,} ({record.length:,})"
    if isinstance(record, Page) and record.warc_date:
        yield "date", record.warc_date
    yield (
        "outcome",
        f"dropped: {explanation.reason}" if explanation.reason else f"documents: {len(explanation.documents)}",
    )


def _decoding(page: Page) -> Iterator[Row]:
    yield "charset", f"{page.charset}, from {_TOLD_BY.get(page.charset_source, page.charset_source)}"
    yield "content type", page.content_type or "none"
    if page.x_robots_tag:
        yield "x-robots-tag", page.x_robots_tag
    yield "length", f"{len(page.html):,} characters"


_TOLD_BY = {
    "bom": "its byte order mark",
    "header": "the HTTP header",
    "meta": "a meta element",
    "content": "the bytes themselves",
    "detected": "detection",
}


def _head(explanation: Explanation) -> Iterator[Row]:
    assert explanation.simplified is not None
    head = explanation.simplified.head
    yield "title", head.title or "none"
    yield "language", head.html_lang or "none"
    if head.base_href:
        yield "base", head.base_href
    if head.robots:
        yield "robots", ", ".join(sorted(head.robots))
    for image in head.images:
        yield "image", image


def _main_content(explanation: Explanation) -> Iterator[Row]:
    assert explanation.simplified is not None
    tree, kept = explanation.simplified.tree, explanation.simplified.kept
    texts = sum(isinstance(value, str) for value in tree.values)
    yield "tree", f"{len(tree.rows):,} rows, {texts:,} of them texts, {int(tree.rows[:, CHARS].sum()):,} characters"
    if kept.confidence is None:
        yield "kept", "the whole page except its frame (extract.scope: page)"
        return
    yield "confidence", f"{kept.confidence:.3f}: the F1 to expect of the texts that are kept"
    if kept.page_type is not None:
        yield "page type", f"{kept.page_type.kind}, probability {kept.page_type.probability:.3f}"


def _in_run(in_run: InRun) -> Iterator[Row]:
    yield "record", in_run.outcome + (f": {in_run.reason}" if in_run.reason else "")
    yield "unit", in_run.unit
    for name, offset in in_run.others or ():
        yield "same URL", f"{name} at byte {offset:,}"
    if in_run.others is None:
        yield "same URL", "other records are not looked for where a document in the shards has it"
    if in_run.scanned:
        yield "found by", in_run.scanned


def _contents(document: Document) -> Iterator[Row]:
    if "part" in document.general:
        yield "part", f"{document.general['part'] + 1} of {document.general['parts']}"
    texts = [node for node in document.nodes if isinstance(node, TextNode)]
    kept = sum(node.reason is None for node in texts)
    images = [node for node in document.nodes if isinstance(node, ImageNode)]
    yield "texts", f"{kept} of {len(texts)} kept, {len(document.text()):,} characters"
    yield "images", f"{len(document.images())} of {len(images)} kept"


def _fate(explanation: Explanation, document: Document) -> Iterator[Row]:
    fate = explanation.fates.get(document.doc_id)
    if fate is None or fate.extracted is None:
        yield "extracted", "no such document: config or version differ, or the record gave others then"
        return
    yield (
        "extracted",
        outcome_of(fate.extracted.reason)
        + ("" if explanation.as_in_run(document) else "; DIFFERS from what is shown here"),
    )
    for later in fate.later:
        yield later.label, outcome_of(later.document.reason)
    if fate.duplicate is not None:
        yield "among the kept", "{}, of document {}".format(*fate.duplicate)
    if fate.shard is not None:
        yield "stands in", f"{fate.shard} at byte {fate.offset:,}, {fate.length:,} bytes"


def _scores(explanation: Explanation, document: Document) -> Iterator[Row]:
    """Name, score, what it must be, and whether it is; the first that is not dropped the document."""
    language = explanation.config.language
    keep = language.keep
    fits = keep == "any" or document.language in keep
    yield "language", document.language or "none", "any" if keep == "any" else " ".join(keep), _holds(fits)
    fate = explanation.fates.get(document.doc_id, Fate())
    first, *later = explanation.stages
    bounded = first.bounds(explanation.config)
    yield from _measured(document, bounded, [score.name for score in bounded])
    for stage in later:
        left, columns = fate.after(stage.name), stage.columns(explanation.config)
        if left is not None and stage.judges:
            yield from ((name, _number(left.scores.get(name)), "", "") for name in columns)
        elif left is not None:
            yield from _measured(left, stage.bounds(explanation.config), columns)


def _measured(document: Document, scores: Sequence[Bounded], columns: Sequence[str]) -> Iterator[Row]:
    bounds_by_name = {score.name: score.bounds for score in scores}
    for name in columns:
        value, bounds = document.scores.get(name), bounds_of(bounds_by_name.get(name, LanguageBounds()), document)
        holds = value is None or bounds is None or keeps(bounds, value, name, document.doc_id)
        yield name, _number(value), bounds_text(bounds), _holds(holds)


def _shared(fate: Fate) -> Iterator[Row]:
    """Sentences that stand on other sites, and skeletons that other pages have."""
    for passage in fate.shared:
        yield passage.what, f"{passage.pages:,} pages of its site, {passage.sites:,} sites", passage.text[:WIDEST]


def _in_training(told: Trained) -> Iterator[Row]:
    """The loss of a document in training, and the steps that read it."""
    for name, value in told.scores.items():
        yield name, _number(value)
    seen = zip(told.steps[:MOST_STEPS], told.losses, strict=False)
    for step, loss in seen:
        yield f"step {step:,}", f"{loss:.4g} nats a token"
    if len(told.steps) > MOST_STEPS:
        yield "and", f"{len(told.steps) - MOST_STEPS:,} more steps"


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4g}"


def _holds(holds: bool) -> str:
    return "ok" if holds else "DROPS"
