"""Whether two runs made the same: documents with all their scores and reasons, the index, and the bytes of the tars.

    python benchmarks/same_output.py RUN OTHER [--renamed OLD=NEW …]

A column that the other run has under another name is compared under that one: `nodes.of=nodes.duplicate_of` is a field
of the list `nodes`. Exit code 1 where anything differs. For a change of the code that must keep the bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.jobs.stages import STAGES

FOLDERS = tuple(stage.documents for stage in STAGES if stage.documents)
"""Of documents, where a run has them."""


def main() -> int:
    """Compare, print a line for each part, and say by the exit code whether all is equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW")
    options = parser.parse_args()
    names = dict(pair.split("=", 1) for pair in options.renamed)
    equal = [same_tars(options.run, options.other)]
    for folder in FOLDERS:
        if (options.run / folder).is_dir() or (options.other / folder).is_dir():
            equal.append(same_rows(folder, documents(options.run / folder), documents(options.other / folder), names))
    mine, theirs = (demand_index(run).table() for run in (options.run, options.other))
    equal.append(same_rows("index", mine, theirs, names))
    return 0 if all(equal) else 1


def same_tars(run: Path, other: Path) -> bool:
    """Whether there are as many tars, and each has the bytes of the other's; at least one."""
    hashes = [
        [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(r.glob("shards/*.tar"))] for r in (run, other)
    ]
    same = hashes[0] == hashes[1] and bool(hashes[0])
    print(f"tars: {len(hashes[0])} and {len(hashes[1])}, {'the same bytes' if same else 'DIFFERENT'}")
    return same


def documents(folder: Path) -> pa.Table:
    """All documents of a folder of a run, by id."""
    tables = [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]
    found = pa.concat_tables([t for t in tables if "doc_id" in t.column_names], promote_options="permissive")
    return found.sort_by("doc_id")


def same_rows(what: str, mine: pa.Table, theirs: pa.Table, names: Mapping[str, str]) -> bool:
    """Whether two tables have the same rows, whatever the order of their columns."""
    mine = renamed(mine, names)
    if sorted(mine.column_names) != sorted(theirs.column_names):
        print(f"{what}: DIFFERENT columns: {sorted(set(mine.column_names) ^ set(theirs.column_names))}")
        return False
    differ = [name for name in mine.column_names if mine[name].to_pylist() != theirs[name].to_pylist()]
    print(f"{what}: {len(mine):,} and {len(theirs):,} rows, {len(mine.column_names)} columns, "
          f"{f'DIFFERENT in {differ}' if differ else 'equal'}")  # fmt: skip
    return not differ


def renamed(table: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """The table with columns, and fields of lists of structs, under their other names."""
    for place, name in enumerate(table.column_names):
        inner = {
            old.partition(".")[2]: new.partition(".")[2] for old, new in names.items() if old.startswith(f"{name}.")
        }
        if inner:
            kind = table.schema.field(name).type
            now = [f.with_name(inner.get(f.name, f.name)) for f in kind.value_type]
            lists = table[name].combine_chunks()  # rebuilt: a cast matches fields by name, and leaves new names null
            structs = pa.StructArray.from_arrays(lists.values.flatten(), fields=now)
            table = table.set_column(place, name, pa.ListArray.from_arrays(lists.offsets, structs))
    return table.rename_columns([names.get(name, name) for name in table.column_names])


if __name__ == "__main__":
    sys.exit(main())
