"""The engine of one machine: a pool of processes that survives a killed worker, and DuckDB for the shuffle."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.storage import TEMPORARY, Location, local_copies, read_schema, remove_tree
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.attempts import in_order, units_done
from obelics_pipeline.engines.engine import Failure, MakeModel, Work, WorkWithModel
from obelics_pipeline.engines.gpus import of_its_own
from obelics_pipeline.engines.groups import Group, Reduce, read_groups, row_count, write_group
from obelics_pipeline.engines.model import WithModel
from obelics_pipeline.engines.pool import NEVER, RECYCLE_BYTES, Died, Pool, Raised
from obelics_pipeline.engines.worker import start_worker

Item = TypeVar("Item")
Value = TypeVar("Value")

PORTION = 8_000_000  # rows dealt out at a time: at 160 million DuckDB 2.0 runs out of 512 MB in spite of spilling


class LocalEngine:
    """Runs units on `workers` processes of this machine. Use as a context manager: the processes end with it.

    `folder` is the run's, for its locks. `preload` names modules that are imported once, before workers are forked.
    `models` is how many processes hold a model at a time; a worker beyond `recycle_bytes` is replaced (see `Pool`).
    """

    def __init__(
        self,
        workers: int,
        folder: Path,
        unit_timeout_seconds: float,
        preload: Sequence[str] = (),
        memory_limit: str = "512MB",
        models: int = 1,
        recycle_bytes: float = RECYCLE_BYTES,
    ) -> None:
        self.workers, self._folder, self._models, self._preload = workers, folder, models, preload
        self._timeout, self._memory_limit = unit_timeout_seconds, memory_limit
        start = (os.getpid(), str(folder))
        self._pool: Pool[Any, Any] = Pool(workers, start_worker, start, preload, recycle_bytes)

    def __enter__(self) -> LocalEngine:
        self._pool.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        self._pool.__exit__(kind, error, trace)

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit once, as they finish. A unit whose worker dies is tried again; the others never notice.

        Raises `Stopped` when the disk is full, `UserError` when a unit finds that the setting is wrong.
        """
        return units_done(self._each, work, units)

    def map_models(
        self, make: MakeModel, work: WorkWithModel, units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """As `map_units`, in `models` processes that end with the last unit; each has a GPU of its own, if it can."""
        start = (os.getpid(), str(self._folder))
        environment = of_its_own if self._models > 1 else None
        with Pool[Any, Any](self._models, start_worker, start, self._preload, NEVER, environment) as pool:
            yield from units_done(partial(pool.each, seconds=self._timeout), WithModel(make, work), units)

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """What a picklable function gives for each item, in their order. Raises what it raises."""
        return in_order(self._each, function, items)

    def _each(
        self, function: Callable[[Any], Any], waiting: deque[Any], /
    ) -> Iterator[tuple[Any, Any | Raised | Died]]:
        return self._pool.each(function, waiting, self._timeout)

    def shuffle(self, sources: Sequence[Location], column: str, reduce: Reduce, output: Location) -> dict[str, Group]:
        """DuckDB deals the rows out, spilling beyond its memory; workers reduce the groups."""
        remove_tree(output)
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=TEMPORARY) as name:
            dealt, copies = Path(name) / "dealt", Path(name) / "copies"
            copies.mkdir()
            for number, portion in enumerate(_portions(local_copies(sources, copies))):
                self._deal(portion, column, dealt / f"{number:05d}")
                for copy in (path for path in portion if path.parent == copies):
                    copy.unlink()
            values = sorted({path.name for path in dealt.glob(f"*/{column}=*")})
            if values:
                schema = read_schema(sources[0])  # DuckDB's types are a little different, and so would be its bytes
                write = partial(_reduce_value, dealt=dealt, column=column, schema=schema, reduce=reduce, output=output)
                list(self.map(write, values))
        return read_groups(output, column, sources)

    def _deal(self, sources: Sequence[Path], column: str, output: Path) -> None:
        """One folder per value."""
        import duckdb  # 20 MB that a run without a global step never needs

        output.mkdir(parents=True)
        with duckdb.connect() as database:
            database.execute(f"SET memory_limit='{self._memory_limit}'")
            database.execute("SET threads=1")  # each thread would keep a file open per value
            database.execute("SET temp_directory=$folder", {"folder": str(output / "spill")})
            rows = database.read_parquet([str(source) for source in sources])
            try:
                rows.write_parquet(str(output), partition_by=[column], compression="zstd")
            except duckdb.Error as error:
                raise _as_os_error(error, output) from None
        shutil.rmtree(output / "spill", ignore_errors=True)


def _portions(sources: Iterable[Path]) -> Iterator[list[Path]]:
    """Files of up to `PORTION` rows together, or one that has more."""
    portion: list[Path] = []
    rows = 0
    for source in sources:
        n = row_count(source)
        if portion and rows + n > PORTION:
            yield portion
            portion, rows = [], 0
        portion.append(source)
        rows += n
    if portion:
        yield portion


def _reduce_value(value: str, *, dealt: Path, column: str, schema: pa.Schema, reduce: Reduce, output: Location) -> None:
    """Reduce what lies in the folders of one value, `column=value` as DuckDB writes it."""
    tables = [
        pq.read_table(path, partitioning=None) for path in sorted(dealt.glob(f"*/{glob.escape(value)}/*.parquet"))
    ]
    rows = pa.concat_tables(tables)
    name = unquote(value.partition("=")[2])
    schema = schema.remove(schema.get_field_index(column)).remove_metadata()
    rows = rows.select(schema.names).cast(schema)
    write_group(rows.append_column(column, pa.array([name] * rows.num_rows)), column, reduce, output)


def _as_os_error(error: Exception, output: Path) -> Exception:
    """DuckDB tells of a full disk in words only."""
    if "No space left" in str(error) or "failed to offload" in str(error):
        return OSError(errno.ENOSPC, "No space left on device", str(output))
    return error
