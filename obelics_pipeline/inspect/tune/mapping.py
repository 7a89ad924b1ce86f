"""The map of a run beside the page: made once in a thread of its own, and what a person asks of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.map.make import DOCUMENTS, make_map, take_sample
from obelics_pipeline.inspect.map.polygon import FEWEST, inside
from obelics_pipeline.inspect.map.region import describe
from obelics_pipeline.inspect.map.rules import Bound, RegionRule
from obelics_pipeline.inspect.map.stored import CorpusMap, digest_of, read_map
from obelics_pipeline.inspect.map.training_set import REGION, REST, write_training_set
from obelics_pipeline.inspect.run_tables.documents import score_names
from obelics_pipeline.inspect.tune.documents import Mask, Numbers
from obelics_pipeline.inspect.tune.marks import MARKS, Marks
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.inspect.tune.rules import document_rules
from obelics_pipeline.inspect.tune.save_folders import SaveFolders
from obelics_pipeline.inspect.tune.training import training_rules

REASON, LANGUAGE, PAGE_TYPE, MARK = NAMED = "reason", "language", "page_type", "mark"  # colours that are no scores
MOST_SHOWN = 50  # documents of a region
DECIMALS = 3  # of coordinates: a map is some 100 wide
DIGITS = 4  # of scores
Values = dict[str, Any]
Corners = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Laid:
    """The documents of a map that have a point, as arrays by point. Documents without words have none."""

    points: NDArray[np.float32]
    rows: NDArray[np.int64]  # of the run's documents
    labels: list[Values]
    wordless: int

    @classmethod
    def of(cls, found: CorpusMap, row_of: dict[str, int]) -> Laid:
        """Documents that came into the run after the page began to read it are left out."""
        rows = np.array([row_of.get(doc_id, -1) for doc_id in found.points["doc_id"].to_pylist()], np.int64)
        axes = [found.points[axis].to_numpy(zero_copy_only=False).astype(np.float32) for axis in ("x", "y")]
        points, known = np.column_stack(axes), rows >= 0
        placed = known & ~np.isnan(points[:, 0])
        wordless = int(np.count_nonzero(known & ~placed))
        return cls(points[placed], rows[placed], found.labels.to_pylist(), wordless)


class RunMap:
    """The map of a run, its making, and the questions that the page has about it.

    `card` tells of the document of a row what a card shows, `reasons` why each document of the run is dropped now,
    `save_folders` where a training set may be written.
    Only the thread that makes the map writes `_at` and `_problem`; they are replaced whole.
    """

    def __init__(
        self,
        run: Measured,
        marks: Marks,
        threads: int,
        card: Callable[[int], Values],
        reasons: Callable[[dict[str, Any]], Sequence[str | None]],
        save_folders: SaveFolders,
    ) -> None:
        self._run, self._marks, self._threads = run, marks, threads
        self._card, self._reasons, self._save_folders = card, reasons, save_folders
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._at: tuple[str, int, int] = ("documents", 0, 0)
        self._problem: str | None = None
        self._laid: Laid | None = None

    def map_state(self) -> Values:
        """Whether there is a map, or how far one is: the step, and how much of it is done; and why a map is missing."""
        step, done, total = self._at
        working = self._thread is not None
        at = {"step": step, "done": done, "total": total} if working else {}
        there = not working and self._found() is not None
        documents = min(len(self._run.documents), DOCUMENTS)
        return {"there": there, "working": working, "problem": self._problem, "documents": documents, **at}

    def make_map(self) -> Values:
        """Begin to make the map, unless it is there or being made; how far it is."""
        with self._lock:
            if self._thread is None and self._found() is None:
                self._at, self._problem = ("documents", 0, 0), None
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
        return self.map_state()

    def map_points(self) -> Values:
        """The points, with the rows of their documents, and the names of the cells; what they can be coloured by."""
        laid = self._there()
        x, y = (np.round(laid.points[:, axis].astype(np.float64), DECIMALS).tolist() for axis in (0, 1))
        return {
            "x": x,
            "y": y,
            "rows": laid.rows.tolist(),
            "labels": [label for label in laid.labels if label["words"]],
            "wordless": laid.wordless,
            "of": len(self._run.documents),
            "colors": [*NAMED, *sorted(self._run.documents.scores)],
        }

    def map_color(self, color: str, settings: dict[str, Any]) -> Values:
        """The value of each point for its colour: a score (null if not measured), or the code of a name.

        The code -1 means no name; for reasons it means that these settings keep the document. Raises UserError for a
        column that cannot be shown as a colour.
        """
        rows, documents = self._there().rows, self._run.documents
        if color in (LANGUAGE, PAGE_TYPE):
            column = documents.languages if color == LANGUAGE else documents.page_types
            return {"names": list(column.names), "codes": column.codes[rows].tolist()}
        if color == MARK:
            codes = np.full(len(documents), -1)
            for code, mark in enumerate(MARKS):
                codes[self._marks.rows(documents.row_of, "good" if mark == "good" else "bad")] = code
            return {"names": list(MARKS), "codes": codes[rows].tolist()}
        if color == REASON:
            found = self._reasons(settings)
            names = sorted({reason for reason in found if reason is not None})
            code_of: dict[str | None, int] = {None: -1, **{name: code for code, name in enumerate(names)}}
            return {"names": names, "codes": [code_of[found[row]] for row in rows.tolist()]}
        if color not in documents.scores:
            raise UserError(f"{color}: no such colour; there are {', '.join(NAMED)} and the scores")
        return {"values": _rounded(documents.scores[color][rows])}

    def map_document(self, row: int) -> Values:
        """The document of a point. Raises UserError for a row that the run does not have."""
        if not 0 <= row < len(self._run.documents):
            raise UserError(f"row {row}: the run has {len(self._run.documents)} documents")
        return self._card(row)

    def region(self, corners: Corners) -> Values:
        """What is inside of a polygon: how much, its sites, and some documents."""
        laid, region = self._there(), self._inside(corners)
        documents = self._run.documents
        rows = laid.rows[region]
        kept = documents.kept
        sites = documents.sites.codes
        everywhere, within = (
            np.bincount(sites[some], minlength=len(documents.sites.names)) for some in (laid.rows, rows)
        )
        most = np.lexsort((np.arange(len(within)), -within))[:20]
        return {
            "documents": len(rows),
            "kept": int(np.count_nonzero(kept[rows])),
            "sites": [
                {"site": documents.sites.names[i], "inside": int(within[i]), "all": int(everywhere[i])}
                for i in most.tolist()
                if within[i]
            ],
            "shown": [self._card(row) for row in rows[:MOST_SHOWN].tolist()],
        }

    def region_rules(self, corners: Corners) -> list[Values]:
        """The bounds that would drop what is inside, best first; measured on what the run kept of the map's documents.

        They are of scores that the page has rules for, so that they can be used. `settings` are those of the page that
        set the bounds; null where one is not a section of bounds.
        """
        laid, region = self._there(), self._inside(corners)
        rules = [*document_rules(self._run.config), *training_rules(self._run.documents.scores, {})]
        places = {rule.name: rule.place for rule in rules}
        table = self._run.documents.table.take(pa.array(laid.rows))
        unused = [name for name in score_names(table) if name not in places]
        found = describe(table.drop_columns(unused), region)
        return [
            {
                "lines": rule.lines(),
                "precision": rule.precision,
                "recall": rule.recall,
                "rest_kept": rule.rest_kept,
                "dropped": rule.dropped + rule.dropped_elsewhere,
                "settings": _settings(rule, places),
            }
            for rule in found.rules
        ]

    def training_set(self, corners: Corners, folder: Path) -> Values:
        """Write texts of what is inside, and as many of the rest, into a new folder; where, and how many of each.

        Raises UserError where the page may not write, where something is there already, where one of the two would be
        empty, and where they cannot be written.
        """
        laid, region, target = self._there(), self._inside(corners), self._save_folders.path_of(folder)
        try:
            target.mkdir()
        except FileExistsError:
            raise UserError(f"{target}: is there already; give another folder") from None
        except OSError as error:
            raise UserError(f"{target}: cannot be made: {error.strerror}") from None
        table = self._run.documents.table.take(pa.array(laid.rows))
        try:
            counts = write_training_set(self._run.folder, table, region, target)
        except UserError:
            with suppress(OSError):  # what was written stays
                target.rmdir()
            raise
        return {"region": str(target / REGION), "rest": str(target / REST), "texts": counts}

    def _inside(self, corners: Corners) -> Mask:
        if len(corners) < FEWEST:
            raise UserError(f"corners: a region has {FEWEST} corners or more, this one has {len(corners)}")
        return inside(self._there().points, corners)

    def _there(self) -> Laid:
        found = self._found()
        if found is None:
            raise UserError("there is no map of these documents yet; make it on the page, or with: obelics map")
        return found

    def _found(self) -> Laid | None:
        """The map, read once; None if it is missing, or is of other documents than the run has."""
        if self._laid is None:
            documents = self._run.documents
            found = read_map(self._run.folder)
            if found is not None:  # as many as it was asked to have, which may be fewer than by default
                found = read_map(self._run.folder, digest_of(take_sample(documents.table, len(found.points))))
            if found is not None:
                self._laid = Laid.of(found, documents.row_of)
        return self._laid

    def _work(self) -> None:
        try:
            made = make_map(self._run.folder, DOCUMENTS, self._threads, self._advance).map
            self._laid = Laid.of(made, self._run.documents.row_of)
        except (UserError, OSError) as error:
            self._problem = str(error)
        except Exception as error:  # a page must be told, whatever it is
            self._problem = f"{type(error).__name__}: {error}; report this as a bug"
        finally:
            self._thread = None

    def _advance(self, step: str, done: int, total: int) -> None:
        self._at = (step, done, total)


def _settings(rule: RegionRule, places: dict[str, str]) -> dict[str, float] | None:
    """The page's settings that set a rule's bounds; None where the config has no place for one of them."""
    found = [_setting(bound, places.get(bound.score)) for bound in rule.bounds]
    return (
        None
        if None in found
        else {place: bound.value for place, bound in zip(found, rule.bounds, strict=True) if place}
    )


def _setting(bound: Bound, place: str | None) -> str | None:
    if place == "language.min_score":  # not a section of bounds, but a number
        return place if bound.side == "min" else None
    return None if place is None else f"{place}.{bound.side}"


def _rounded(values: Numbers) -> list[float | None]:
    """Values rounded to so many digits; None for NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        scale = 10.0 ** np.where(np.isfinite(places), np.clip(places, -300, 300), 0)
        found = np.round(values * scale) / scale
    return [value if value == value else None for value in found.tolist()]
