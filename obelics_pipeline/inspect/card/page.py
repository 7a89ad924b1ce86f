"""The card of a corpus as Markdown, with the front matter that the Hugging Face hub reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context

from obelics_pipeline import __version__
from obelics_pipeline.core.html.visible import quoted
from obelics_pipeline.core.shards.manifest import RunManifest
from obelics_pipeline.inspect.card.allowed import applied_lists, asked_again, removals, signals
from obelics_pipeline.inspect.card.contents import Contents
from obelics_pipeline.inspect.card.limits import known_limits
from obelics_pipeline.inspect.card.opens import Layout
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.report import human
from obelics_pipeline.inspect.report.funnel import Funnel
from obelics_pipeline.inspect.report.opened import Run
from obelics_pipeline.inspect.report.reasons import words_for, words_of
from obelics_pipeline.inspect.report.thresholds import document_thresholds, in_words, paragraph_thresholds
from obelics_pipeline.jobs.noted import stages_in

WIDEST = 300  # characters of a name or a sentence that are shown

# Of data sets, by documents: huggingface.co/docs/hub/datasets-cards, and the hub's list of size categories.
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
    (10_000_000_000, "1B<n<10B"),
    (100_000_000_000, "10B<n<100B"),
    (1_000_000_000_000, "100B<n<1T"),
)
_CODE = re.compile(r"[a-z]{2,3}")  # ISO 639, as the hub wants languages; the model knows some by longer names


def card(
    run: Run,
    manifest: RunManifest,
    funnel: Funnel,
    contents: Contents,
    layout: Layout,
    said: Statement,
    config: str,
) -> str:
    """The text. `config` is the sha256 of the run's config. Equal runs, exports and statements have equal cards."""
    counts, stages = manifest.counts(), stages_in(run.folder)
    return (
        _environment()
        .get_template("card.md")
        .render(
            said=said,
            run=run,
            counts=counts,
            sentence=in_a_sentence(manifest, contents),
            contents=contents,
            codes=[row.name for row in contents.languages if _CODE.fullmatch(row.name)],
            size_category=size_category(counts["documents"]),
            opens=layout.opens,
            how_to_read=layout.how_to_read,
            container=layout.container,
            format=manifest.promises.format,
            first_shard=manifest.shards[0].name if manifest.shards else "",
            ledgers=[("Records", [funnel.records]), ("Documents", funnel.documents), ("Images", funnel.images)],
            personal=manifest.notes.get("personal_data", {}),
            lists=list(applied_lists(run.config, manifest.ledgers, manifest.notes.get("lists", {}))),
            signals=list(signals(run.config)),
            again=asked_again(run),
            forgotten=list(removals(run)),
            words=words_of(stages),
            thresholds=_worded(document_thresholds(stages, run.config)),
            of_paragraphs=_worded(paragraph_thresholds(run.config)),
            limits=list(known_limits(run, contents)),
            version=__version__,
            config_sha256=config,
        )
    )


def in_a_sentence(manifest: RunManifest, contents: Contents) -> str:
    """One sentence on a corpus: what it is, and its size."""
    counts = manifest.counts()
    words = f" with {human.count(contents.words)} words" if contents.words else ""
    files = f" ({human.count(counts['files'])} as files)" if counts["files"] != counts["images"] else ""
    return (
        f"{human.counted(counts['documents'], 'document')} of the web in which text and images stand as their pages "
        f"had them: {human.counted(counts['texts'], 'text')}{words}, "
        f"{human.counted(counts['images'], 'image')}{files}, "
        f"{human.size(counts['bytes'])} in {human.counted(counts['shards'], 'shard')}."
    )


def size_category(documents: int) -> str:
    """The hub's name for so many."""
    return next((name for limit, name in SIZES if documents < limit), "n>1T")


def _worded(thresholds: Any) -> list[tuple[str, list[str]]]:
    return [(name, in_words(bounds)) for name, bounds in thresholds.items()]


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("obelics_pipeline.inspect.card", "."),
        autoescape=False,  # it is no HTML: what others wrote goes through `q`
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "n": human.count,
        "of": human.counted,
        "size": human.size,
        "figure": human.figure,
        "q": lambda text: quoted(str(text), WIDEST),
        "said": pass_context(lambda context, reason: words_for(reason, context["words"])),
        "yaml": _as_yaml,
    }
    made.globals |= {"share": human.share}
    return made


def _as_yaml(value: str | Mapping[str, str] | Iterable[str]) -> str:
    """In YAML's flow style, of which JSON is a part."""
    return json.dumps(value if isinstance(value, str | Mapping) else list(value), ensure_ascii=True)
