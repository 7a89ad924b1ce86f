"""The steps of the stage `site` in their order: evidence is counted, added up over the corpus, and joined back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Manifest, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.engine import Work
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.engines.shuffle import map_all, partition_by, shuffle, sources_of
from obelics_pipeline.stages.dedup import judge
from obelics_pipeline.stages.dedup.deduplication import Deduplication
from obelics_pipeline.stages.site import apply, counting, total
from obelics_pipeline.stages.site.columns import measured_score
from obelics_pipeline.stages.site.keys import keys_unit
from obelics_pipeline.stages.site.sharing import share

STAGE = "site"
SHARED_FOLDER = "site-shared-by-unit"  # of a run's `shuffled`


class SiteEvidence:
    """The evidence of the sites of this run's documents. `dedup` says which are copies; None if dedup is off."""

    def __init__(self, folder: RunFolder, config: RunConfig, runner: StageRunner, dedup: Deduplication | None) -> None:
        self._run, self._config, self._runner, self._dedup = folder, config, runner, dedup

    def _folder(self, name: str) -> Location:
        return self._run.shuffled / f"site-{name}"

    def join(
        self, extracted: Sequence[Manifest], documents: Sequence[Manifest], folder: Location, out: Location
    ) -> Sequence[Manifest]:
        """The units of the stage, one for each of `documents`, which lie in `folder` and are in the order of
        `extracted`; they are written to `out`.
        """
        keys = self._keys(documents, folder)
        of_unit, sites = self._shared(keys)
        evidence = self._evidence(extracted, documents, folder, self._groups(documents), keys, of_unit)
        rows = sources_of(evidence, self._folder("evidence"))
        sums = shuffle(self._runner, self._folder("sums"), rows, "bucket", total.total, None)
        totals = partition_by(self._runner, self._folder("totals"), sums.sources("data"), "partition")
        units = []
        for m, e in zip(documents, evidence, strict=True):
            partition = e.notes["partition"]
            read = [m.files["data"]["sha256"], e.files["own"]["sha256"], totals.digest(partition)]
            id_ = digest(code_of(apply.__name__), m.unit, read, sites, self._rules())
            payload = {"documents": m.unit, "evidence": e.unit, "totals": totals.names(partition), "sites": sites}
            payload["shared"] = [f"{of_unit.folder.name}/{name}" for name in of_unit.names(partition)]
            units.append(Unit(STAGE, id_, m.unit.rpartition("-")[0], payload | {"partition": partition}))
        work: Work = partial(
            apply.site_unit,
            folder=out,
            document_folder=folder,
            evidence_folder=self._folder("evidence"),
            total_folder=totals.folder,
            config=self._config,
        )
        return self._map(STAGE, work, units, out)

    def _groups(self, documents: Sequence[Manifest]) -> Partitions:
        """The groups of near-duplicate texts that are of two pages or more, by partition."""
        folder, config = self._folder("groups"), self._config.dedup
        if not self._compares:
            return Partitions(self._folder("several"))
        assert self._dedup is not None
        dedup = self._dedup
        asked = [code_of(counting.__name__), config.buckets]
        units = [dedup.unit_on(m.notes["partition"], "site-groups", asked, {}) for m in documents]
        work: Work = partial(
            counting.groups_unit,
            folder=folder,
            candidate_folder=dedup.candidate_folder,
            member_folder=dedup.member_folder,
            buckets=config.buckets,
        )
        counted = self._map("site-groups", work, units, folder)
        reduce = partial(judge.limit, limits=counting.LIMITS)
        settings = dict(counting.LIMITS)
        several = shuffle(self._runner, self._folder("limits"), sources_of(counted, folder), "bucket", reduce, settings)
        return partition_by(self._runner, self._folder("several"), several.sources("data"), "partition")

    def _keys(self, documents: Sequence[Manifest], document_folder: Location) -> Sequence[Manifest]:
        """The keys of the documents of each unit; none where near-duplicates are not known: they would share all."""
        folder, config = self._folder("keys"), self._config.dedup
        if not self._compares:
            return []
        assert self._dedup is not None
        lists = [version("publicsuffixlist"), version("stopwordsiso")]
        asked = [code_of(keys_unit.__module__), *lists, config.buckets]
        units = [
            self._dedup.unit_on(
                m.notes["partition"], "site-keys", [*asked, m.unit, m.files["data"]["sha256"]], {"documents": m.unit}
            )
            for m in documents
        ]
        work: Work = partial(
            keys_unit,
            folder=folder,
            document_folder=document_folder,
            candidate_folder=self._dedup.candidate_folder,
            member_folder=self._dedup.member_folder,
            buckets=config.buckets,
        )
        return self._map("site-keys", work, units, folder)

    def _shared(self, keys: Sequence[Manifest]) -> tuple[Partitions, int]:
        """What keys are shared, by partition, and how many sites there are."""
        if not keys:
            return Partitions(self._run.shuffled / SHARED_FOLDER), 0
        rows = sources_of(keys, self._folder("keys"))
        shared = shuffle(self._runner, self._folder("shared"), rows, "bucket", share, None)
        by_unit = partition_by(self._runner, self._run.shuffled / SHARED_FOLDER, shared.sources("data"), "partition")
        return by_unit, sum(group.notes["sites"] for group in shared.groups.values())

    @property
    def _compares(self) -> bool:
        """Whether near-duplicate texts are known."""
        return self._dedup is not None and self._config.dedup.text.enabled

    def _evidence(
        self,
        extracted: Sequence[Manifest],
        documents: Sequence[Manifest],
        folder: Location,
        groups: Partitions,
        keys: Sequence[Manifest],
        shared: Partitions,
    ) -> Sequence[Manifest]:
        own, dedup, score = self._folder("evidence"), self._dedup, measured_score(self._config)
        keys_of = {m.notes["partition"]: m.unit for m in keys}
        buckets, units = self._config.dedup.buckets, []
        for x, m in zip(extracted, documents, strict=True):
            partition = m.notes.get("partition", m.unit)
            read = [x.unit, x.files["data"]["sha256"], m.unit, m.files["data"]["sha256"], groups.digest(partition)]
            settings = [code_of(counting.__name__), version("publicsuffixlist"), *read, score, buckets]
            payload = {"documents": m.unit, "extracted": x.unit, "groups": groups.names(partition)}
            if partition in keys_of:
                own_keys = keys_of[partition]
                payload |= {"keys": own_keys, "shared": shared.names(partition)}
                settings += [own_keys, shared.digest(partition)]
            if dedup is not None:
                units.append(dedup.unit_on(partition, "site-evidence", settings, payload))
            else:
                id_, label = digest("site-evidence", settings), m.unit.rpartition("-")[0]
                units.append(Unit("site-evidence", id_, label, payload | {"partition": partition}))
        work: Work = partial(
            counting.evidence_unit,
            folder=own,
            document_folder=folder,
            extract_folder=self._run.extract,
            candidate_folder=dedup.candidate_folder if dedup is not None else self._run.shuffled,
            member_folder=dedup.member_folder if dedup is not None else self._run.shuffled,
            group_folder=groups.folder,
            key_folder=self._folder("keys"),
            shared_folder=shared.folder,
            score=score,
            buckets=buckets,
        )
        return self._map("site-evidence", work, units, own)

    def _rules(self) -> list[Any]:
        """The settings that the columns and verdicts of a document depend on, beside the sums."""
        dedup = self._config.dedup
        compared = [dedup.enabled, dedup.text.enabled, dedup.paragraphs.min_count is not None]
        return [measured_score(self._config), self._config.site.model_dump(mode="json", exclude={"enabled"}), compared]

    def _map(self, stage: str, work: Work, units: Sequence[Unit], folder: Location) -> Sequence[Manifest]:
        manifests = map_all(self._runner, stage, work, units, folder, STAGE)
        sweep(folder, manifests)
        return manifests
