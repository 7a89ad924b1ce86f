"""The documents of a recipe: the rows of its runs' indexes, with their lengths, and why some are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.manifest import FILE, SHARDS, part_is_whole, read_manifest
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.storage import Location, location, names_in, size_of
from obelics_pipeline.inspect.run_tables.training import training_schema, with_training
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.policy.tombstones.obeyed import tombstones_of
from obelics_pipeline.training.plan.chance import Words, draws, key
from obelics_pipeline.training.plan.counts import COUNTS, ShardTask, kept_name, read_counts
from obelics_pipeline.training.plan.recipe import Dataset, Recipe, Threshold
from obelics_pipeline.training.plan.spans import Flags, Integers, Lengths

FIXED = (
    "shard",
    "offset",
    "length",
    "doc_id",
    "url",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
    "content_sha256",
)  # columns of an index that a plan takes over
HELD_OUT = "held_out"  # the reason of documents that are kept for evaluation
KEY_OF_HELD_OUT = key(0, HELD_OUT)  # the same for every seed


@dataclass(eq=False)
class Documents:
    """Documents by number. `reason` is the place in `reasons` of why one is not trained on; 0 while it is."""

    index: pa.Table  # FIXED, shard as the place of the tar
    dataset: Integers
    lengths: Lengths
    ids_crc32: npt.NDArray[np.uint32]
    n_target_bytes: Integers
    content: npt.NDArray[np.uint64]  # (n, 2)
    reason: Integers
    reasons: list[str | None]

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def shard(self) -> Integers:
        """A number of the shard that each document is in."""
        codes = [chunk.indices.to_numpy() for chunk in self.index["shard"].chunks]
        return np.concatenate(codes).astype(np.int64) if codes else np.zeros(0, np.int64)

    def leave_out(self, which: Flags, reason: str) -> None:
        """Note why some documents are left out; what is left out already has its reason."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        self.reason[which & (self.reason == 0)] = self.reasons.index(reason)

    def left_out_for(self, reason: str) -> Flags:
        """Which documents are left out for a reason."""
        out: Flags = self.reason == (self.reasons.index(reason) if reason in self.reasons else -1)
        return out


@dataclass(frozen=True, eq=False)
class RunIndex:
    """The index of one run, and what there is to count: `tasks` are by shard, `rows` the rows of each."""

    table: pa.Table
    tasks: tuple[ShardTask, ...]
    rows: tuple[Integers, ...]


def read_run(name: str, dataset: Dataset, run: str, kept: Path) -> RunIndex:
    """The index of a run of a data set, for counts that are kept in a folder.

    Raises UserError for a folder that is no finished run, whose index is damaged, or that lacks a column of the recipe.
    """
    folder = revisions_of(location(run)).current() if "://" in run else Path(run).resolve()
    index = index_of(folder)
    if index is None:
        raise UserError(
            f"recipe: datasets.{name}.runs: {folder} has no {INDEX}; give the --output of a finished obelics run"
        )
    sha256 = _shard_hashes(folder)
    schema = index.schema()
    place = index.paths[0]
    try:
        _refuse_unknown(name, dataset, place, training_schema(RunFolder(folder), schema))
        wanted = dict.fromkeys(column for column in [*FIXED, *dataset.keep] if column in schema.names)
        table = index.table(list(wanted))
        if not wanted.keys() >= dataset.keep.keys():
            table = with_training(RunFolder(folder), table)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{folder}: cannot be read ({error}); see obelics validate {folder}") from None
    tars = folder / SHARDS
    there = set(names_in(tars))
    coded = pc.dictionary_encode(table["shard"].combine_chunks())
    names, codes = coded.dictionary.to_pylist(), coded.indices.to_numpy()
    order = np.argsort(codes, kind="stable").astype(np.int64)
    rows = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]) if names else []
    facts = [table[column].to_pylist() for column in ("offset", "length", "doc_id", "content_sha256")]
    if gone := sorted(Path(tar).name for tar in names if Path(tar).name not in there):
        raise UserError(f"{tars}: {gone[0]} is missing ({len(gone):,} such); was the run moved? name its folder")
    tasks = []
    for tar, mine in zip(names, rows, strict=True):
        offsets, lengths, ids, hashes = ([fact[i] for i in mine.tolist()] for fact in facts)
        lines = [f"{o} {n} {i} {h}" for o, n, i, h in zip(offsets, lengths, ids, hashes, strict=True)]
        where = tuple(zip(offsets, lengths, ids, strict=True))
        tasks.append(ShardTask(tars / Path(tar).name, where, kept / kept_name(sha256.get(tar, ""), lines)))
    places = pa.DictionaryArray.from_arrays(
        coded.indices.cast(pa.int32()), pa.array([str(task.shard) for task in tasks], pa.string())
    )
    table = table.set_column(table.column_names.index("shard"), "shard", places)
    return RunIndex(table, tuple(tasks), tuple(rows))


