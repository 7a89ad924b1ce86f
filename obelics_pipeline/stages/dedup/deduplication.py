"""The global steps of a run in their order: before the fetch, after it, and at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Manifest, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.corpus import STEPS, Corpus, write_corpus
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.shards.index import in_groups
from obelics_pipeline.core.storage import Location, draft, read_tables, remove
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.engine import Work
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.engines.shuffle import ShuffleInput, map_all, partition_by, shuffle, sources_of
from obelics_pipeline.stages.dedup import apply, candidates, counting, keepers
from obelics_pipeline.stages.dedup.apply import Decide
from obelics_pipeline.stages.dedup.candidates import candidate_unit, candidate_units
from obelics_pipeline.stages.dedup.judge import contract_turn, first, limit, link
from obelics_pipeline.stages.dedup.uses import limits_of
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.rows.layouts.layout import gives_ids

TURNS = 200  # of bringing edges to their group's first; a chain of n documents needs about 2 log2 n + 2


class Deduplication:
    """Runs the steps that see the whole corpus: that of this run, and of those that it is added to (`earlier`)."""

    def __init__(
        self,
        folder: RunFolder,
        config: DedupConfig,
        runner: StageRunner,
        earlier: Sequence[Corpus] = (),
        rules: Sequence[str] = keepers.RULES,
    ) -> None:
        """`rules` say by what one of several documents is kept, in their order."""
        self._rules = rules
        self._run, self._config, self._runner, self._earlier = folder, config, runner, earlier
        self._generation = max((corpus.generation + 1 for corpus in earlier), default=0)
        self._steps: dict[str, Sequence[Manifest]] = {}
        self._place: dict[str, int] = {}  # of a partition in the candidates
        self._members = Partitions(self._folder("members"))
        self._overused = [Partitions(folder.shuffled), Partitions(folder.shuffled)]  # before the fetch, and after it

    def _sources(self, step: str) -> list[ShuffleInput]:
        """The shuffled rows of a step: this run's, and those of the runs that it is added to."""
        own = sources_of(self._steps[step], self._folder(step))
        return own + [s for corpus in self._earlier for s in sources_of(corpus.manifests(step), corpus.step(step))]

    def _folder(self, name: str) -> Location:
        return self._run.shuffled / name

    def compare(self, extracted: Sequence[Manifest]) -> None:
        """Find the groups of captures of one page, and of nearly the same text."""
        folder, config = self._folder("candidates"), self._config
        work = partial(candidate_unit, folder=folder, extract_folder=self._run.extract, config=config)
        units = candidate_units(extracted, config, self._generation)
        self._steps["candidates"] = self._map("candidates", work, units, folder, "dedup")
        self._place = _places(self._steps["candidates"])
        reduce = partial(link, threshold=config.text.threshold, buckets=config.buckets)
        settings = [config.text.threshold, config.buckets]
        links = shuffle(self._runner, self._folder("links"), self._sources("candidates"), "bucket", reduce, settings)
        members = links.sources("members") + self._contract(links.sources("data"))
        self._members = partition_by(self._runner, self._folder("members"), members, "partition")

    def _contract(self, edges: Sequence[ShuffleInput]) -> list[ShuffleInput]:
        """Bring edges between texts to the first of their group, turn by turn; the members of groups."""
        buckets = self._config.buckets
        for turn in range(TURNS if edges else 0):
            reduce, folder = partial(contract_turn, buckets=buckets, turn=turn), self._folder(f"groups-{turn:03d}")
            turned = shuffle(self._runner, folder, edges, "bucket", reduce, [buckets, turn])
            if not any(group.notes["unsettled"] for group in turned.groups.values()):
                return turned.sources("members")
            edges = turned.sources("data")
        if edges:
            raise RuntimeError(f"groups of near-duplicate texts did not settle in {TURNS} turns; report this as a bug")
        return []

    @property
    def candidate_folder(self) -> Location:
        """Where the pages of each unit are listed (see candidates.PAGES)."""
        return self._folder("candidates")

    @property
    def member_folder(self) -> Location:
        """Where the members of groups are, by partition."""
        return self._members.folder

    def unit_on(self, partition: str, stage: str, settings: Any, payload: Mapping[str, Any]) -> Unit:
        """A unit of another stage on the documents of a partition that needs to know their groups."""
        return self._unit(stage, self._steps["candidates"][self._place[partition]], settings, payload)

    def drop_repeated(self, extracted: Sequence[Manifest], decide: Decide) -> Sequence[Manifest]:
        """Drop what repeats over the corpus from every document; the units of the dedup stage."""
        config, folder = self._config, self._folder("uses")
        work: Work = partial(
            counting.use_unit,
            folder=folder,
            candidate_folder=self._folder("candidates"),
            member_folder=self._members.folder,
            extract_folder=self._run.extract,
            config=config,
        )
        rules = [config.paragraphs.model_dump(mode="json"), config.images.model_dump(mode="json"), config.buckets]
        units = [self._unit("uses", c, [code_of(counting.__name__), rules], {}) for c in self._steps["candidates"]]
        self._steps["uses"] = self._map("uses", work, units, folder, "dedup")
        self._overused[0] = self._limit("limits", self._sources("uses"))
        return self._apply(extracted, self._overused[0], decide)

    def _apply(self, extracted: Sequence[Manifest], overused: Partitions, decide: Decide) -> Sequence[Manifest]:
        config = self._config
        settings = [code_of(apply.__name__), config.paragraphs.model_dump(mode="json"), config.measure_again]
        units = []
        for m in extracted:
            partition = candidates.partition_of(m.unit, self._generation)
            id_ = digest(settings, m.unit, m.files["data"]["sha256"], overused.digest(partition))
            payload = {"extracted": m.unit, "partition": partition, "verdicts": overused.names(partition)}
            units.append(Unit("dedup", id_, m.unit.rpartition("-")[0], payload))
        work = partial(
            apply.dedup_unit,
            folder=self._run.dedup,
            extract_folder=self._run.extract,
            verdict_folder=overused.folder,
            config=config,
            decide=decide,
        )
        return self._map("dedup", work, units, self._run.dedup, "dedup")

    def phashes(
        self,
        documents: Sequence[Manifest],
        document_folder: Location,
        answers: Partitions,
        read_phashes: counting.Phashes,
    ) -> Partitions:
        """Find the images that look the same in too many documents; OVERUSED rows by extracted unit."""
        config, folder = self._config, self._folder("phashes")
        if config.images.phash_max is None or not answers.files:
            return Partitions(self._folder("phash-verdicts"))
        units = []
        for m in documents:
            settings = [code_of(counting.__name__), m.unit, answers.digest(m.unit), config.buckets]
            files = {"documents": m.unit, "answers": answers.names(m.unit)}
            units.append(self.unit_on(m.notes["partition"], "phashes", settings, files))
        work = partial(
            counting.phash_unit,
            folder=folder,
            candidate_folder=self._folder("candidates"),
            member_folder=self._members.folder,
            document_folder=document_folder,
            answer_folder=answers.folder,
            read_phashes=read_phashes,
            config=config,
        )
        self._steps["phashes"] = self._map("phashes", work, units, folder, "dedup-images")
        self._overused[1] = self._limit("phash-limits", self._sources("phashes"))
        return self._overused[1]

    def _limit(self, name: str, uses: Sequence[ShuffleInput]) -> Partitions:
        limits = limits_of(self._config.paragraphs, self._config.images)
        reduce = partial(limit, limits=limits)
        found = shuffle(self._runner, self._folder(name), uses, "bucket", reduce, limits)
        return partition_by(self._runner, self._folder(f"{name}-verdicts"), found.sources("data"), "partition")

    def settle(self, documents: Sequence[Manifest], document_folder: Location) -> Sequence[Manifest]:
        """Keep the first of each group that passed everything else; for each unit a unit, with what is left out."""
        own = self._passed(documents, document_folder)
        again = self._passed_again()
        lost = self._lost(self._rules, own, again)
        self._steps["passed"], self._steps["settled"] = own, self._settled("", own, lost)
        self._list(self._run.duplicates, "settled", self._steps["settled"], keepers.DUPLICATES)
        settled_again, changes = self._settled("-again", again, lost), self._changes()
        if self._earlier:
            self._list(
                self._run.path / "against-duplicates.parquet", "settled-again", settled_again, keepers.DUPLICATES
            )
            self._list(self._run.path / "against-changed.parquet", "changed", changes, apply.CHANGED)
        else:
            remove(self._run.path / name for name in ("against-duplicates.parquet", "against-changed.parquet"))
        write_corpus(self._run, self._config, self._steps, self._generation, self._earlier, document_folder.name)
        return self._steps["settled"]

    def settle_ids(self, documents: Sequence[Manifest], document_folder: Location) -> Sequence[Manifest]:
        """As `settle`, for documents that were not compared: of those with one id the first is kept."""
        folder = self._folder("passed")
        units = []
        for m in documents:
            partition, sha256 = m.notes.get("partition", m.unit), m.files["data"]["sha256"]
            id_ = digest("listed", code_of(keepers.__name__), m.unit, sha256)
            payload = {"documents": m.unit, "partition": partition, "generation": self._generation}
            units.append(Unit("passed", id_, partition.rpartition("-")[0], payload))
        work = partial(keepers.listed_unit, folder=folder, assembled_folder=document_folder)
        listed = self._map("passed", work, units, folder, "shard")
        return self._settled("", listed, self._lost((keepers.ID,), listed, ()))

    def _lost(self, rules: Sequence[str], own: Sequence[Manifest], again: Sequence[Manifest]) -> Partitions:
        """Rule after rule, the documents of which another one is kept; LOST rows by extracted unit."""
        lost = Partitions(self._folder("lost"))
        edges: list[ShuffleInput] = []
        for rule in rules:
            alive = self._alive(rule, "passed", own, lost) + self._alive(rule, "passed-again", again, lost)
            firsts = shuffle(self._runner, self._folder(f"firsts-{rule}"), alive, "bucket", first, None)
            edges += firsts.sources("data")
            lost = partition_by(self._runner, self._folder(f"lost-{rule}"), edges, "partition")
        return lost

    def _settled(self, suffix: str, passed: Sequence[Manifest], lost: Partitions) -> Sequence[Manifest]:
        folder, source = self._folder(f"settled{suffix}"), self._folder(f"passed{suffix}")
        work = partial(keepers.settle_unit, folder=folder, passed_folder=source, lost_folder=lost.folder)
        units = [self._after(p, "settled", lost, {"documents": p.notes["documents"]}) for p in passed]
        return self._map(f"settled{suffix}", work, units, folder, "shard")

    def _passed(self, documents: Sequence[Manifest], document_folder: Location) -> Sequence[Manifest]:
        config, folder = self._config, self._folder("passed")
        rules: Mapping[str, Any] = {
            "image_set": config.image_set.model_dump(mode="json"),
            "url": config.page_url.enabled,
            "text": config.text.enabled,
        }
        units = []
        for m in documents:
            settings = [code_of(keepers.__name__), rules, m.unit, m.files["data"]["sha256"]]
            units.append(self.unit_on(m.notes["partition"], "passed", settings, {"documents": m.unit}))
        work = partial(
            keepers.passed_unit,
            folder=folder,
            candidate_folder=self._folder("candidates"),
            member_folder=self._members.folder,
            assembled_folder=document_folder,
            config=config,
        )
        return self._map("passed", work, units, folder, "shard")

    def _passed_again(self) -> Sequence[Manifest]:
        """The kept documents of the runs that this one is added to, with the groups that they are in now."""
        folder, manifests = self._folder("passed-again"), Packed[Manifest]()
        for corpus in self._earlier:
            compared = corpus.manifests("candidates")
            place, settled = _places(compared), _settled_units(corpus)
            units = []
            for p in corpus.manifests("passed"):
                files = {"passed": p.unit, "settled": settled[p.notes["documents"]]}
                units.append(self._unit("again", compared[place[p.notes["partition"]]], files, p.notes | files))
            work = partial(
                keepers.passed_again_unit,
                folder=folder,
                corpus_folders={step: corpus.step(step) for step in STEPS},
                member_folder=self._members.folder,
            )
            manifests.extend(map_all(self._runner, "passed-again", work, units, folder, "shard"))
        sweep(folder, manifests)
        return manifests

    def _list(self, file: Location, step: str, manifests: Sequence[Manifest], schema: pa.Schema) -> None:
        """Gather a step's rows in one file, for people. Its groups are large: its footer would grow with the units."""
        tables = read_tables([source.path for source in sources_of(manifests, self._folder(step))])
        rows = map(keepers.of_other_ids, tables) if schema is keepers.DUPLICATES else tables
        with draft(file) as path, pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for group in in_groups(rows):
                writer.write_table(group)

    def _changes(self) -> Sequence[Manifest]:
        """Documents of the runs that this one is added to that would lose paragraphs or images by its counts."""
        folder, manifests = self._folder("changed"), Packed[Manifest]()
        for corpus in self._earlier:
            settled, units = _settled_units(corpus), []
            for p in corpus.manifests("passed"):
                partition, documents = p.notes["partition"], p.notes["documents"]
                digests = [partitions.digest(partition) for partitions in self._overused]
                if any(digests):
                    files = {"verdicts": [partitions.names(partition) for partitions in self._overused]}
                    payload = {"documents": documents, "settled": settled[documents], **files}
                    id_ = digest(code_of(apply.__name__), documents, digests)
                    units.append(Unit("changed", id_, partition.rpartition("-")[0], payload))
            work = partial(
                apply.changed_unit,
                folder=folder,
                corpus_folders={"documents": corpus.documents, "settled": corpus.step("settled")},
                verdict_folders=[partitions.folder for partitions in self._overused],
                config=self._config,
            )
            manifests.extend(map_all(self._runner, "changed", work, units, folder, "shard"))
        sweep(folder, manifests)
        return manifests

    def _alive(self, rule: str, step: str, passed: Sequence[Manifest], lost: Partitions) -> list[ShuffleInput]:
        name, buckets = f"alive-{rule}{step.removeprefix('passed')}", self._config.buckets
        folder = self._folder(name)
        units = [self._after(p, "alive", lost, {"rule": rule, "buckets": buckets}) for p in passed]
        work = partial(
            keepers.alive_unit,
            folder=folder,
            passed_folder=self._folder(step),
            lost_folder=lost.folder,
            buckets=buckets,
        )
        return sources_of(self._map("alive", work, units, folder, "shard"), folder)

    def _unit(self, stage: str, candidate: Manifest, settings: Any, payload: Mapping[str, Any]) -> Unit:
        """A unit on the documents of one extracted unit that needs to know their groups."""
        partition = candidate.notes["partition"]
        known = {
            **{key: candidate.notes[key] for key in ("extracted", "partition", "generation")},
            "candidates": candidate.unit,
            "members": self._members.names(partition),
        }
        groups = [candidate.files["pages"]["sha256"], self._members.digest(partition)]
        id_ = digest(stage, candidate.unit, groups, settings)
        return Unit(stage, id_, partition.rpartition("-")[0], known | dict(payload))

    def _after(self, passed: Manifest, stage: str, lost: Partitions, settings: Mapping[str, Any]) -> Unit:
        """A unit on the documents that passed, less those that lost so far."""
        partition = passed.notes["partition"]
        id_ = digest(stage, passed.unit, passed.files["data"]["sha256"], lost.digest(partition), settings)
        payload = {"passed": passed.unit, "partition": partition, "generation": passed.notes["generation"]}
        return Unit(
            stage, id_, partition.rpartition("-")[0], payload | {"lost": lost.names(partition)} | dict(settings)
        )

    def _map(self, stage: str, work: Work, units: Sequence[Unit], folder: Location, part_of: str) -> Sequence[Manifest]:
        manifests = map_all(self._runner, stage, work, units, folder, part_of)
        sweep(folder, manifests)
        return manifests


def _places(candidates: Sequence[Manifest]) -> dict[str, int]:
    """The place of each partition among the units of candidates."""
    return {candidate.notes["partition"]: place for place, candidate in enumerate(candidates)}


def _settled_units(corpus: Corpus) -> dict[str, str]:
    """The units that say what of each unit of documents is left out, by that unit."""
    return {manifest.notes["documents"]: manifest.unit for manifest in corpus.manifests("settled")}


def compares(config: RunConfig) -> bool:
    """Whether documents are compared with each other."""
    return config.dedup.enabled


def settles(config: RunConfig) -> bool:
    """Whether a document may be left out at the end, because another one is kept."""
    return compares(config) or gives_ids(config.reading.layout)


def deduplication_of(job: Job) -> Deduplication:
    """The run's comparison of documents, which later stages go on with."""
    rules = (keepers.ID, *keepers.RULES) if gives_ids(job.config.reading.layout) else keepers.RULES
    return job.shared(
        Deduplication, lambda: Deduplication(job.folder, job.config.dedup, job.runner, job.earlier, rules)
    )
