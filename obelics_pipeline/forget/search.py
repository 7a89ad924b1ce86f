"""What units find of tombstones in what the stages of a run wrote. Nothing of the run is changed.

Each function does one unit, whose payload has the names of what it looks at, and commits sets: ids of documents, and
keyed hashes (`LONE`) of addresses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.document import CARRIED, PARAGRAPH_SEPARATOR
from obelics_pipeline.core.storage import Location, open_parquet, read_table
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.forget.edits import mask_of
from obelics_pipeline.forget.lone import LONE, dealt, results
from obelics_pipeline.forget.pending import EDITED
from obelics_pipeline.forget.place import Place
from obelics_pipeline.forget.steps import found, united
from obelics_pipeline.forget.values import (
    IDS,
    Values,
    among,
    as_column,
    ids_in,
    keys_in,
    keys_of,
    read_values,
    unpacked,
)
from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.policy.forgotten import is_gone
from obelics_pipeline.policy.tombstones.keyed import URL, Keyed
from obelics_pipeline.policy.tombstones.texts import signed_texts
from obelics_pipeline.policy.tombstones.tombstones import Tombstones
from obelics_pipeline.stages.fetch.result import results_from_table

SRC, SHA256 = "nodes.list.element.src", "nodes.list.element.sha256"
TEXT = b"same text"  # a kind of hash: it tells equal texts from others, until tombstones are written


def urls_of_files(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The addresses that gave forgotten files, as tombstones of addresses: they are not asked again."""
    known, urls = place.known(), set[str]()
    for where in results(place.run.path, unit.payload["names"]):
        for result in results_from_table(read_table(where)):
            hashes = (result.sha256, result.received_sha256)
            if any(known.sha256(sha256) for sha256 in hashes if sha256 is not None):
                urls.add(result.url)
                if result.url.startswith(CARRIED):  # a document has the hash of what was stored, later on
                    urls.add(f"{CARRIED}{result.sha256}")
    return found(unit, folder, {"urls": keys_of(place.keyed(), URL, map(normalise, urls))})


