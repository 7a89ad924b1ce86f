"""Which documents, images and files of a run tombstones are of: looked up in what its stages wrote, nothing changed."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.commit import Manifest, read_manifests, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import CARRIED, PARAGRAPH_SEPARATOR
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.storage import Location, files_below, open_parquet, read_table
from obelics_pipeline.core.tables import kept_rows, read_documents
from obelics_pipeline.forget.edits import mask_of
from obelics_pipeline.forget.pending import ToForget
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.policy.forgotten import is_gone
from obelics_pipeline.policy.tombstones.hash_set import write_hashes
from obelics_pipeline.policy.tombstones.keyed import ID, IMAGE_SET, URL, Keyed
from obelics_pipeline.policy.tombstones.texts import write_texts
from obelics_pipeline.policy.tombstones.tombstones import Tombstones, tombstones_in
from obelics_pipeline.stages.fetch.result import ANSWER_SCHEMA, results_from_table

TEXTS_AT_ONCE = 5_000  # whose signatures are made, and held, together
SRC, SHA256 = "nodes.list.element.src", "nodes.list.element.sha256"


class Finder:
    """Looks through the folder of a run. Tombstones of what it finds are added to `target` as it goes."""

    def __init__(
        self, run: RunFolder, config: RunConfig, keyed: Keyed, folders: Sequence[Location], target: Location
    ) -> None:
        """`folders` are those of the tombstones to look for; `target` is one of them."""
        self._run, self._config, self._keyed = run, config, keyed
        self._folders, self._target = list(folders), target
        self._named = array("q")  # hashes of what the images of all extracted documents are asked for by
        self._carried: set[str] = set()  # what forgotten images are asked for by that came with rows

    def find(self, hashes: bool) -> tuple[ToForget, set[str], set[str]]:
        """What is to go, and what only that used: URLs of pages and images, and files of the image store.

        `hashes` says whether texts and image files are to be looked at as well.
        """
        if hashes:
            self._add_urls_of_files()
        shown, in_shards = self._in_index()
        documents, with_images = self._in_documents(hashes)
        kept = shown if in_shards else self._kept(documents)
        found = documents | shown
        others = self._same_text(kept) - found
        others -= self._published(others)
        found |= others
        self._add(self._keyed.of(ID, doc_id) for doc_id in found)
        urls = self._remember(found, kept | others)
        copies = self._same_images(kept, found)
        edited, too_few = self._edited(with_images - found)
        lone = self._lone_urls(urls, found) | self._lone_carried(found) | self._unnamed_urls()
        files = self._lone_files(lone)
        counts = {"documents": len(shown), "edited": len(edited), "duplicates": len(others)}
        return ToForget(edited, sorted(copies), sorted(too_few), counts), lone, files

    def _tombstones(self) -> Tombstones | None:
        return tombstones_in(self._folders, self._config.dedup)

    def _add(self, hashes: Iterable[bytes]) -> None:
        write_hashes(self._target, hashes)

    def _add_urls_of_files(self) -> None:
        """An address that gave a forgotten file is not asked again."""
        known = self._tombstones()
        if known is None:
            return
        urls: set[str] = set()
        for place in results_below(self._run.path):
            for result in results_from_table(read_table(place)):
                hashes = (result.sha256, result.received_sha256)
                if any(known.sha256(sha256) for sha256 in hashes if sha256 is not None):
                    urls.add(result.url)
                    if result.url.startswith(CARRIED):  # a document has the hash of what was stored, later on
                        urls.add(f"{CARRIED}{result.sha256}")
        self._add(self._keyed.of(URL, normalise(url)) for url in urls)

    def _in_index(self) -> tuple[set[str], bool]:
        """The documents of the shards that are forgotten, and whether there are shards."""
        known, found = self._tombstones(), set[str]()
        index = index_of(self._run.path)
        if index is None:
            return found, False
        if known is None:
            return found, True
        for row in index.rows(["doc_id", "url", "content_sha256"]):
            if known.document(row["doc_id"]) or known.url(row["url"]) or known.sha256(row["content_sha256"]):
                found.add(row["doc_id"])
        return found, True

    def _in_documents(self, texts: bool) -> tuple[set[str], set[str]]:
        """The extracted documents that are forgotten, and those that have a forgotten image."""
        known = self._tombstones()
        found, with_images = set[str](), set[str]()
        if known is None:
            return found, with_images
        wanted = ["doc_id", "general_metadata", SRC, SHA256, *(["texts"] if texts else [])]
        for manifest in self._units(self._run.extract):
            for table in _tables(manifest.path(self._run.extract, "data"), wanted):
                for row in table.drop_columns(["nodes"]).to_pylist():
                    named = known.document(row["doc_id"]) or known.url(_url_of(row))
                    if named or (texts and _has_text(known, row["texts"])):
                        found.add(row["doc_id"])
                nodes = pc.list_flatten(table["nodes"])
                images, carried = (pc.struct_field(nodes, name) for name in ("src", "sha256"))
                self._named.extend(map(hash, images.unique().to_pylist()))
                self._named.extend(map(hash, _keys(carried)))
                by_bytes = mask_of(pc.binary_join_element_wise(CARRIED, carried, ""), known.url)
                forgotten = pc.or_(mask_of(images, known.url), by_bytes)
                self._carried.update(_keys(carried.filter(forgotten)))
                owners = pc.list_parent_indices(table["nodes"]).filter(forgotten)
                with_images.update(table["doc_id"].take(owners).to_pylist())
        return found, with_images

    def _kept(self, documents: set[str]) -> set[str]:
        """The kept documents of a run without shards: those that extraction kept."""
        kept: set[str] = set()
        for manifest in self._units(self._run.extract):
            for _, table in kept_rows(manifest.path(self._run.extract, "data"), ["doc_id"]):
                kept |= documents.intersection(table["doc_id"].to_pylist())
        return kept

    def _same_text(self, kept: set[str]) -> set[str]:
        """The documents with nearly the same text as some that were kept, as dedup found them."""
        config = self._config.dedup
        if not kept or not (config.enabled and config.text.enabled):
            return set()
        speaker_of: dict[str, str] = {}
        candidates = self._run.shuffled / "candidates"
        for manifest in self._units(candidates):
            table = read_table(manifest.path(candidates, "pages"), ["row", "doc", "twin"])
            twins = table.filter(pc.not_equal(table["row"], table["twin"]))
            if twins.num_rows:
                at = pc.index_in(twins["twin"], table["row"].combine_chunks())
                speakers = table["doc"].take(at).to_pylist()
                speaker_of |= {d.hex(): s.hex() for d, s in zip(twins["doc"].to_pylist(), speakers, strict=True)}
        group_of: dict[str, str] = {}
        folder = self._run.shuffled / "members"
        for name in files_below(folder):
            if name.endswith(".parquet"):
                table = read_table(folder / name, ["rule", "doc", "group"])
                table = table.filter(pc.equal(table["rule"], "text"))
                pairs = zip(table["doc"].to_pylist(), table["group"].to_pylist(), strict=True)
                group_of |= {doc.hex(): group.hex() for doc, group in pairs}
        speakers = {speaker_of.get(doc_id, doc_id) for doc_id in kept}
        groups = {group_of.get(doc_id, doc_id) for doc_id in speakers}
        speakers |= groups | {doc for doc, group in group_of.items() if group in groups}
        return speakers | {doc for doc, speaker in speaker_of.items() if speaker in speakers}

    def _published(self, doc_ids: set[str]) -> set[str]:
        """The documents that are in the shards."""
        index = index_of(self._run.path) if doc_ids else None
        if index is None:
            return set()
        return {row["doc_id"] for row in index.rows(["doc_id"]) if row["doc_id"] in doc_ids}

    def _remember(self, found: set[str], kept: set[str]) -> set[str]:
        """Leave tombstones of the texts that were kept; the URLs of all that were found, and of their images."""
        urls: set[str] = set()
        texts: list[str] = []
        for manifest in self._units(self._run.extract) if found else ():
            place = manifest.path(self._run.extract, "data")
            with open_parquet(place) as source:
                for group in range(source.num_row_groups):
                    ids = source.read_row_group(group, columns=["doc_id"])["doc_id"]
                    here = pc.indices_nonzero(
                        pc.is_in(ids, pa.array(sorted(found & set(ids.to_pylist())), pa.string()))
                    )
                    if not len(here):
                        continue
                    columns = ["doc_id", "reason", "general_metadata", "texts", SRC, SHA256]
                    for row in source.read_row_group(group, columns=columns).take(here).to_pylist():
                        urls |= {_url_of(row), *(node["src"] for node in row["nodes"] if node["src"])}
                        self._carried |= {CARRIED + node["sha256"] for node in row["nodes"] if node["sha256"]}
                        if row["doc_id"] in kept and row["reason"] is None:
                            texts.append(_joined(row["texts"]))
                    if len(texts) >= TEXTS_AT_ONCE:
                        write_texts(self._target, self._keyed, self._config.dedup.text, texts)
                        texts = []
        write_texts(self._target, self._keyed, self._config.dedup.text, texts)
        return urls

    def _same_images(self, kept: set[str], found: set[str]) -> set[str]:
        """Documents with the same images as some that were kept; tombstones of these sets of images."""
        config = self._config.dedup
        if not (config.enabled and config.image_set.enabled):
            return set()
        folder, keys = self._run.shuffled / "passed", set[bytes]()
        places = [manifest.path(folder, "data") for manifest in self._units(folder)]
        for place in places:
            for doc, key in _pairs(place, "doc", "image_set"):
                if key is not None and doc.hex() in kept:
                    keys.add(key)
        self._add(self._keyed.of(IMAGE_SET, key) for key in keys)
        same = {doc.hex() for place in places for doc, key in _pairs(place, "doc", "image_set") if key in keys}
        return same - found - self._published(same - found)

    def _edited(self, doc_ids: set[str]) -> tuple[dict[str, int], set[str]]:
        """The documents that stay: how many images each keeps, and which of them have too few left."""
        edited, too_few, known = dict[str, int](), set[str](), self._tombstones()
        if not doc_ids or known is None:
            return edited, too_few
        for folder in (self._run.scored, self._run.assembled):
            for manifest in self._units(folder):
                place = manifest.path(folder, "data")
                here = {row["doc_id"] for row in _rows(place, ["doc_id"])} & doc_ids
                for document in read_documents(place) if here else ():
                    images = document.images()
                    left = [image for image in images if not is_gone(image, known.url)]
                    if document.doc_id in here and len(left) < len(images):
                        edited.setdefault(document.doc_id, len(left))
                        if document.reason is None and len(left) < self._config.images.min_per_document:
                            too_few.add(document.doc_id)
        return edited, too_few

    def _lone_urls(self, urls: set[str], found: set[str]) -> set[str]:
        """Those of the URLs that no other kept document has, neither as its page nor as an image."""
        if not urls:
            return set()
        left, everything = set(urls), bool(self._run.noted().get("sample"))  # whose dropped documents ask for theirs
        images_in = self._run.extract
        for stage in () if everything else stages_in(self._run):
            if stage.documents and not stage.with_images and unit_names(stage.folder(self._run.path)):
                images_in = stage.folder(self._run.path)
        for manifest in self._units(images_in):
            for row in _rows(manifest.path(images_in, "data"), ["doc_id", "reason", "images"]):
                if (row["reason"] is None or everything) and row["doc_id"] not in found:
                    left.difference_update(row["images"])
        for manifest in self._units(self._run.extract):
            for row in _rows(manifest.path(self._run.extract, "data"), ["doc_id", "general_metadata"]):
                if row["doc_id"] not in found:
                    left.discard(_url_of(row))
        return left

    def _lone_carried(self, found: set[str]) -> set[str]:
        """What stands for the addresses of images that came with rows, of those that no other document has."""
        left, known = set(self._carried), self._tombstones()
        for manifest in self._units(self._run.extract) if left else ():
            for row in _rows(manifest.path(self._run.extract, "data"), ["doc_id", SRC, SHA256]):
                for node in row["nodes"] if row["doc_id"] not in found else ():
                    key = f"{CARRIED}{node['sha256']}"
                    if node["sha256"] and known is not None and not (known.url(node["src"]) or known.url(key)):
                        left.discard(key)
        return left

    def _unnamed_urls(self) -> set[str]:
        """URLs that earlier runs in the folder fetched and no document names any more. Their owner cannot be known."""
        named, found = np.unique(np.frombuffer(self._named, np.int64)), set[str]()
        for place in results_below(self._run.fetch) if unit_names(self._run.extract) else ():
            urls = read_table(place, ["url"])["url"].to_pylist()
            known = np.isin(np.fromiter(map(hash, urls), np.int64, len(urls)), named)
            found.update(url for url, is_known in zip(urls, known, strict=True) if not is_known)
        return found

    def _lone_files(self, lone: set[str]) -> set[str]:
        """Files of the image store that only these URLs, and those that are forgotten, gave."""
        known = self._tombstones()
        gone, stays = set[str](), set[str]()
        for place in results_below(self._run.fetch):
            for url, sha256 in _pairs(place, "url", "sha256"):
                if sha256 is not None:
                    forgotten = url in lone or (known is not None and (known.url(url) or known.sha256(sha256)))
                    (gone if forgotten else stays).add(sha256)
        return gone - stays

    def _units(self, folder: Location) -> Iterator[Manifest]:
        """The units of a folder, in the order of their names."""
        for _, manifest in sorted(read_manifests(folder, unit_names(folder)).items()):
            if manifest.files:
                yield manifest


def results_below(folder: Location) -> Iterator[Location]:
    """The files with the results of image URLs."""
    for name in files_below(folder):
        if name.endswith(".parquet") and "/." not in f"/{name}":
            with open_parquet(folder / name) as source:
                is_one = set(source.schema_arrow.names) >= set(ANSWER_SCHEMA.names)
            if is_one:
                yield folder / name


def _tables(place: Location, columns: Sequence[str]) -> Iterator[pa.Table]:
    with open_parquet(place) as source:
        for group in range(source.num_row_groups):
            yield source.read_row_group(group, columns=list(columns)).combine_chunks()


def _rows(place: Location, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for table in _tables(place, columns):
        yield from table.to_pylist()


def _keys(hashes: pa.Array) -> list[str]:
    """What images that came with rows are asked for by: only these have a sha256 before they are fetched."""
    return [CARRIED + sha256 for sha256 in hashes.unique().to_pylist() if sha256 is not None]


def _pairs(place: Location, *columns: str) -> Iterator[tuple[Any, ...]]:
    table = read_table(place, list(columns))
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def _url_of(row: dict[str, Any]) -> str:
    return str(json.loads(row["general_metadata"])["url"])


def _joined(texts: Iterable[str | None]) -> str:
    return PARAGRAPH_SEPARATOR.join(text for text in texts if text is not None)


def _has_text(known: Tombstones, texts: Iterable[str | None]) -> bool:
    return known.sha256(hashlib.sha256(_joined(texts).encode("utf-8", "surrogatepass")).hexdigest())
