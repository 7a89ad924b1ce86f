"""A publication in a folder: on a disk, or in an object store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, names_in, read_bytes, remove, remove_tree, size_of, write_bytes
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.inspect.published.parquet_part import PartMaker, PartWriter, WrittenPart
from obelics_pipeline.inspect.published.parts import Part
from obelics_pipeline.inspect.published.target import (
    BESIDE,
    DATA,
    LIST,
    NOTES,
    OURS,
    demand_viewable,
    listed,
    refuse,
    strangers,
)
from obelics_pipeline.inspect.published.viewer import check


@dataclass(frozen=True)
class Folder:
    """A `Target` at a location."""

    path: Location

    def __str__(self) -> str:
        return str(self.path)

    def refuse_strangers(self, run: Location) -> None:
        """Raise UserError where the folder lies in the run, or holds Parquet files or a card of others."""
        inner, outer = (where.resolve() if isinstance(where, Path) else where for where in (self.path, run))
        if outer in (inner, *inner.parents):
            raise UserError(f"--output {self.path}: lies in the run's own folder; give a folder outside")
        top = [name for name in BESIDE if size_of(self.path / name) is not None]
        refuse(str(self.path), strangers(names_in(self.path / DATA), top), "give an empty or new folder")

    def write_parts(self, engine: Engine, maker: PartMaker, parts: Sequence[Part]) -> list[WrittenPart]:
        """Have the workers write each file into its place."""
        writer = PartWriter(maker, self.path / DATA, self.path / NOTES, self._listed())
        remove([self.path / LIST])
        return list(engine.map(writer, parts))

    def finish(self, parts: Sequence[WrittenPart], beside: Mapping[str, bytes]) -> Sequence[str]:
        """Remove files of an earlier publication, write what lies beside, check it all, and write the list."""
        mine = {part.name for part in parts}
        names = names_in(self.path / DATA)
        remove(self.path / DATA / name for name in names if OURS.fullmatch(name) and name not in mine)
        for name in (name for name in beside if name != LIST):
            write_bytes(self.path / name, beside[name])
        verdict = check(self.path)
        demand_viewable(str(self.path), verdict.refused)
        write_bytes(self.path / LIST, beside[LIST])
        remove_tree(self.path / NOTES)
        return verdict.advice

    def _listed(self) -> list[WrittenPart]:
        try:
            return listed(read_bytes(self.path / LIST))
        except OSError:
            return []
