"""Which documents, images and files of a run tombstones are of: looked up in what its stages wrote, nothing changed.

The steps follow each other, because each asks for what those before it found; within one, units run side by side.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from obelics_pipeline.core.commit import Manifest, remember, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.storage import files_below, open_parquet, read_table
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.forget import lone, search
from obelics_pipeline.forget.pending import EDITED, ToForget
from obelics_pipeline.forget.place import names_below
from obelics_pipeline.forget.steps import Steps, Work, batches, united
from obelics_pipeline.forget.values import (
    IDS,
    KEYS,
    Values,
    as_bytes,
    keys_in,
    minus,
    packed,
    read_values,
    unpacked,
    write_values,
)
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.policy.tombstones.hash_set import write_hashes
from obelics_pipeline.policy.tombstones.keyed import ID, IMAGE_SET, SIZE
from obelics_pipeline.policy.tombstones.texts import write_texts
from obelics_pipeline.policy.tombstones.tombstones import FOLDER

TEXTS_AT_ONCE = 5_000  # of which a file of tombstones is made
ROWS_AT_ONCE = 131_072  # of the index, in a unit
DOCUMENTS_AT_ONCE = 2  # units of documents in one of a forget


class Finder:
    """Looks through the folder of a run. Tombstones of what it finds are added to the target as it goes."""

    def __init__(self, steps: Steps, config: RunConfig) -> None:
        self._steps, self._place, self._config = steps, steps.place, config
        self._run, self._target = steps.place.run, steps.place.target
        index = index_of(self._run.path)
        self._index = index.names if index is not None else ()

    def find(self, hashes: bool) -> tuple[ToForget, Values, Values]:
        """What is to go, and what only that used: hashes of URLs of pages and images, and of stored images.

        `hashes` says whether texts and image files are to be looked at as well.
        """
        none = np.empty(0, IDS)
        if self._place.tombstones() is None:
            return ToForget(counts=dict.fromkeys(("documents", "edited", "duplicates"), 0)), none, none
        if hashes:
            self._add_urls_of_files()
        shown = self._ids("index", search.in_index, self._pieces("index"))
        results = [f"{self._run.fetch.name}/{name}" for name in _parquet(files_below(self._run.fetch))]
        extracted = unit_names(self._run.extract)
        buckets = lone.buckets_for(len(extracted)) if results and extracted else 0
        documents = self._units("documents", self._run.extract.name, texts=hashes, buckets=buckets)
        seen = self._steps.do("documents", search.in_documents, documents)
        in_shards = bool(self._index)
        kept = shown if in_shards else self._steps.values("documents", seen, "kept")
        gone = united([self._steps.values("documents", seen, "ids"), shown])
        others = minus(self._same_text(kept), gone)
        others = minus(others, self._published("published-texts", others))
        gone = united([gone, others])
        keyed = self._place.keyed()
        write_hashes(self._target, (keyed.of(ID, doc_id) for doc_id in gone.tolist()))
        urls, carried = self._remember(gone, united([kept, others]))
        carried = united([carried, self._steps.values("documents", seen, "carried")])
        copies = self._same_images(kept, gone)
        edited = self._edited(minus(self._steps.values("documents", seen, "with_images"), gone))
        alone = united([*self._lone(urls, carried, gone), self._unnamed(seen, results, buckets)])
        files = self._lone_files(results, alone)
        counts = {"documents": len(shown), "edited": len(edited), "duplicates": len(others)}
        return ToForget(edited, copies, counts), alone, files

    def _units(self, step: str, of: str, /, **payload: object) -> list[Unit]:
        """Units of a step that look at the units of a folder of documents."""
        return batches(step, unit_names(self._run.path / of), DOCUMENTS_AT_ONCE, **payload)

    def _pieces(self, step: str, **payload: object) -> list[Unit]:
        """Units of a step that look at pieces of the index."""
        units = list[Unit]()
        for name in self._index:
            with open_parquet(self._run.path / name) as source:
                rows = source.metadata.num_rows
            for start in range(0, rows, ROWS_AT_ONCE):
                piece = {"name": name, "start": start, "stop": min(start + ROWS_AT_ONCE, rows), **payload}
                units.append(Unit(step, digest(step, piece), f"{len(units):07d}", piece))
        return units

    def _ids(self, step: str, work: Work, units: list[Unit], role: str = "ids") -> Values:
        return self._steps.values(step, self._steps.do(step, work, units), role)

    def _set(self, name: str, values: Values) -> str:
        """Put a set where units find it; its name."""
        return str(write_values(self._place.work, name, values).name)

    def _add_urls_of_files(self) -> None:
        """An address that gave a forgotten file is not asked again."""
        names = _parquet(names_below(self._run.path, {self._run.images.name, self._run.shards.name, FOLDER}))
        urls = self._ids("files", search.urls_of_files, batches("files", names), "urls")
        write_hashes(self._target, [as_bytes(urls)])

    def _same_text(self, kept: Values) -> Values:
        """The documents with nearly the same text as some that were kept, as dedup found them.

        A document of a unit that has the text of an earlier one is spoken for by that; speakers are in groups.
        """
        config = self._config.dedup
        if not kept.size or not (config.enabled and config.text.enabled):
            return np.empty(0, IDS)
        docs = packed(kept)
        spoken, by = self._pairs("twins-of-kept", "twins", docs, "doc")
        speakers = united([minus(docs, spoken), by])
        grouped, groups = self._pairs("groups-of-kept", "members", speakers, "doc")
        groups = united([minus(speakers, grouped), groups])
        speakers = united([speakers, groups, self._pairs("in-groups", "members", groups, "group")[0]])
        return unpacked(united([speakers, self._pairs("spoken-for", "twins", speakers, "speaker")[0]]))

    def _pairs(self, step: str, kind: str, wanted: Values, by: str) -> tuple[Values, Values]:
        """Documents, and who speaks for them or which groups they are in: those of which one side is in a set."""
        told = {"set": self._set(step, wanted), "by": by}
        if kind == "twins":
            units = batches(step, unit_names(self._run.shuffled / "candidates"), **told)
            done = self._steps.do(step, search.twins, units)
            return self._steps.values(step, done, "docs"), self._steps.values(step, done, "speakers")
        folder = self._run.shuffled / "members"
        names = [f"{self._run.shuffled.name}/members/{name}" for name in _parquet(files_below(folder))]
        done = self._steps.do(step, search.members, batches(step, names, **told))
        return self._steps.values(step, done, "docs"), self._steps.values(step, done, "groups")

    def _published(self, step: str, ids: Values) -> Values:
        """Those of some documents that are in the shards."""
        if not ids.size:
            return ids
        return self._ids(step, search.published, self._pieces(step, set=self._set(step, ids)))

    def _remember(self, gone: Values, kept: Values) -> tuple[Values, Values]:
        """Leave tombstones of the texts that were kept; the addresses of all that were found, and of their images."""
        none = np.empty(0, KEYS)
        if not gone.size:
            return none, none
        sets = {"set": self._set("found", gone), "kept": self._set("texts", kept)}
        done = self._steps.do("found", search.of_found, self._units("found", self._run.extract.name, **sets))
        self._write_texts(done)
        return self._steps.values("found", done, "urls"), self._steps.values("found", done, "carried")

    def _write_texts(self, done: list[Manifest]) -> None:
        """Tombstones of texts, some thousand in a file. A file ends with a row group of documents."""
        texts, n, at = dict[bytes, tuple[bytes, bytes]](), 0, None
        for place in self._steps.files("found", done, "rows"):
            for row in read_table(place).to_pylist():
                if at != (row["unit"], row["group"]) and n >= TEXTS_AT_ONCE:
                    write_texts(self._target, self._config.dedup.text, texts.values())
                    texts, n = {}, 0
                at, n = (row["unit"], row["group"]), n + 1
                if row["bands"] is not None:
                    texts[row["text"]] = row["bands"], row["sketch"]
        write_texts(self._target, self._config.dedup.text, texts.values())

    def _same_images(self, kept: Values, gone: Values) -> Values:
        """Documents with the same images as some that were kept; tombstones of these sets of images."""
        config = self._config.dedup
        none = np.empty(0, IDS)
        if not kept.size or not (config.enabled and config.image_set.enabled):
            return none
        passed = unit_names(self._run.shuffled / "passed")
        asked = batches("image-sets", passed, set=self._set("image-sets", packed(kept)))
        keys = self._ids("image-sets", search.image_sets, asked, "keys")
        if not keys.size:
            return none
        keyed, data = self._place.keyed(), as_bytes(keys)
        write_hashes(self._target, (keyed.of(IMAGE_SET, data[i : i + SIZE]) for i in range(0, len(data), SIZE)))
        asked = batches("same-images", passed, set=self._set("same-images", keys))
        same = minus(self._ids("same-images", search.of_image_sets, asked), gone)
        return minus(same, self._published("published-images", same))

    def _edited(self, ids: Values) -> Values:
        """The documents that stay and lose images, as `ToForget` has them."""
        if not ids.size:
            return np.empty(0, EDITED)
        name, found = self._set("with-images", ids), list[Values]()
        for folder in (self._run.scored.name, self._run.assembled.name):
            step = f"edited-{folder}"
            done = self._steps.do(step, search.edited, self._units(step, folder, set=name, folder=folder))
            found += [np.asarray(read_values(place)) for place in self._steps.files(step, done, "edited")]
        read_values.cache_clear()
        rows = np.concatenate(found) if found else np.empty(0, EDITED)
        edited = rows[np.unique(rows["doc"], return_index=True)[1]]  # the first of two: with what models measured
        edited["few"] = np.isin(edited["doc"], rows["doc"][rows["few"]])
        return edited

    def _lone(self, urls: Values, carried: Values, gone: Values) -> tuple[Values, Values]:
        """Those of the addresses that no other kept document has, neither as its page nor as an image; and of those
        that stand for images that came with rows.
        """
        if not urls.size and not carried.size:
            return urls, carried
        everything = bool(self._run.noted().get("sample"))  # whose dropped documents ask for theirs
        images_in = self._run.extract.name
        for stage in () if everything else stages_in(self._run):
            if stage.documents and not stage.with_images and unit_names(stage.folder(self._run.path)):
                images_in = stage.documents
        sets = {"set": self._set("addresses", urls), "found": self._set("found", gone)}
        used = list[Values]()
        if urls.size:
            units = self._units("used-images", images_in, folder=images_in, everything=everything, **sets)
            used.append(self._ids("used-images", search.used_images, units, "urls"))
        sets["carried"] = self._set("carried", carried) if carried.size else ""
        done = self._steps.do("used", search.used_by_others, self._units("used", self._run.extract.name, **sets))
        used.append(self._steps.values("used", done, "urls"))
        return minus(urls, united(used)), minus(carried, self._steps.values("used", done, "carried"))

    def _unnamed(self, seen: list[Manifest], results: list[str], buckets: int) -> Values:
        """Addresses that earlier runs in the folder fetched and no document names any more. Their owner cannot be
        known.
        """
        if not buckets:
            return np.empty(0, KEYS)

        def compare() -> str:
            done = self._steps.do("fetched", lone.fetched, batches("fetched", results, buckets=buckets))
            sources = [*self._steps.files("documents", seen, "rows"), *self._steps.files("fetched", done, "rows")]
            output = self._place.work / "unnamed"
            groups = self._steps.engine.shuffle(sources, lone.BUCKET, lone.unnamed, output) if sources else {}
            pieces = [group.pieces["lone"] for group in groups.values()]
            tables = [read_table(output / piece.name) for piece in pieces if piece.rows]
            return self._set("unnamed", united([keys_in(table["key"]) for table in tables]))

        return np.asarray(read_values(self._place.work / remember(self._place.work / "unnamed.json", compare)))

    def _lone_files(self, results: list[str], alone: Values) -> Values:
        """Stored images that only these addresses, and those that are forgotten, gave."""
        told = {"lone": self._set("lone", alone)}
        gone = self._ids("gone-files", lone.gone_files, batches("gone-files", results, **told), "files")
        if not gone.size:
            return gone
        told["gone"] = self._set("gone-files", gone)
        asked = batches("staying-files", results, **told)
        return minus(gone, self._ids("staying-files", lone.staying_files, asked, "files"))


def _parquet(names: Iterable[str]) -> list[str]:
    """Those of some names that are of Parquet files, without those that begin with a dot."""
    return [name for name in names if name.endswith(".parquet") and "/." not in f"/{name}"]
