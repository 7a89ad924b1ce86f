"""The stages of the main job tied together: what each hands to the next, and that nothing is lost between them."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from filters.rule import paragraph_score
from obelics_pipeline.commit import Manifest, file_sha256, read_manifest, remember, sweep, temporary
from obelics_pipeline.config import RunConfig
from obelics_pipeline.extract.measure import score_names
from obelics_pipeline.extract.stage import extract_unit, extract_units
from obelics_pipeline.fetch.image_store import ImageStore
from obelics_pipeline.fetch.result import FetchResult, results_from_table
from obelics_pipeline.fetch.stage import fetch_unit, fetch_unit_of, fetch_units, identity, request_unit, request_units
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.ledger import Ledger
from obelics_pipeline.read.inputs import Inputs
from obelics_pipeline.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.shard.image_rules import url_reason
from obelics_pipeline.shard.index import merge_indexes
from obelics_pipeline.shard.manifest import RunManifest, promises_of, write_manifest
from obelics_pipeline.shard.stage import assemble_unit, assemble_units, plan_tars, shard_entries, tar_unit
from obelics_pipeline.stages import StageRunner
from obelics_pipeline.unit import Unit, digest


@dataclass(frozen=True)
class Answers:
    """The fetch stage's results by the extracted unit that asked: the files, and a digest of the rows in them."""

    files: Mapping[str, Sequence[Path]]
    digests: Mapping[str, str]


