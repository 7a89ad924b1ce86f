"""The stages of the main job tied together: what each hands to the next, and that nothing is lost between them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from filters.rule import paragraph_score
from obelics_pipeline.blocklists.lists import read_lists
from obelics_pipeline.commit import Manifest, manifest_path, read_manifests, remember, sweep, unit_names
from obelics_pipeline.config import RunConfig
from obelics_pipeline.config.sharding import ImageRulesConfig
from obelics_pipeline.consent.lists import OptOuts, prepare
from obelics_pipeline.consent.robots import RobotsCaptures, captures_of
from obelics_pipeline.corpus import Corpus
from obelics_pipeline.dealt import Dealt
from obelics_pipeline.dedup.apply import OVERUSED_LOOK, lack
from obelics_pipeline.dedup.uses import LOOK, look_key, verdicts
from obelics_pipeline.deduplication import Deduplication
from obelics_pipeline.document import Document
from obelics_pipeline.exchange import deal, map_all, sources_of
from obelics_pipeline.extract.measure import score_names
from obelics_pipeline.extract.stage import extract_unit, extract_units, measurer
from obelics_pipeline.fetch.image_store import ImageStore
from obelics_pipeline.fetch.result import FetchResult, results_from_table
from obelics_pipeline.fetch.stage import (
    drop_unnamed,
    fetch_unit,
    fetch_unit_of,
    fetch_units,
    plan_name,
    request_unit,
    request_units,
    treated_as,
)
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.image_safety.known_abuse import located as located_lists
from obelics_pipeline.image_safety.known_abuse import prepare as prepare_hash_lists
from obelics_pipeline.ledger import Ledger
from obelics_pipeline.model_scores.document_models import LoadDocumentModels, located, model_columns
from obelics_pipeline.model_scores.identity import models_identity
from obelics_pipeline.model_scores.stage import RunImages, decide_unit, decide_units, measure_unit, measure_units
from obelics_pipeline.model_scores.unsafe_images import Screen
from obelics_pipeline.opt_out_service.stage import (
    UNANSWERED,
    answer_unit,
    answer_units,
    obey_unit,
    obey_units,
    question_unit,
    question_units,
)
from obelics_pipeline.personal_data.counts import total
from obelics_pipeline.read.inputs import Inputs
from obelics_pipeline.read.ranges import ReadTask, plan_ranges, sampled
from obelics_pipeline.shard.image_rules import url_reason
from obelics_pipeline.shard.index import merge_indexes
from obelics_pipeline.shard.manifest import RunManifest, promises_of, write_manifest
from obelics_pipeline.shard.stage import assemble_unit, assemble_units, plan_tars, shard_entries, tar_unit
from obelics_pipeline.site_evidence import SiteEvidence
from obelics_pipeline.stages import StageRunner
from obelics_pipeline.storage import Place, draft, file_sha256, read_table, read_tables, remove, size_of
from obelics_pipeline.tombstones.tombstones import FOLDER as FORGOTTEN_FOLDER
from obelics_pipeline.tombstones.tombstones import tombstones_in
from obelics_pipeline.unit import Unit, digest

STAGE_OF = {"decide": "score"}  # steps that ledgers are of -> the stage that people know


@dataclass(frozen=True)
class Documents:
    """The committed units that hold the documents of a run at some stage, and the folder that they are in."""

    units: Sequence[Manifest]
    folder: Place


class Job:
    """One run's stages. Each method is a stage and returns what the next one reads."""

    def __init__(
        self,
        folder: RunFolder,
        config: RunConfig,
        runner: StageRunner,
        earlier: Sequence[Corpus] = (),
        sample: float | None = None,
        forgotten: Sequence[Place] = (),
    ) -> None:
        """`sample` is the share of the units that is read: every score of these is measured, every image fetched.

        `forgotten` are folders of tombstones of other corpora. What this one took back is left out as well; but that is
        in no unit's id, because `obelics forget` has brought the units that were done into line.
        """
        self.folder, self.config, self.runner = folder, config, runner
        self._sample = sample
        self._dedup = Deduplication(folder, config.dedup, runner, earlier) if config.dedup.enabled else None
        self._notes: dict[str, Any] = {}  # of what was extracted, for the manifest
        self.ledgers: dict[str, Ledger] = {}  # the run's: records, documents, images, urls
        others = tombstones_in(forgotten, config.dedup)
        self._forgotten_elsewhere = others.digest if others is not None else ""
        self._forgotten = tombstones_in([folder.path / FORGOTTEN_FOLDER, *forgotten], config.dedup)

    @functools.cached_property
    def opt_outs(self) -> OptOuts:
        """The opt-out lists of the config, ready to be asked. Raises UserError for one that is not to be had."""
        return prepare(self.config.consent.lists, self.folder.opt_out_lists, self.config.reading.storage_options)

    @functools.cached_property
    def robots(self) -> RobotsCaptures | None:
        """The captures of robots.txt that the config names. Raises UserError where they cannot be read."""
        return captures_of(self.config.consent.crawl, self.config.reading, self.folder.robots_captures)

    def extract(self, sources: Inputs) -> list[Manifest]:
        """WARC ranges to documents."""
        tasks = plan_ranges(sources, self.config.reading)
        if self._sample is not None:
            tasks = sampled(tasks, self._sample)
        self._forget_changed(sources, tasks)
        for line in self.opt_outs.lines():
            self.runner.say(line)
        units = extract_units(
            tasks, self.config, self._sample is not None, self.opt_outs, self.robots, self._forgotten_elsewhere
        )
        work = functools.partial(
            extract_unit,
            folder=self.folder.extract,
            config=self.config,
            opt_outs=self.opt_outs,
            robots=self.robots,
            forgotten=self._forgotten,
        )
        manifests = self.runner.map("extract", work, units, self.folder.extract)
        self.ledgers = dict(self.runner.ledgers["extract"])
        lists = read_lists(self.config.blocklists, self.config.fetch) | self.opt_outs.read_lists()
        if lists:
            self._notes["lists"] = lists
        if self.config.personal_data.enabled:
            self._notes["personal_data"] = total(m.notes["personal_data"] for m in manifests)
        sweep(self.folder.extract, manifests)
        return manifests

    def _forget_changed(self, sources: Inputs, tasks: Sequence[ReadTask]) -> None:
        """A file that was replaced under its old name is read anew, though its units have their old ids."""
        versions = {s.name: s.version for s in sources.warcs} | {s.name: s.version for s in sources.pointers}
        changed = self.folder.changed_inputs(versions)
        for task in tasks:
            if task.name in changed:
                folder = self.folder.extract
                remove(manifest_path(folder, name) for name in unit_names(folder, task.label))

    def dedup(self, extracted: Sequence[Manifest]) -> Documents:
        """Groups of duplicates are found; what repeats over the corpus is dropped from documents."""
        if self._dedup is None:
            sweep(self.folder.dedup, [])
            return Documents(extracted, self.folder.extract)
        self._dedup.compare(extracted)
        decide = (
            functools.partial(_decide, config=self.config, everything=self._sample is not None)
            if self.config.dedup.measure_again
            else lack
        )
        return Documents(self._dedup.drop_repeated(extracted, decide), self.folder.dedup)

    def site(self, extracted: Sequence[Manifest], documents: Documents) -> Documents:
        """What the pages of a site say together of each of them; nothing where the config asks for nothing."""
        if not self.config.site.active:
            sweep(self.folder.site, [])
            return documents
        evidence = SiteEvidence(self.folder, self.config, self.runner, self._dedup)
        return Documents(evidence.join(extracted, documents.units, documents.folder), self.folder.site)

    def consent(self, documents: Documents, retry: Sequence[str] = (), asked: Place | None = None) -> Documents:
        """The documents without those, and without the images, that an opt-out service names; the same without one.

        Where `asked` is given, the answers that are committed there are all that is known, and nobody is asked.
        """
        service, runner = self.config.consent.service, self.runner
        if service is None:
            sweep(self.folder.consent, [])
            return documents
        folder = self.folder.exchange / "consent-questions"
        work = functools.partial(question_unit, folder=folder, document_folder=documents.folder, config=service)
        questions = map_all(runner, "questions", work, question_units(documents.units, service), folder, "consent")
        sweep(folder, questions)
        dealt = deal(runner, self.folder.exchange / "consent-dealt", sources_of(questions, folder), "bucket")
        folder = self.folder.consent_answers
        ask = functools.partial(answer_unit, folder=folder, question_folder=dealt.folder, config=service, asked=asked)
        again = bool({"retryable", UNANSWERED} & set(retry))
        answered = runner.map_here("opt-outs", ask, answer_units(dealt, folder, service, again), folder, "consent")
        answers = deal(runner, self.folder.exchange / "consent-answers", sources_of(answered, folder), "partition")
        obey = functools.partial(
            obey_unit,
            folder=self.folder.consent,
            document_folder=documents.folder,
            answer_folder=answers.folder,
            config=service,
        )
        units = obey_units(documents.units, answers, service)
        obeyed = map_all(runner, "consent", obey, units, self.folder.consent, "consent")
        sweep(self.folder.consent, obeyed)
        return Documents(obeyed, self.folder.consent)

    def fetch(self, extracted: Sequence[Manifest], documents: Documents, retry: Sequence[str]) -> Dealt:
        """Image URLs of the kept documents to images in the store; the answers by unit of documents.

        Of a sample, those of all that was extracted as well, so that what is dropped can be shown and weighed.
        """
        folder, config = self.folder.fetch, self.config.fetch
        if not config.enabled:
            return Dealt(folder)
        requests = self._requests(documents)
        if self._sample is not None:
            requests += self._requests(Documents(extracted, self.folder.extract), everything=True)
        sweep(self.folder.requests, requests)
        dealt = deal(
            self.runner, self.folder.exchange / "requests", sources_of(requests, self.folder.requests), "bucket"
        )
        safety = located_lists(self.config.image_safety)
        lists = prepare_hash_lists(safety.known_abuse)
        treated = treated_as(safety, "" if lists is None else lists.identity)
        forgotten = self._forgotten_elsewhere
        plan = folder / "plans" / plan_name(dealt.digests, config, treated, forgotten)
        if retry:
            plan.unlink(missing_ok=True)
        planned = remember(plan, lambda: fetch_units(dealt, folder, config, retry, treated, forgotten))
        units = [fetch_unit_of(value) for value in planned]
        work = functools.partial(
            fetch_unit,
            folder=folder,
            request_folder=dealt.folder,
            images=self.folder.images,
            config=config,
            safety=safety,
            document_folders=[documents.folder, self.folder.extract],
            forgotten=self._forgotten,
        )
        fetched = self.runner.map("fetch", work, units, folder)
        if len(fetched) == len(units) and any(m.notes.get("superseded") for m in fetched):
            dropped = folder / "plans" / f"{digest([m.unit for m in fetched])}.dropped.json"
            remember(dropped, lambda: drop_unnamed(folder, ImageStore(self.folder.images)))
        answers = sources_of(fetched, folder, "answers")
        return deal(self.runner, self.folder.exchange / "answers", answers, "partition")

    def _requests(self, documents: Documents, everything: bool = False) -> list[Manifest]:
        """Which URLs to ask for; what a rule refuses by its URL alone is never asked."""
        rules, folder = self.config.images, self.folder.requests
        work = functools.partial(
            request_unit,
            folder=folder,
            document_folder=documents.folder,
            buckets=self.config.fetch.buckets,
            url_reason=functools.partial(_url_reason, config=rules, opt_outs=self.opt_outs),
        )
        lists = self.opt_outs.identity("images")
        refused = [rules.banned_words, rules.banned_as_substrings, *([lists] if lists else [])]
        units = request_units(documents.units, self.config.fetch, refused, everything)
        return self.runner.map("requests", work, units, folder, part_of="fetch")

    def dedup_images(self, documents: Documents, answers: Dealt) -> Dealt:
        """Which images look the same in too many documents, by extracted unit."""
        if self._dedup is None:
            return Dealt(answers.folder)
        return self._dedup.looks(documents.units, documents.folder, answers, _read_looks)

    def score(self, documents: Documents) -> Documents:
        """Models look at the documents with their images, and bounds decide; the same documents where none is named."""
        columns = model_columns(self.config.models)
        if not columns:
            sweep(self.folder.scored, [])
            return documents
        return self.decide(documents, self._measure(documents, columns))

    def decide(self, documents: Documents, measured: Sequence[Manifest]) -> Documents:
        """The documents with what models measured of them, less those that are out of the bounds."""
        columns, folder = model_columns(self.config.models), self.folder.scored
        bounds, screen = self.config.score.document, Screen.of(self.config)
        work = functools.partial(
            decide_unit,
            folder=folder,
            document_folder=documents.folder,
            score_folder=self.folder.scores,
            columns=columns,
            bounds=bounds,
            screen=screen,
        )
        units = decide_units(documents.units, measured, bounds, screen)
        decided = self.runner.map("decide", work, units, folder, part_of="score")
        sweep(folder, decided)
        return Documents(decided, folder)

    def _measure(self, documents: Documents, columns: Sequence[str]) -> list[Manifest]:
        config, folder = self.config.models, self.folder.scores
        make = LoadDocumentModels(located(config).model_dump_json(), RunImages(self.folder.images))
        work = functools.partial(measure_unit, folder=folder, document_folder=documents.folder, columns=columns)
        units = measure_units(documents.units, models_identity(config))
        measured = self.runner.map_models("score", make, work, units, folder)
        sweep(folder, measured)
        return measured

    def shard(self, documents: Documents) -> None:
        """Documents with their images to tars, index and manifest."""
        settled = self.settle(documents)
        scores = [*score_names(self.config), *self._site_columns(), *model_columns(self.config.models)]
        left_out = self._left_out(settled)
        units = plan_tars(documents.units, documents.folder, self.config, scores, left_out)
        self._withdraw(units)
        work = functools.partial(
            tar_unit,
            folder=self.folder.shards,
            assembled_folder=documents.folder,
            read_image=ImageStore(self.folder.images).read,
        )
        tars = self.runner.map("shard", work, units, self.folder.shards)
        self._account(tars)
        self._publish(tars, scores)

    def settle(self, documents: Documents) -> list[Manifest]:
        """Of each group of duplicates the first that passed everything is kept; what is left out, by unit."""
        if self._dedup is None:
            remove([self.folder.duplicates])
            return []
        return self._dedup.settle(documents.units, documents.folder)

    def _site_columns(self) -> list[str]:
        return list(self.config.site.columns) if self.config.site.active else []

    def _left_out(self, settled: Sequence[Manifest]) -> dict[str, list[int]]:
        """The rows of duplicates by assembled unit."""
        folder = self.folder.exchange / "settled"
        some = [m for m in settled if m.notes["rows"]["data"]]
        tables = read_tables([m.path(folder, "data") for m in some], ["row"])
        return {m.notes["documents"]: table["row"].to_pylist() for m, table in zip(some, tables, strict=True)}

    def assemble(self, documents: Documents, answers: Dealt, overused: Dealt) -> Documents:
        """Documents meet their images, and are decided."""
        folder = self.folder.assembled
        known = self._forgotten_elsewhere
        units = assemble_units(documents.units, answers, overused, self.config, self.opt_outs, known)
        work = functools.partial(
            assemble_unit,
            folder=folder,
            document_folder=documents.folder,
            config=self.config,
            read_answers=functools.partial(
                _read_answers, answer_folder=answers.folder, overused_folder=overused.folder
            ),
            score=paragraph_score,
            opt_outs=self.opt_outs,
            forgotten=self._forgotten,
        )
        assembled = self.runner.map("assemble", work, units, folder)
        sweep(folder, assembled)
        return Documents(assembled, folder)

    def _withdraw(self, units: Sequence[Unit]) -> None:
        """Take back what an earlier run published and this one will not: names of tars are used again."""
        folder = self.folder.shards
        standing = list(read_manifests(folder, [unit.name for unit in units]).values())
        if len(standing) < len(units):
            remove([self.folder.manifest, self.folder.index])
        sweep(folder, standing)

    def _account(self, tars: Sequence[Manifest]) -> None:
        """The run's ledgers. What units that failed held is counted as failed; nothing else may be missing."""
        ledgers = self.runner.ledgers
        documents, images = Ledger("documents"), Ledger("images")
        documents.add(ledgers["extract"].get("documents", Ledger("documents")))
        images.add(ledgers["assemble"].get("images", Ledger("images")))
        for stage in ("dedup", "site", "consent", "assemble", "decide", "settled"):
            if stage in ledgers:
                entered = ledgers[stage].get("documents", Ledger("documents"))
                self._carry(documents, entered.entered, STAGE_OF.get(stage, stage))
                documents.kept = entered.kept
                documents.dropped.update(entered.dropped)
        for stage in ("decide", "settled"):
            if stage in ledgers:
                entered = ledgers[stage].get("images", Ledger("images"))
                self._carry(images, entered.entered, STAGE_OF.get(stage, stage))
                images.kept = entered.kept
                images.dropped.update(entered.dropped)
                images.failed.update(entered.failed)
        self._carry(documents, sum(m.notes["documents"] for m in tars), "shard")
        self.ledgers = {
            "records": ledgers["extract"].get("records", Ledger("records")),
            "documents": documents,
            "images": images,
            "urls": ledgers.get("fetch", {}).get("urls", Ledger("urls")),
        }

    def _carry(self, ledger: Ledger, arrived: int, stage: str) -> None:
        """What was kept and did not arrive at a stage failed there, if a unit of it did."""
        missing = ledger.kept - arrived
        ledger.kept = arrived
        if missing and any(STAGE_OF.get(f["stage"], f["stage"]) == stage for f in self.runner.failures):
            ledger.failed[f"{stage}_unit_failed"] += missing

    def lost(self) -> list[str]:
        """Ledgers that do not balance, each as a line."""
        return [f"{noun}: {ledger.to_json()}" for noun, ledger in self.ledgers.items() if not ledger.balanced()]

    def _publish(self, tars: Sequence[Manifest], scores: Sequence[str]) -> None:
        """Write the index and, last of all, the manifest that makes the folder a finished run."""
        notes: dict[str, Any] = {"failed_units": sorted(self.runner.failures, key=str)} | self._notes
        if self._sample is not None:
            notes["sample"] = self._sample
        if size_of(self.folder.index) is None:
            remove([self.folder.manifest])
            with draft(self.folder.index) as path:
                merge_indexes([m.path(self.folder.shards, "index") for m in tars if m.files], path, scores)
        manifest = RunManifest(
            shards=shard_entries(tars),
            index_sha256=file_sha256(self.folder.index),
            index_bytes=size_of(self.folder.index) or 0,
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


def _decide(document: Document, config: RunConfig, everything: bool) -> None:
    measurer(config.model_dump_json()).measure_again(document, everything)


def _url_reason(url: str, config: ImageRulesConfig, opt_outs: OptOuts) -> str | None:
    return opt_outs.image_reason(url) or url_reason(url, config)


def _read_answers(
    answers: Sequence[str], overused: Sequence[str], *, answer_folder: Place, overused_folder: Place
) -> dict[str, FetchResult]:
    """What the fetch stage knows of each URL; an image that looks like too many others is one that was dropped."""
    first = verdicts([read_table(overused_folder / name) for name in overused], LOOK)
    results = (r for name in answers for r in results_from_table(read_table(answer_folder / name)))
    return {result.url: _without_overused(result, first) for result in results}


def _without_overused(result: FetchResult, first: Mapping[bytes, bytes]) -> FetchResult:
    of = first.get(look_key(result.look)) if result.look is not None else None
    return result if of is None else replace(result, status="dropped", reason=OVERUSED_LOOK, of=of.hex())


def _read_looks(paths: Sequence[Place]) -> dict[str, str]:
    results = (result for path in paths for result in results_from_table(read_table(path)))
    return {result.url: result.look for result in results if result.look is not None}
