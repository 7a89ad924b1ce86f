"""Documents of a plan by number: their position in shards, and their origin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError


@dataclass(frozen=True)
class Planned:
    """A document of a plan. Offsets and lengths are bytes."""

    number: int
    dataset: str
    shard: str
    offset: int
    length: int
    doc_id: str
    url: str
    warc_filename: str
    warc_record_offset: int
    warc_record_length: int
    n_tokens: int
    n_images: int


class PlanDocuments:
    """Columns of many documents at once, from the memory-mapped file. Raises UserError for a folder that is no plan."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.about: dict[str, Any] = json.loads((path / "plan.json").read_text(encoding="utf-8"))
            with pa.memory_map(str(path / "documents.arrow")) as source:
                self._table = pa.ipc.open_file(source).read_all()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise UserError(f"{path}: not the folder of a plan ({str(error).splitlines()[0][:200]})") from None
        self.datasets = tuple(str(one["name"]) for one in self.about.get("datasets", ()))

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @property
    def words(self) -> int | None:
        """How many tokens the language model knows; None where the plan does not say."""
        words = self.about.get("tokenizer", {}).get("words")
        return int(words) if words else None

    def column(self, name: str, documents: NDArray[np.int64]) -> NDArray[Any]:
        """A column of some documents. Raises UserError for numbers that the plan does not have."""
        if len(documents) and not 0 <= documents.min() <= documents.max() < len(self):
            raise UserError(f"{self.path}: has {len(self):,} documents, and the run saw number {documents.max():,}: "
                            "this is another plan than the run's")  # fmt: skip
        taken = self._table[name].take(pa.array(documents))
        if pa.types.is_dictionary(taken.type):
            taken = taken.cast(pa.string())
        found: NDArray[Any] = taken.to_numpy(zero_copy_only=False)
        return found

    def documents(self, numbers: Sequence[int]) -> list[Planned]:
        """Some documents whole, in the order asked for."""
        at = np.array(numbers, np.int64)
        names = [name for name in Planned.__dataclass_fields__ if name not in ("number", "dataset")]
        columns = [self.column(name, at).tolist() for name in names]
        datasets = [self.datasets[i] for i in self.column("dataset", at).tolist()]
        return [
            Planned(number, dataset, **dict(zip(names, values, strict=True)))
            for number, dataset, *values in zip(numbers, datasets, *columns, strict=True)
        ]

    @cached_property
    def shards(self) -> list[str]:
        """The tars that its documents stand in."""
        found: set[str] = set()
        for chunk in self._table["shard"].chunks:
            found |= set((chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk.unique()).to_pylist())
        return sorted(name for name in found if name is not None)
