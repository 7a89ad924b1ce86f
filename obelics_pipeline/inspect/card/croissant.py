"""Croissant 1.1 metadata of a corpus (docs.mlcommons.org/croissant): its files with their hashes, and its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.index_name import INDEX, PARTS
from obelics_pipeline.core.shards.manifest import SHARDS, RunManifest
from obelics_pipeline.inspect.card.statement import Statement

CONFORMS = "http://mlcommons.org/croissant/1.1"
# As the specification gives it.
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

PARQUET = "application/x-parquet"
# Of the index; see shard.index.
ABOUT = {
    "shard": "Name of the tar, in the folder shards.",
    "offset": "Where the document begins in its tar, in bytes.",
    "length": "Bytes of the document in its tar; they are a tar of their own.",
    "doc_id": "Of the WARC file name, the record's offset and the part of a long page.",
    "url": "Of the page.",
    "warc_filename": "The file of the record that the page is from.",
    "warc_record_offset": "Of the record in that file, in bytes.",
    "warc_record_length": "Of the record, in bytes.",
    "content_sha256": "Of texts and images of the document.",
    "n_texts": "Texts of the document.",
    "n_images": "Images of the document.",
    "n_files": "Image files that stand beside it.",
    "language": "Of the text, as a model tells it: ISO 639.",
    "page_type": "Kind of the page, as a model tells it: article, forum, product and so on.",
}


def croissant(
    manifest: RunManifest,
    index: pa.Schema,
    languages: Iterable[str],
    said: Statement,
    description: str,
    further: Mapping[str, Any],
) -> dict[str, Any]:
    """The JSON-LD of a finished run; `index` are the columns of its index, `further` other properties of the whole."""
    tars = [file_object(f"{SHARDS}/{s.name}", "application/x-tar", s.bytes, s.sha256) for s in manifest.shards]
    index_files = [file_object(p.name, PARQUET, p.bytes, p.sha256) for p in manifest.index]
    records = {
        "@type": "cr:FileSet",
        "@id": "records",
        "description": "A document each: its texts, addresses and names of images, where it came from, its scores.",
        "containedIn": [{"@id": tar["@id"]} for tar in tars],
        "encodingFormat": "application/json",
        "includes": "*.json",
    }
    source = {"fileObject": {"@id": INDEX}}
    if manifest.only_index is None:
        index_files.append({"@type": "cr:FileSet", "@id": PARTS, "encodingFormat": PARQUET, "includes": PARTS})
        source = {"fileSet": {"@id": PARTS}}
    files = [*index_files, *tars, *([records] if tars else [])]
    return dataset(said, description, languages, files, [_record_set(index, source)], further)


def dataset(
    said: Statement,
    description: str,
    languages: Iterable[str],
    distribution: Sequence[Mapping[str, Any]],
    record_sets: Sequence[Mapping[str, Any]],
    further: Mapping[str, Any],
) -> dict[str, Any]:
    """The JSON-LD of a corpus from its files and the tables in them."""
    stated = {
        "license": said.licence,
        "url": said.homepage,
        "datePublished": said.published,
        "creator": said.contact and {"@type": "Organization", "name": said.contact},
    }
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": said.name,
        "description": description,
        **{name: value for name, value in stated.items() if value},
        "inLanguage": list(languages),
        **further,
        "distribution": list(distribution),
        "recordSet": list(record_sets),
    }


def file_object(name: str, encoding: str, size: int, sha256: str) -> dict[str, Any]:
    """One file: its name below the folder, its MIME type, its size in bytes, its hash."""
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": encoding,
        "sha256": sha256,
    }


def _record_set(index: pa.Schema, source: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of the index. The JSON in the tars has no record set: readers of Croissant do not manage it yet."""
    columns = [(c.name, ABOUT.get(c.name, f"The score {c.name}; see the card."), data_type(c.type)) for c in index]
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"index/{name}",
            "name": name,
            "description": about,
            "dataType": kind,
            "source": {**source, "extract": {"column": name}},
        }
        for name, about, kind in columns
    ]
    return {"@type": "cr:RecordSet", "@id": "index", "key": {"@id": "index/doc_id"}, "field": fields}


def data_type(kind: pa.DataType) -> str:
    """A column's type as Croissant names it."""
    if pa.types.is_floating(kind):
        return "sc:Float"
    return "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"
