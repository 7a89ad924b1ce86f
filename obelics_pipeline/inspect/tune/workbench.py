"""What the page asks: each method answers one question about a run, and about a config that differs from its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.config.yaml_file import find_config
from obelics_pipeline.core.document import Document, TextNode, kept_texts
from obelics_pipeline.core.errors import Damaged, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.html.visible import on_a_line
from obelics_pipeline.core.storage import local_copy, read_bytes
from obelics_pipeline.filters.spans import Span
from obelics_pipeline.inspect.dry_run.extracted import require_same_pages
from obelics_pipeline.inspect.explain.in_run import noted_config
from obelics_pipeline.inspect.run_tables.documents import BYTES_PER_TOKEN
from obelics_pipeline.inspect.tune.documents import Codes, Mask
from obelics_pipeline.inspect.tune.dry_runs import DryRuns
from obelics_pipeline.inspect.tune.estimate import Estimate, estimate
from obelics_pipeline.inspect.tune.histogram import histogram
from obelics_pipeline.inspect.tune.levels import (
    corpus_level,
    document_level,
    image_counts,
    image_level,
    paragraph_counts,
    paragraph_level,
    values_of,
)
from obelics_pipeline.inspect.tune.mapping import RunMap
from obelics_pipeline.inspect.tune.marks import Mark, Marks, for_budget, for_precision, judge
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.inspect.tune.reading import readable
from obelics_pipeline.inspect.tune.rules import TunedRule, document_rules
from obelics_pipeline.inspect.tune.save_folders import SaveFolders
from obelics_pipeline.inspect.tune.saving import changes, save
from obelics_pipeline.inspect.tune.training import SIDES, of_config, recipe_text, training_rules
from obelics_pipeline.stages.extract.measure import Measurer

FOLDER = "tune"  # below a run's: marks, and the dry run
MOST_SITES, MOST_NEAR, MOST_LISTED = 50, 12, 50
Settings = Mapping[str, Any]  # place in the config, as in --set -> value
Values = dict[str, Any]


class Workbench:
    """A run, the marks on its documents, and the last dry run. Raises UserError where there is no run."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.run = Measured(RunFolder(folder))
        self.marks = Marks(folder / FOLDER / "marks.jsonl")
        self.dry_runs = DryRuns(self.run, folder / FOLDER / "dry-run", workers)
        self.save_folders = SaveFolders.of(folder, noted_config(self.run.folder))
        self.map = RunMap(self.run, self.marks, workers, self._document, self._reasons_now, self.save_folders)
        self._noted = self.run.folder.noted()

    def config(self, settings: Settings) -> RunConfig:
        """The run's config with other values.

        Raises UserError for a key or a value that is not valid, and for a filter that the run did not measure.
        """
        with local_copy(self.run.folder.config) as path:
            found = load_config(
                str(path), [f"{place}={json.dumps(value)}" for place, value in of_config(settings).items()]
            )
        for level in ("paragraph", "document"):
            measured = getattr(self.run.config.filters, level)
            for name in getattr(found.filters, level):
                if name not in measured:
                    raise UserError(
                        f"filters.{level}.{name}: not measured in this run; add it to the config and run the sample "
                        f"again, or take one of {', '.join(measured)}"
                    )
        return found

    def about(self) -> Values:
        """Facts about the run, and the settings that can be tuned."""
        run, config = self.run, self.run.config
        documents = run.documents
        return {
            "folder": str(run.folder.path),
            "save_folders": [str(folder) for folder in self.save_folders.folders],
            "config": self._noted.get("config"),
            "sample": self._noted.get("sample"),
            "documents": len(documents),
            "all": {
                "documents": len(documents),
                "images": int(documents.images.sum()),
                "tokens": float(documents.bytes.sum()) / BYTES_PER_TOKEN,
            },
            "languages": _most(documents.languages, 1000),
            "page_types": _most(documents.page_types, len(documents.page_types.names)),
            "sites": _most(documents.sites, MOST_SITES),
            "marks": len(self.marks),
            **self.levels({}),
            "limits": {
                "min_per_document": config.images.min_per_document,
                "max_per_document": config.images.max_per_document,
                "formats": list(config.images.formats),
            },
            "estimate": self.estimate({}),
        }

    def levels(self, settings: Settings) -> Values:
        """The rules of each level as a config has them."""
        config = self.config(settings)
        return {
            "document": document_level([*document_rules(config), *self._training(settings)]),
            "paragraph": paragraph_level(config),
            "image": image_level(config),
            "dedup": corpus_level(config),
        }

    def _base(self, config: RunConfig) -> Measured:
        """The tables that a config is compared on: its dry run if that is the last one, else the run."""
        result = self.dry_runs.result
        return result[0] if result is not None and result[0].config == config else self.run

    def _training(self, settings: Settings) -> list[TunedRule]:
        return training_rules(self.run.documents.scores, settings)

    def _estimate(self, settings: Settings) -> Estimate:
        config = self.config(settings)
        base = self._base(config)
        return estimate(base.documents, config, base.contents(config), self._training(settings))

    def estimate(self, settings: Settings) -> Values:
        """What a config keeps. `exact`: the counts are of a run or a dry run, not of an estimate."""
        config = self.config(settings)
        base, found = self._base(config), self._estimate(settings)
        good, bad = (self.marks.rows(base.documents.row_of, mark) for mark in ("good", "bad"))
        judged = [judge(dropped, good, bad).to_json() for dropped in found.failing] if good or bad else []
        return {
            "exact": base.config == config and not recipe_text(self._training(settings)),
            "dry_run": base is not self.run,
            "kept": found.kept.to_json(),
            "unknown": found.unknown,
            "rules": [vars(rule) for rule in found.rules],
            "overlap": found.overlap.tolist(),
            "reasons": _counted(found.reasons),
            "judged": judged,
            "marked": judge(found.keeps == 0, good, bad).to_json(),
        }

    def counts(self, settings: Settings, level: Literal["paragraph", "image"]) -> list[Values]:
        """The effect of each rule of paragraphs or images."""
        config = self.config(settings)
        base = self._base(config)
        return paragraph_counts(base.paragraphs, config) if level == "paragraph" else image_counts(base.images, config)

    def reasons(self, settings: Settings) -> dict[str, dict[str, int]]:
        """How many documents, paragraphs and images each reason dropped, in the run or in a dry run of a config."""
        base = self._base(self.config(settings))
        return {
            "document": _numbers(base.documents.reasons),
            "paragraph": _numbers(base.paragraphs.reasons),
            "image": _numbers(base.images.reasons),
        }

    def histogram(
        self,
        level: str,
        name: str,
        language: str | None = None,
        site: str | None = None,
        log: bool | None = None,
        page_type: str | None = None,
    ) -> Values:
        """The distribution of a score in the run, of some of its documents. Raises UserError for no such score."""
        values, kept, rows = self._values(level, name)
        some = self._some(language, site, page_type)[rows]
        return histogram(values[some], kept[some], log).to_json()

    def near(
        self,
        level: str,
        name: str,
        value: float,
        language: str | None = None,
        site: str | None = None,
        page_type: str | None = None,
    ) -> dict[str, list[Values]]:
        """Documents, or paragraphs and images with their document, just on either side of a value."""
        values, kept, rows = self._values(level, name)
        some = self._some(language, site, page_type)[rows] & ~np.isnan(values)
        found = {}
        for side, there in (("below", values < value), ("at or above", values >= value)):
            places = np.flatnonzero(some & there)
            order = np.lexsort((places, np.abs(values[places] - value)))[:MOST_NEAR]
            found[side] = [self._listed(level, int(i), float(values[i]), bool(kept[i])) for i in places[order]]
        return found

    def listed(self, settings: Settings, reason: str | None, offset: int = 0) -> list[Values]:
        """Documents that a config drops for a reason, or keeps (None)."""
        found = self._estimate(settings)
        rows = [row for row, of_it in enumerate(found.reasons) if of_it == reason][offset : offset + MOST_LISTED]
        return [self._document(row) for row in rows]

    def settings_of(self, config: str) -> dict[str, Any]:
        """The settings by which the run's config becomes another one: a YAML file, or a bundled config by its name.

        A filter that the other does not have is one without bounds. Raises UserError for what is no config, and for one
        that cannot be weighed on this run.
        """
        mine, theirs = self.run.config, load_config(config)
        require_same_pages(mine, theirs)
        found: dict[str, Any] = {}
        for place, value in changes(mine.model_dump(mode="json"), theirs.model_dump(mode="json")).items():
            if place[0] == "reading":  # where units are cut
                continue
            section, level, *name = place
            if section == "filters" and len(name) == 1 and value is None:
                value = {"options": getattr(mine.filters, level)[name[0]].options}
            found[".".join(place)] = value
        self.config(found)
        return found

    def compared(self, settings: Settings, other: Settings) -> Values:
        """The documents that each of two configs keeps and the other drops."""
        mine, theirs = (self._estimate(values) for values in (settings, other))
        only = {"first": (mine.keeps > 0) & (theirs.keeps == 0), "second": (theirs.keeps > 0) & (mine.keeps == 0)}
        return {
            "kept": {"first": mine.kept.to_json(), "second": theirs.kept.to_json()},
            "only": {side: int(np.count_nonzero(mask)) for side, mask in only.items()},
            "documents": {
                "first": [self._document(row, theirs.reasons[row]) for row in _rows(only["first"])],
                "second": [self._document(row, mine.reasons[row]) for row in _rows(only["second"])],
            },
        }

    def document(self, doc_id: str, rule: str | None = None, level: str = "document") -> Values:
        """One document to read, with the characters marked that made its score, or its paragraphs', by a filter.

        Raises UserError for one that the run does not have.
        """
        row = self.run.documents.row_of.get(doc_id)
        if row is None:
            raise UserError(f"{doc_id}: the run has no such document")
        document = self.run.document(row)
        return {
            **self._document(row),
            "title": on_a_line(str(document.general.get("title") or ""), 300),
            "scores": {name: value for name, value in document.scores.items() if value is not None},
            "nodes": readable(document, self.run.stored, self._spans(document, rule, level)),
        }

    def _reasons_now(self, settings: Settings) -> list[str | None]:
        """Why each document of the run is dropped by a config, by its dry run or by an estimate; None if it is kept."""
        config = self.config(settings)
        documents, found = self._base(config).documents, self._estimate(settings)
        reason_of = dict(zip(documents.ids, found.reasons, strict=True))
        return [reason_of.get(doc_id) for doc_id in self.run.documents.ids]

    def _spans(self, document: Document, rule: str | None, level: str) -> Callable[[TextNode], Sequence[Span]]:
        if level == "paragraph" and rule in self.run.config.filters.paragraph:
            return lambda node: self._measurer.paragraph_spans(node, document.language, rule)
        if level == "document" and rule in self.run.config.filters.document:
            kept = kept_texts(document.nodes)
            by_node = {id(node): s for node, s in zip(kept, self._measurer.spans(document, rule), strict=True)}
            return lambda node: by_node.get(id(node), ())
        return lambda _node: ()

    @cached_property
    def _measurer(self) -> Measurer:
        return Measurer(self.run.config.filters, self.run.config.language)

    def image(self, sha256: str) -> bytes:
        """The bytes of a stored image. Raises UserError if it is not stored."""
        try:
            return self.run.image(sha256)
        except (OSError, ValueError, Damaged) as error:
            raise UserError(f"image {sha256[:64]}: not in the run's store ({error})") from None

    def mark(self, doc_id: str, mark: Mark | None) -> int:
        """Mark a document, or take its mark back; how many marks there are."""
        if doc_id not in self.run.documents.row_of:
            raise UserError(f"{doc_id}: the run has no such document")
        self.marks.set(doc_id, mark)
        return len(self.marks)

    def start_dry_run(self, settings: Settings) -> Values:
        """Start a dry run of a config; returns its state (see `dry_run`)."""
        self.dry_runs.ask(self.config(settings))
        return self.dry_run(settings)

    def dry_run(self, settings: Settings) -> Values:
        """The progress of the dry run. `known`: a dry run of this config has ended."""
        result = self.dry_runs.result
        known = result is not None and result[0].config == self.config(settings)
        unknown = vars(result[1]) if result is not None and known else {}
        return {**self.dry_runs.state(), "known": known, **unknown}

    def marked(self) -> list[Values]:
        """The documents of the run that are marked, in the order of their ids."""
        rows = self.run.documents.row_of
        return [self._document(rows[doc_id]) for doc_id in self.marks if doc_id in rows]

    def suggested(
        self, settings: Settings, name: str, side: Literal["min", "max"], precision: float | None, tokens: float | None
    ) -> float | None:
        """A threshold for a rule of documents that reaches a precision on the marks, or leaves so many tokens.

        None where no threshold does.
        """
        values, _, _ = self._values("document", name)
        documents = self.run.documents
        if tokens is None:
            good, bad = (self.marks.rows(documents.row_of, mark) for mark in ("good", "bad"))
            return for_precision(values, good, bad, side, 0.9 if precision is None else precision)
        freed = self._estimate({**settings, **self._without(name, settings)})
        return for_budget(values, freed.keeps * documents.bytes / BYTES_PER_TOKEN, side, tokens)

    def _without(self, name: str, settings: Settings) -> dict[str, Any]:
        """The settings by which a rule decides nothing."""
        training = self._training(settings)
        rule = next(rule for rule in [*document_rules(self.config(settings)), *training] if rule.name == name)
        if rule in training:
            return {f"{rule.place}.{bound}": None for bound in SIDES}
        if rule.place == "language.min_score":
            return {rule.place: 0}
        return {f"{rule.place}.{bound}": None for bound in ("min", "max", "below")}

    def saved(self, settings: Settings, path: Path, replace: bool = False) -> str:
        """Write the config to a file in one of `save_folders`; where it is, and which bounds a recipe has instead.

        Raises UserError for another folder, for a name that is not one of YAML, and for the run's own config.
        """
        target = self.save_folders.path_of(path)
        if target.suffix not in (".yaml", ".yml") or target == self.run.folder.config.resolve():
            raise UserError(
                f"{path}: must end in .yaml or .yml, and not be the run's own config.yaml; give another name"
            )
        source, original = self._source()
        save(target, source, self.config(settings), original, replace)
        recipe = recipe_text(self._training(settings))
        return f"{target}; in the recipe of a plan: {recipe}" if recipe else str(target)

    def _source(self) -> tuple[str, RunConfig]:
        """The file that the run's config came from, with its comments; as it was resolved, where that is gone."""
        named = noted_config(self.run.folder)
        if named is not None:
            with suppress(OSError, UserError, UnicodeDecodeError):
                return find_config(named).read_text(encoding="utf-8"), load_config(named)
        return read_bytes(self.run.folder.config).decode(), self.run.config

    def _values(self, level: str, name: str) -> tuple[NDArray[np.float64], Mask, NDArray[np.int64]]:
        try:
            return values_of(self.run, level, name)
        except KeyError:
            raise UserError(f"{name}: the run has no such score of the level {level}") from None

    def _some(self, language: str | None, site: str | None, page_type: str | None) -> Mask:
        """The documents of a language, a kind of page and a site; one that begins with a dot is all that end with it.

        None, or an empty name, is all.
        """
        documents = self.run.documents
        found = np.ones(len(documents), bool)
        if language:
            found &= documents.languages.mask(language)
        if page_type:
            found &= documents.page_types.mask(page_type)
        if site and site.startswith("."):
            ends = np.array([name.endswith(site) for name in documents.sites.names] + [False])
            found &= ends[documents.sites.codes]
        elif site:
            found &= documents.sites.mask(site)
        return found

    def _listed(self, level: str, place: int, value: float, kept: bool) -> Values:
        if level == "document":
            return {**self._document(place), "value": value}
        of_it = self.run.paragraphs if level == "paragraph" else self.run.images
        row, node = int(of_it.document[place]), int(of_it.node[place])
        shown = self.run.document(row).nodes[node]
        what = on_a_line(shown.text, 400) if isinstance(shown, TextNode) else on_a_line(shown.src, 400)
        of_node = {"node": node, "what": what, "kept": kept, "node_reason": shown.reason}
        if not isinstance(shown, TextNode):
            of_node["sha256"] = shown.sha256 or self.run.stored.get(shown.src)
        return {**self._document(row), "value": value, **of_node}

    def _document(self, row: int, reason: str | None = None) -> Values:
        documents = self.run.documents
        table = documents.table
        doc_id = documents.ids[row]
        return {
            "doc_id": doc_id,
            "url": on_a_line(table["url"][row].as_py(), 300),
            "site": table["site"][row].as_py(),
            "language": table["language"][row].as_py(),
            "page_type": table["page_type"][row].as_py(),
            "stage": table["stage"][row].as_py(),
            "reason": reason or table["reason"][row].as_py(),
            "images": int(documents.images[row]),
            "tokens": float(documents.bytes[row]) / BYTES_PER_TOKEN,
            "mark": self.marks.of(doc_id),
        }


def _rows(mask: Mask) -> list[int]:
    return [int(row) for row in np.flatnonzero(mask)[:MOST_LISTED]]


def _most(column: Codes, most: int) -> list[Values]:
    """The names of a column that most documents have, with how many."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
    order = np.lexsort((np.arange(len(counts)), -counts))[:most]
    return [{"name": column.names[i], "documents": int(counts[i])} for i in order]


def _numbers(column: Codes) -> dict[str, int]:
    """How often each name occurs, the most frequent first."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names)).tolist()
    return dict(sorted(zip(column.names, counts, strict=True), key=lambda item: -item[1]))


def _counted(reasons: Sequence[str | None]) -> dict[str, int]:
    return dict(Counter(reason for reason in reasons if reason is not None).most_common())
