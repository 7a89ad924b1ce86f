"""Two runs side by side: their configs, their counts, and the documents that only one of them kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.commit import recall
from obelics_pipeline.core.config.yaml_file import differences
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.report.examples import command_of
from obelics_pipeline.inspect.report.funnel import Funnel
from obelics_pipeline.inspect.report.opened import Opened
from obelics_pipeline.inspect.report.tally import KEPT, ReasonTally
from obelics_pipeline.inspect.report.yields import in_all
from obelics_pipeline.inspect.run_tables.documents import score_names

SHOWN = 5  # examples of what one run kept, for each reason of the other
NOUNS = ("records", "documents", "images", "urls")
REASONS = 20  # that have examples


@dataclass(frozen=True)
class Row:
    """A number of both runs; None where one has none. `kind` says what it is: count, size, share or figure."""

    name: str
    here: float | None
    there: float | None
    kind: str = "count"


@dataclass(frozen=True)
class OnlyOne:
    """Documents that one run kept, by their fate in the other: (stage, reason), None without one."""

    fate: tuple[str, str] | None
    count: int
    examples: Sequence[tuple[str, str, str]]  # doc_id, url, the command that explains it in the other run


@dataclass(frozen=True)
class Comparison:
    """This run (here) and the other (there)."""

    settings: Sequence[str]
    inputs: Sequence[str]
    counts: Sequence[Row]
    reasons: Sequence[tuple[str, Row]]  # noun and stage
    medians: Sequence[Row]
    shared: int  # documents that both extracted
    both: int  # that both kept
    only_here: Sequence[OnlyOne]
    only_there: Sequence[OnlyOne]


def compare(here: Opened, there: Opened, funnel: Funnel, funnel_there: Funnel) -> Comparison:
    """Everything that the report says of two runs."""
    shared = pc.is_in(here.documents["doc_id"], there.documents["doc_id"].combine_chunks())
    kept, kept_there = (run.documents.filter(run.documents["reason"].is_null()) for run in (here, there))
    in_both = pc.is_in(kept["doc_id"], kept_there["doc_id"].combine_chunks())
    return Comparison(
        settings=_settings(here, there),
        inputs=_inputs(here.folder, there.folder),
        counts=list(_counts(here, there, funnel, funnel_there)),
        reasons=_reasons(funnel, funnel_there),
        medians=_medians(here.documents, there.documents),
        shared=pc.sum(shared).as_py() or 0,
        both=pc.sum(in_both).as_py() or 0,
        only_here=_only(kept, there),
        only_there=_only(kept_there, here),
    )


def _settings(here: Opened, there: Opened) -> list[str]:
    """Each value that differs, as `key: there -> here`."""
    said = differences(dict(there.resolved), here.config)
    if here.config_name != there.config_name:
        said.insert(0, f"config: {there.config_name} -> {here.config_name}")
    if here.sample != there.sample:
        said.insert(0, f"--sample: {there.sample or 'all'} -> {here.sample or 'all'}")
    return said


def _inputs(here: RunFolder, there: RunFolder) -> list[str]:
    """How the input differs, a line each; none where it is the same."""
    own, other = _names(here), _names(there)
    if own == other:
        return []
    both = sum(other.get(name) == version for name, version in own.items())
    changed = len(own.keys() & other.keys()) - both
    lines = [f"{both:,} files of the input are the same in both"]
    lines += [f"{changed:,} have the same name, but another size or date"] if changed else []
    for said, names in (("only here", own.keys() - other.keys()), ("only there", other.keys() - own.keys())):
        if names:
            lines.append(f"{said} {len(names):,}: {', '.join(sorted(names)[:3])}{', …' if len(names) > 3 else ''}")
    return lines


def _names(folder: RunFolder) -> dict[str, str]:
    try:
        known: dict[str, str] = recall(folder.inputs)
    except (OSError, ValueError):
        return {}
    return known


def _counts(here: Opened, there: Opened, funnel: Funnel, funnel_there: Funnel) -> Sequence[Row]:
    sums, sums_there = in_all(here.documents), in_all(there.documents)
    shards, shards_there = (run.manifest.counts()["bytes"] if run.manifest else None for run in (here, there))
    return [
        Row("records of the input", funnel.records.entered, funnel_there.records.entered),
        Row("pages that gave documents", funnel.records.kept, funnel_there.records.kept),
        Row("documents extracted", sums.entered, sums_there.entered),
        Row("documents kept", sums.kept, sums_there.kept),
        Row("share kept", _share(sums.kept, sums.entered), _share(sums_there.kept, sums_there.entered), "share"),
        Row("images kept", sums.images, sums_there.images),
        Row("tokens of kept text, estimated", sums.tokens, sums_there.tokens),
        Row("bytes of shards", shards, shards_there, "size"),
        Row("failed units", len(here.failed_units), len(there.failed_units)),
    ]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _reasons(funnel: Funnel, funnel_there: Funnel) -> list[tuple[str, Row]]:
    """Reasons of both runs, by noun and step, in the order of this run and then of the other."""
    own, other = _by_reason(funnel), _by_reason(funnel_there)
    steps = sorted(dict.fromkeys(key[:2] for key in (*own, *other)), key=lambda step: NOUNS.index(step[0]))
    keys = dict.fromkeys((*step, key[2]) for step in steps for key in (*own, *other) if key[:2] == step)
    return [(f"{key[0]}, {key[1]}", Row(key[2], own.get(key, 0), other.get(key, 0))) for key in keys]


def _by_reason(funnel: Funnel) -> dict[tuple[str, str, str], int]:
    found: dict[tuple[str, str, str], int] = {}
    steps = [[funnel.records], funnel.documents, funnel.images, [funnel.urls] if funnel.urls else []]
    for noun, of_noun in zip(NOUNS, steps, strict=True):
        for step in of_noun:
            found |= {(noun, step.stage, reason.name): reason.count for reason in step.reasons}
    return found


def _medians(here: pa.Table, there: pa.Table) -> list[Row]:
    names = dict.fromkeys([*score_names(here), *score_names(there)])
    return [Row(name, _median(here, name), _median(there, name), "figure") for name in names]


def _median(documents: pa.Table, name: str) -> float | None:
    if name not in documents.column_names:
        return None
    tally, values = ReasonTally(), documents[name].drop_null().to_numpy()
    tally.add(values, values.astype(int) * 0 + KEPT)
    return tally.quantile(0.5)


def _only(kept: pa.Table, other: Opened) -> list[OnlyOne]:
    """Documents that one run kept and the other did not, by their fate in the other, the most frequent first."""
    at = pc.index_in(kept["doc_id"], other.documents["doc_id"].combine_chunks())
    fates = other.documents.select(["stage", "reason"]).take(at)
    rows = pa.table(
        {
            "doc_id": kept["doc_id"],
            "url": kept["url"],
            "known": at.is_valid(),
            "stage": fates["stage"],
            "reason": fates["reason"],
        }
    )
    rows = rows.filter(pc.or_(pc.invert(rows["known"]), rows["reason"].is_valid()))
    groups = rows.group_by(["known", "stage", "reason"]).aggregate([([], "count_all")]).to_pylist()
    groups.sort(key=lambda g: (-g["count_all"], g["stage"] or "", g["reason"] or ""))
    return [_only_one(rows, group, other, i < REASONS) for i, group in enumerate(groups)]


def _only_one(rows: pa.Table, group: dict[str, object], other: Opened, shown: bool) -> OnlyOne:
    fate = (str(group["stage"]), str(group["reason"])) if group["known"] else None
    some = rows.filter(
        pc.invert(rows["known"])
        if fate is None
        else pc.fill_null(pc.and_(pc.equal(rows["stage"], fate[0]), pc.equal(rows["reason"], fate[1])), False)
    )
    first = some.take(pc.select_k_unstable(some, SHOWN, [("doc_id", "ascending")])).to_pylist() if shown else []
    examples = [(r["doc_id"], r["url"], command_of(other, r["doc_id"]) if fate else "") for r in first]
    return OnlyOne(fate, int(str(group["count_all"])), examples)