def _shard_hashes(folder: Location) -> dict[str, str]:
    """The hash of each shard, of a run that has a manifest, whose index is the one that it names."""
    if size_of(folder / FILE) is None:
        return {}
    manifest = read_manifest(folder)
    for part in manifest.index:
        if not part_is_whole(folder, part):
            raise UserError(f"{folder / part.name}: not the index that {FILE} names; see obelics validate {folder}")
    return {shard.name: shard.sha256 for shard in manifest.shards}


def _refuse_unknown(name: str, dataset: Dataset, index: Location, schema: pa.Schema) -> None:
    """Raises UserError for an index without the columns of the recipe, or of another kind."""
    missing = [column for column in FIXED if column not in schema.names]
    if missing:
        raise UserError(f"{index}: has no column {', '.join(missing)}; is it the index of an obelics run?")
    for column, threshold in dataset.keep.items():
        where = f"recipe: datasets.{name}.keep.{column}"
        if column not in schema.names:
            there = ", ".join(c for c in schema.names if c not in FIXED)
            raise UserError(f"{where}: no such column in {index}; there are {there}")
        kind = schema.field(column).type
        if pa.types.is_string(kind) != (threshold.any_of is not None):
            wish = "any_of" if pa.types.is_string(kind) else "min, max or sample"
            raise UserError(f"{where}: the column holds {kind}; give {wish}")


def documents_of(recipe: Recipe, runs: Sequence[Sequence[RunIndex]]) -> Documents:
    """The documents of all runs, in the order of the recipe and of the indexes; `runs` are by data set.

    Reasons are set for those without text, those that a threshold or a share leaves out, and those that are held out.
    """
    counts = [_counted(run) for of_dataset in runs for run in of_dataset]
    flat = pa.concat_tables(counts) if counts else pa.table([])
    marks = flat["marks"].combine_chunks()
    first = np.append(0, np.cumsum(pc.list_value_length(marks).to_numpy(zero_copy_only=False))).astype(np.int64)
    lengths = Lengths(_numbers(flat["n_tokens"]), first, marks.flatten().to_numpy().astype(np.int32))
    content = np.frombuffer(b"".join(flat["content"].to_pylist()), "<u8").reshape(-1, 2).astype(np.uint64)
    tables = [run.table for of_dataset in runs for run in of_dataset]
    sizes = [sum(run.table.num_rows for run in of_dataset) for of_dataset in runs]
    index = pa.concat_tables([table.select(FIXED) for table in tables]).unify_dictionaries()
    found = Documents(
        index=index,
        dataset=np.repeat(np.arange(len(runs), dtype=np.int64), sizes),
        lengths=lengths,
        ids_crc32=flat["ids_crc32"].combine_chunks().to_numpy(),
        n_target_bytes=_numbers(flat["n_target_bytes"]),
        content=content,
        reason=np.zeros(len(flat), np.int64),
        reasons=[None],
    )
    found.leave_out(found.n_target_bytes == 0, "empty")
    kept = list(_thresholds(recipe, runs, content[:, 0]))
    for flags, reason in kept:
        found.leave_out(flags, reason)
    found.leave_out(_forgotten(recipe, found), FORGOTTEN)
    found.leave_out(draws(content[:, 0], KEY_OF_HELD_OUT) < recipe.held_out, HELD_OUT)
    for number, (name, dataset) in enumerate(recipe.datasets.items()):
        if dataset.share < 1:
            of = found.dataset == number
            found.leave_out(of & (draws(content[:, 0], key(0, "share", name)) >= dataset.share), "sampled_out:share")
    return found


def _forgotten(recipe: Recipe, documents: Documents) -> Flags:
    """A mask of the documents that a tombstone of any of the runs names."""
    runs = [revisions_of(location(run)).current() for dataset in recipe.datasets.values() for run in dataset.runs]
    known = [found for run in dict.fromkeys(runs) if (found := tombstones_of(run)) is not None]
    if not known:
        return _no(len(documents))
    columns = (documents.index[name].to_pylist() for name in ("doc_id", "url"))
    gone = [any(k.document(i) or k.url(url) for k in known) for i, url in zip(*columns, strict=True)]
    return np.array(gone, np.bool_)