def in_index(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The documents of a piece of the index that are forgotten."""
    known, pieces = place.known(), list[Values]()
    for table in index_rows(place.run.path, unit.payload, ["doc_id", "url", "content_sha256"]):
        told = ((table["doc_id"], known.document), (table["url"], known.url), (table["content_sha256"], known.sha256))
        masks = [mask_of(column, is_of_gone) for column, is_of_gone in told]
        pieces.append(ids_in(table["doc_id"].filter(pc.or_(pc.or_(masks[0], masks[1]), masks[2]))))
    return found(unit, folder, {"ids": united(pieces)})


def published(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Those of some documents that are in a piece of the index."""
    wanted, pieces = _set(place, unit), list[Values]()
    for table in index_rows(place.run.path, unit.payload, ["doc_id"]):
        ids = ids_in(table["doc_id"])
        pieces.append(ids[among(ids, wanted)])
    return found(unit, folder, {"ids": united(pieces)})


def in_documents(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The extracted documents that are forgotten (`ids`), those of them that extraction kept (`kept`), those with a
    forgotten image (`with_images`), and what stands for the addresses of such images that came with rows (`carried`).

    With `texts` texts are looked at as well; with `buckets` what all images are asked for by is dealt out to them.
    """
    known, keyed, texts = place.known(), place.keyed(), unit.payload["texts"]
    ids, kept, with_images = list[Values](), list[Values](), list[Values]()
    named, carried_keys = set[str](), set[str]()
    wanted = ["doc_id", "reason", "general_metadata", SRC, SHA256, *(["texts"] if texts else [])]
    for manifest in place.units("extract", unit.payload["names"]):
        for table in _tables(manifest.path(place.run.extract, "data"), wanted):
            here = [
                known.document(row["doc_id"]) or known.url(_url_of(row)) or (texts and _has_text(known, row["texts"]))
                for row in table.drop_columns(["nodes"]).to_pylist()
            ]
            mine = table.select(["doc_id", "reason"]).filter(pa.array(here, pa.bool_()))
            ids.append(ids_in(mine["doc_id"]))
            kept.append(ids_in(mine["doc_id"].filter(mine["reason"].is_null())))
            nodes = pc.list_flatten(table["nodes"])
            images, carried = (pc.struct_field(nodes, name) for name in ("src", "sha256"))
            if unit.payload["buckets"]:
                named.update(url for url in images.unique().to_pylist() if url is not None)
                named.update(_keys(carried))
            by_bytes = mask_of(pc.binary_join_element_wise(CARRIED, carried, ""), known.url)
            forgotten = pc.or_(mask_of(images, known.url), by_bytes)
            carried_keys.update(_keys(carried.filter(forgotten)))
            owners = pc.list_parent_indices(table["nodes"]).filter(forgotten)
            with_images.append(ids_in(table["doc_id"].take(owners)))
    sets = {"ids": united(ids), "kept": united(kept), "with_images": united(with_images)}
    sets["carried"] = keys_of(keyed, LONE, carried_keys)
    rows = dealt(keys_of(keyed, LONE, named), unit.payload["buckets"], True) if named else None
    return found(unit, folder, sets, rows)


def twins(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Of documents that have the text of an earlier one of their unit, the speaker. `by` says which of the two is in
    the set: `doc` or `speaker`; both are found, as documents (`docs`) and as speakers (`speakers`).
    """
    wanted, docs, speakers = _set(place, unit), list[Values](), list[Values]()
    for manifest in place.units("shuffled/candidates", unit.payload["names"]):
        table = read_table(manifest.path(place.run.shuffled / "candidates", "pages"), ["row", "doc", "twin"])
        twin = table.filter(pc.not_equal(table["row"], table["twin"]))
        if twin.num_rows:
            at = pc.index_in(twin["twin"], table["row"].combine_chunks())
            pair = keys_in(twin["doc"]), keys_in(table["doc"].take(at))
            hit = among(pair[unit.payload["by"] == "speaker"], wanted)
            docs.append(pair[0][hit])
            speakers.append(pair[1][hit])
    return found(unit, folder, {"docs": united(docs), "speakers": united(speakers)})


def members(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Of documents in groups of nearly the same text: `by` says whether the set is of documents or of groups."""
    wanted, docs, groups = _set(place, unit), list[Values](), list[Values]()
    for name in unit.payload["names"]:
        for table in _tables(place.run.path / name, ["rule", "doc", "group"]):
            table = table.filter(pc.equal(table["rule"], "text"))
            pair = keys_in(table["doc"]), keys_in(table["group"])
            hit = among(pair[unit.payload["by"] == "group"], wanted)
            docs.append(pair[0][hit])
            groups.append(pair[1][hit])
    return found(unit, folder, {"docs": united(docs), "groups": united(groups)})


def of_found(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """What only found documents may have used: addresses of pages and images (`urls`), what stands for images that came
    with rows (`carried`), and what tells near duplicates of the texts of those that were kept (`texts`).
    """
    keyed, gone = place.keyed(), _set(place, unit)
    kept = read_values(place.work / unit.payload["kept"])
    urls, carried, texts = set[str](), set[str](), list[tuple[str, int, str]]()
    for manifest in place.units("extract", unit.payload["names"]):
        with open_parquet(manifest.path(place.run.extract, "data")) as source:
            for group in range(source.num_row_groups):
                ids = ids_in(source.read_row_group(group, columns=["doc_id"])["doc_id"])
                here = np.flatnonzero(among(ids, gone))
                if not here.size:
                    continue
                columns = ["doc_id", "reason", "general_metadata", "texts", SRC, SHA256]
                rows = source.read_row_group(group, columns=columns).take(pa.array(here)).to_pylist()
                for row, is_kept in zip(rows, among(ids[here], kept), strict=True):
                    urls |= {_url_of(row), *(node["src"] for node in row["nodes"] if node["src"])}
                    carried |= {CARRIED + node["sha256"] for node in row["nodes"] if node["sha256"]}
                    if is_kept and row["reason"] is None:
                        texts.append((manifest.unit, group, joined(row["texts"])))
    sets = {"urls": keys_of(keyed, LONE, urls), "carried": keys_of(keyed, LONE, carried)}
    return found(unit, folder, sets, _signed(place, keyed, texts) if texts else None)


def _signed(place: Place, keyed: Keyed, texts: Sequence[tuple[str, int, str]]) -> pa.Table:
    """What tells the near duplicates of texts, each with its unit and row group, and what tells equal texts."""
    pairs = signed_texts(keyed, place.dedup.text, [text for _, _, text in texts])
    columns = {
        "unit": pa.array([name for name, _, _ in texts]),
        "group": pa.array([group for _, group, _ in texts], pa.int64()),
        "text": as_column(keys_of(keyed, TEXT, (text for _, _, text in texts))),
        "bands": pa.array([pair and pair[0] for pair in pairs], pa.binary()),
        "sketch": pa.array([pair and pair[1] for pair in pairs], pa.binary()),
    }
    return pa.table(columns)


def image_sets(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The sets of images of some documents, as dedup names them."""
    wanted, pieces = _set(place, unit), list[Values]()
    for table in _with_images(place, unit):
        pieces.append(keys_in(table["image_set"].filter(pa.array(among(keys_in(table["doc"]), wanted)))))
    return found(unit, folder, {"keys": united(pieces)})


def of_image_sets(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The documents with some sets of images."""
    wanted, pieces = _set(place, unit), list[Values]()
    for table in _with_images(place, unit):
        pieces.append(keys_in(table["doc"].filter(pa.array(among(keys_in(table["image_set"]), wanted)))))
    return found(unit, folder, {"ids": unpacked(united(pieces))})


def _with_images(place: Place, unit: Unit) -> Iterator[pa.Table]:
    """The documents that passed and have images that could be those of another."""
    for manifest in place.units("shuffled/passed", unit.payload["names"]):
        table = read_table(manifest.path(place.run.shuffled / "passed", "data"), ["doc", "image_set"])
        yield table.filter(table["image_set"].is_valid())


def edited(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The documents that stay and lose images: how many each keeps, and whether these are too few."""
    wanted, known, rows = _set(place, unit), place.known(), dict[str, tuple[int, bool]]()
    for manifest in place.units(unit.payload["folder"], unit.payload["names"]):
        where = manifest.path(place.run.path / unit.payload["folder"], "data")
        ids = ids_in(read_table(where, ["doc_id"])["doc_id"])
        here = set(ids[among(ids, wanted)].tolist())
        for document in read_documents(where) if here else ():
            images = document.images()
            left = [image for image in images if not is_gone(image, known.url)]
            if document.doc_id.encode() in here and len(left) < len(images):
                few = document.reason is None and len(left) < place.min_images
                before = rows.get(document.doc_id)
                rows[document.doc_id] = (before[0], before[1] or few) if before else (len(left), few)
    values = np.array([(doc.encode(), n, few) for doc, (n, few) in sorted(rows.items())], EDITED)
    return found(unit, folder, {"edited": values})


def used_images(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Which of some addresses are of images of other documents that were kept, or of any with `everything`."""
    gone, pieces = read_values(place.work / unit.payload["found"]), list[Values]()
    keyed, wanted = place.keyed(), _set(place, unit)
    for manifest in place.units(unit.payload["folder"], unit.payload["names"]):
        where = manifest.path(place.run.path / unit.payload["folder"], "data")
        for table in _tables(where, ["doc_id", "reason", "images"]):
            if not unit.payload["everything"]:
                table = table.filter(table["reason"].is_null())
            table = table.filter(pa.array(~among(ids_in(table["doc_id"]), gone)))
            urls = pc.unique(pc.list_flatten(table["images"])).to_pylist()
            keys = keys_of(keyed, LONE, (url for url in urls if url is not None))
            pieces.append(keys[among(keys, wanted)])
    return found(unit, folder, {"urls": united(pieces)})


def used_by_others(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Which of some addresses are of the pages of other documents (`urls`), and which stand for images that came with
    rows and that other documents have, and keep (`carried`).
    """
    gone, known = read_values(place.work / unit.payload["found"]), place.known()
    keyed, wanted = place.keyed(), _set(place, unit)
    of_rows = read_values(place.work / unit.payload["carried"]) if unit.payload["carried"] else np.empty(0, IDS)
    urls, carried = list[Values](), list[Values]()
    for manifest in place.units("extract", unit.payload["names"]):
        columns = ["doc_id", "general_metadata", *([SRC, SHA256] if of_rows.size else [])]
        for table in _tables(manifest.path(place.run.extract, "data"), columns):
            table = table.filter(pa.array(~among(ids_in(table["doc_id"]), gone)))
            keys = keys_of(keyed, LONE, (_url_of({"general_metadata": m}) for m in _texts(table["general_metadata"])))
            urls.append(keys[among(keys, wanted)])
            if of_rows.size:
                stays = set[str]()
                for node in pc.list_flatten(table["nodes"]).to_pylist():
                    key = f"{CARRIED}{node['sha256']}"
                    if node["sha256"] and not (known.url(node["src"]) or known.url(key)):
                        stays.add(key)
                keys = keys_of(keyed, LONE, stays)
                carried.append(keys[among(keys, of_rows)])
    return found(unit, folder, {"urls": united(urls), "carried": united(carried)})


def _texts(column: pa.ChunkedArray) -> list[str]:
    return column.to_pylist()  # type: ignore[no-any-return]


def index_rows(run: Location, payload: dict[str, Any], columns: Sequence[str]) -> Iterator[pa.Table]:
    """Rows `start` to `stop` (exclusive) of the file of the index that a payload names."""
    start, stop = payload["start"], payload["stop"]
    with open_parquet(run / payload["name"]) as source:
        first = 0
        for group in range(source.num_row_groups):
            after = first + source.metadata.row_group(group).num_rows
            if first < stop and after > start:
                low = max(start - first, 0)
                table = source.read_row_group(group, columns=list(columns))
                yield table.slice(low, min(stop, after) - first - low)
            first = after


def _set(place: Place, unit: Unit) -> Values:
    """The set that a unit is to look for."""
    return read_values(place.work / unit.payload["set"])


def _tables(place: Location, columns: Sequence[str]) -> Iterator[pa.Table]:
    with open_parquet(place) as source:
        for group in range(source.num_row_groups):
            yield source.read_row_group(group, columns=list(columns)).combine_chunks()


def _keys(hashes: pa.Array) -> list[str]:
    """What images that came with rows are asked for by: only these have a sha256 before they are fetched."""
    return [CARRIED + sha256 for sha256 in hashes.unique().to_pylist() if sha256 is not None]


def _url_of(row: dict[str, Any]) -> str:
    return str(json.loads(row["general_metadata"])["url"])


def joined(texts: Iterable[str | None]) -> str:
    """A document's text, as its hash is made of it."""
    return PARAGRAPH_SEPARATOR.join(text for text in texts if text is not None)


def _has_text(known: Tombstones, texts: Iterable[str | None]) -> bool:
    return known.sha256(hashlib.sha256(joined(texts).encode("utf-8", "surrogatepass")).hexdigest())