class Job:
    """One run's stages. Each method is a stage and returns what the next one reads."""

    def __init__(self, folder: RunFolder, config: RunConfig, runner: StageRunner) -> None:
        self.folder, self.config, self.runner = folder, config, runner
        self.ledgers: dict[str, Ledger] = {}  # the run's: records, documents, images, urls

    def extract(self, sources: Inputs) -> list[Manifest]:
        """WARC ranges to documents."""
        tasks = plan_ranges(sources, self.config.reading)
        self._forget_changed(sources, tasks)
        units = extract_units(tasks, self.config)
        work = functools.partial(extract_unit, folder=self.folder.extract, config=self.config)
        manifests = self.runner.map("extract", work, units, self.folder.extract)
        self.ledgers = dict(self.runner.ledgers["extract"])
        sweep(self.folder.extract, manifests)
        return manifests

    def _forget_changed(self, sources: Inputs, tasks: Sequence[ReadTask]) -> None:
        """A file that was replaced under its old name is read anew, though its units have their old ids."""
        versions = {s.name: s.version for s in sources.warcs} | {s.name: s.version for s in sources.pointers}
        changed = self.folder.changed_inputs(versions)
        for task in tasks:
            if task.name in changed:
                for path in (self.folder.extract / "manifests").glob(f"{task.label}-*.json"):
                    path.unlink()

    def fetch(self, extracted: Sequence[Manifest], retry: Sequence[str]) -> Answers:
        """Image URLs of the kept documents to images in the store."""
        if not self.config.fetch.enabled:
            return Answers({}, {})
        requests = self._requests(extracted)
        folder, config = self.folder.fetch, self.config.fetch
        key = digest([m.files["data"]["sha256"] for m in requests], identity(config))
        plan = folder / "plans" / f"{key}.json"
        if retry:
            plan.unlink(missing_ok=True)

        def make() -> list[dict[str, Any]]:
            paths = [m.path(self.folder.requests, "data") for m in requests]
            dealt = self.runner.engine.regroup(paths, "bucket", folder / "requests" / key)
            return fetch_units(dealt, folder, config, retry)

        units = [fetch_unit_of(value) for value in remember(plan, make)]
        work = functools.partial(fetch_unit, folder=folder, images=self.folder.images, config=config)
        fetched = self.runner.map("fetch", work, units, folder)
        _keep_only(folder / "requests", key)
        return self._answers(fetched)

    def _requests(self, extracted: Sequence[Manifest]) -> list[Manifest]:
        """Which URLs to ask for; what a rule refuses by its URL alone is never asked."""
        rules, folder = self.config.images, self.folder.requests
        work = functools.partial(
            request_unit,
            folder=folder,
            extract_folder=self.folder.extract,
            buckets=self.config.fetch.buckets,
            url_reason=functools.partial(url_reason, config=rules),
        )
        units = request_units(extracted, self.config.fetch, [rules.banned_words, rules.banned_as_substrings])
        requests = self.runner.map("requests", work, units, folder, part_of="fetch")
        sweep(folder, requests)
        return requests

    def _answers(self, fetched: Sequence[Manifest]) -> Answers:
        """The results dealt back to the units that asked for them."""
        folder = self.folder.fetch
        key = digest([m.files["answers"]["sha256"] for m in fetched])

        def make() -> dict[str, Any]:
            paths = [m.path(folder, "answers") for m in fetched]
            dealt = self.runner.engine.regroup(paths, "partition", folder / "dealt" / key)
            return {
                unit: {"digest": _rows_digest(files), "files": [str(f.relative_to(folder)) for f in files]}
                for unit, files in sorted(dealt.items())
            }

        dealt = remember(folder / "plans" / f"answers-{key}.json", make)
        _keep_only(folder / "dealt", key)
        files = {unit: [folder / name for name in value["files"]] for unit, value in dealt.items()}
        return Answers(files, {unit: value["digest"] for unit, value in dealt.items()})

    def shard(self, extracted: Sequence[Manifest], answers: Answers) -> None:
        """Documents and images to tars, index and manifest."""
        assembled = self._assemble(extracted, answers)
        scores = score_names(self.config)
        units = plan_tars(assembled, self.folder.assembled, self.config, scores)
        self._withdraw(units)
        work = functools.partial(
            tar_unit,
            folder=self.folder.shards,
            assembled_folder=self.folder.assembled,
            read_image=ImageStore(self.folder.images).read,
        )
        tars = self.runner.map("shard", work, units, self.folder.shards)
        self._account(assembled, tars)
        self._publish(tars, scores)

    def _assemble(self, extracted: Sequence[Manifest], answers: Answers) -> list[Manifest]:
        folder = self.folder.assembled
        work = functools.partial(
            assemble_unit,
            folder=folder,
            extract_folder=self.folder.extract,
            config=self.config,
            read_answers=_read_answers,
            score=paragraph_score,
        )
        units = assemble_units(extracted, answers.files, answers.digests, self.config)
        assembled = self.runner.map("assemble", work, units, folder, part_of="shard")
        sweep(folder, assembled)
        return assembled

    def _withdraw(self, units: Sequence[Unit]) -> None:
        """Take back what an earlier run published and this one will not: names of tars are used again."""
        folder = self.folder.shards
        standing = [manifest for unit in units if (manifest := read_manifest(folder, unit.name)) is not None]
        if len(standing) < len(units):
            self.folder.manifest.unlink(missing_ok=True)
            self.folder.index.unlink(missing_ok=True)
        sweep(folder, standing)

    def _account(self, assembled: Sequence[Manifest], tars: Sequence[Manifest]) -> None:
        """The run's ledgers. What units that failed held is counted as failed; nothing else may be missing."""
        ledgers = self.runner.ledgers
        documents = Ledger("documents")
        documents.add(ledgers["extract"].get("documents", Ledger("documents")))
        entered = ledgers["assemble"].get("documents", Ledger("documents"))
        self._carry(documents, entered.entered, "assemble")
        documents.kept = entered.kept
        documents.dropped.update(entered.dropped)
        self._carry(documents, sum(m.notes["documents"] for m in tars), "shard")
        self.ledgers = {
            "records": ledgers["extract"].get("records", Ledger("records")),
            "documents": documents,
            "images": ledgers["assemble"].get("images", Ledger("images")),
            "urls": ledgers.get("fetch", {}).get("urls", Ledger("urls")),
        }

    def _carry(self, documents: Ledger, arrived: int, stage: str) -> None:
        """Documents that were kept and did not arrive at a stage failed there, if a unit of it did."""
        missing = documents.kept - arrived
        documents.kept = arrived
        if missing and any(failure["stage"] == stage for failure in self.runner.failures):
            documents.failed[f"{stage}_unit_failed"] += missing

    def lost(self) -> list[str]:
        """Ledgers that do not balance, each as a line."""
        return [f"{noun}: {ledger.to_json()}" for noun, ledger in self.ledgers.items() if not ledger.balanced()]

    def _publish(self, tars: Sequence[Manifest], scores: Sequence[str]) -> None:
        """Write the index and, last of all, the manifest that makes the folder a finished run."""
        notes: dict[str, Any] = {"failed_units": sorted(self.runner.failures, key=str)}
        if not self.folder.index.exists():
            self.folder.manifest.unlink(missing_ok=True)
            with temporary(self.folder.index) as draft:
                merge_indexes([m.path(self.folder.shards, "index") for m in tars], draft, scores)
        manifest = RunManifest(
            shards=shard_entries(tars),
            index_sha256=file_sha256(self.folder.index),
            index_bytes=self.folder.index.stat().st_size,
            promises=promises_of(self.config, scores),
            ledgers=self.ledgers,
            notes=notes,
        )
        write_manifest(self.folder.path, manifest)

    def summary(self) -> str:
        """What a person wants to know at the end."""
        documents, images = self.ledgers["documents"], self.ledgers["images"]
        why = ", ".join(f"{reason} {n:,}" for reason, n in documents.dropped.most_common(5))
        return (
            f"done: {documents.kept:,} documents with {images.kept:,} images in {self.folder.shards} "
            f"({documents.dropped.total():,} documents dropped: {why or 'none'})"
        )


def _read_answers(paths: Sequence[Path]) -> dict[str, FetchResult]:
    return {result.url: result for path in paths for result in results_from_table(pq.read_table(path))}


def _rows_digest(files: Sequence[Path]) -> str:
    """A digest of rows, whatever their order."""
    rows = sorted(json.dumps(row, sort_keys=True) for path in files for row in pq.read_table(path).to_pylist())
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _keep_only(folder: Path, name: str) -> None:
    """Remove what an earlier plan had dealt out."""
    for path in folder.iterdir() if folder.exists() else ():
        if path.name != name:
            shutil.rmtree(path, ignore_errors=True)