def _counted(run: RunIndex) -> pa.Table:
    """The counts of a run, in the order of its index."""
    if not run.tasks:
        return COUNTS.empty_table()
    table = pa.concat_tables(read_counts(run.tasks))
    back = np.empty(len(table), np.int64)
    back[np.concatenate(run.rows)] = np.arange(len(table))
    return table.take(pa.array(back))


def _numbers(column: pa.ChunkedArray) -> Integers:
    out: Integers = column.combine_chunks().to_numpy().astype(np.int64)
    return out


def _thresholds(recipe: Recipe, runs: Sequence[Sequence[RunIndex]], content: Words) -> Iterator[tuple[Flags, str]]:
    """Which documents each threshold leaves out, over all documents, with the reason."""
    first = 0
    for dataset, of_dataset in zip(recipe.datasets.values(), runs, strict=True):
        n = sum(run.table.num_rows for run in of_dataset)
        for column, threshold in dataset.keep.items():
            values = pa.chunked_array([c for run in of_dataset for c in run.table[column].chunks])
            for flags, reason in judged(values, threshold, content[first : first + n], column):
                whole = np.zeros(len(content), np.bool_)
                whole[first : first + n] = flags
                yield whole, reason
        first += n


def judged(values: pa.ChunkedArray, threshold: Threshold, content: Words, column: str) -> Iterator[tuple[Flags, str]]:
    """Which values of a column a threshold leaves out, by reason."""
    is_text = threshold.any_of is not None
    missing = values.is_null(nan_is_null=not is_text).to_numpy(zero_copy_only=False) if len(values) else _no(0)
    if threshold.if_missing == "drop":
        yield missing, f"missing:{column}"
    if threshold.any_of is not None:
        known = pc.is_in(values, pa.array(threshold.any_of, pa.string())).to_numpy()
        yield ~known & ~missing, f"not_any_of:{column}"
        return
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        if threshold.min is not None:
            yield ~missing & (numbers < threshold.min), f"below_threshold:{column}"
        if threshold.max is not None:
            yield ~missing & (numbers > threshold.max), f"above_threshold:{column}"
    if threshold.sample is not None:
        points, shares = zip(*threshold.sample, strict=True)
        share = np.interp(np.where(missing, points[0], numbers), points, shares)
        yield ~missing & (draws(content, key(0, "sample", column)) >= share), f"sampled_out:{column}"


def _no(n: int) -> Flags:
    return np.zeros(n, np.bool_)


def refuse_equal_content(documents: Documents, gone: Flags, names: Sequence[str]) -> None:
    """Raises UserError where two documents that are planned, and not `gone`, have the same texts and images."""
    planned = np.flatnonzero(((documents.reason == 0) | documents.left_out_for(HELD_OUT)) & ~gone)
    content = documents.content[planned]
    order = np.lexsort((planned, content[:, 1], content[:, 0]))
    same = (np.diff(content[order], axis=0) == 0).all(axis=1)
    if not same.any():
        return
    at = int(np.flatnonzero(same)[0])
    left, right = (int(planned[order[i]]) for i in (at, at + 1))
    told = " and ".join(_format_example(documents, number, names) for number in (left, right))
    raise UserError(
        f"recipe: {told} have the same texts and images ({int(same.sum()):,} such copies): let the run deduplicate, "
        "leave one out (without), or set allow_equal_content: true"
    )


def _format_example(documents: Documents, number: int, names: Sequence[str]) -> str:
    row: dict[str, Any] = documents.index.slice(number, 1).to_pylist()[0]
    return f"document {row['doc_id']} ({names[documents.dataset[number]]}, {row['url']})"


def listed(documents: Documents, files: Sequence[str], dataset: int | None = None) -> tuple[Flags, list[str]]:
    """Which documents files name by id or URL, and the lines that name none. Raises UserError for a missing file."""
    names: dict[str, None] = {}
    for file in files:
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"--without {file}: cannot be read ({error}); give a text file, an id or URL in a line"
            ) from None
        names |= dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    wanted = pa.array(list(names), pa.string())
    flags = _no(len(documents))
    found: set[str] = set()
    for column in ("doc_id", "url"):
        hit = pc.is_in(documents.index[column], wanted).to_numpy().astype(np.bool_)
        if dataset is not None:
            hit &= documents.dataset == dataset
        flags |= hit
        found |= set(documents.index[column].filter(pa.array(hit)).to_pylist())
    return flags, [name for name in names if name not in found]
