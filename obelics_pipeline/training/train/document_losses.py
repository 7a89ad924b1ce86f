"""Losses per document: for every step and span, how many targets it had and the sum of their losses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.storage import draft

FOLDER = "accounts"  # the stored name
SCHEMA = pa.schema(
    [
        ("step", pa.int32()),
        ("row", pa.int64()),  # of the plan
        ("span", pa.int64()),  # of the plan
        ("document", pa.int64()),  # of the plan
        ("repeat", pa.int16()),
        ("n_targets", pa.int32()),
        ("loss_sum", pa.float32()),  # nats
        ("el2n_sum", pa.float32()),  # squared distance of the prediction from the truth, 0 to 2 a token
        ("log_z_sum", pa.float32()),
    ]
)


class DocumentLossWriter:
    """Writes the losses per document of one process: some steps a file, each file whole or not at all."""

    def __init__(self, run: Path, attempt: int, rank: int, steps_per_file: int) -> None:
        self._folder = run / FOLDER / f"attempt-{attempt:05d}" / f"rank-{rank:05d}"
        self._per_file = steps_per_file
        self._tables: list[pa.Table] = []
        self._steps: list[int] = []

    def add(self, step: int, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Add the spans of a step: a value per span for each column except `step`."""
        there = np.asarray(columns["n_targets"]) > 0
        values = {name: np.asarray(columns[name])[there] for name in SCHEMA.names if name != "step"}
        values["step"] = np.full(int(there.sum()), step)
        arrays = [pa.array(values[field.name].astype(field.type.to_pandas_dtype())) for field in SCHEMA]
        self._tables.append(pa.Table.from_arrays(arrays, schema=SCHEMA))
        self._steps.append(step)
        if len(self._steps) >= self._per_file:
            self.flush()

    def flush(self) -> None:
        """Write the steps that are not written yet. Call it before anything that may end the process."""
        if self._steps:
            name = f"steps-{self._steps[0]:08d}-{self._steps[-1]:08d}.parquet"
            with draft(self._folder / name) as path:
                pq.write_table(pa.concat_tables(self._tables), path, compression="zstd")
            self._tables, self._steps = [], []
