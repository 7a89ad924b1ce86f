"""Croissant 1.0 metadata of a corpus (docs.mlcommons.org/croissant): its files with their hashes, and its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.shards.index import COLUMNS
from obelics_pipeline.core.shards.manifest import INDEX, SHARDS, RunManifest
from obelics_pipeline.inspect.card.statement import Statement

CONFORMS = "http://mlcommons.org/croissant/1.0"
# As the specification gives it.
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
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
}


def croissant(
    manifest: RunManifest, names: Sequence[str], languages: Iterable[str], said: Statement, description: str
) -> dict[str, Any]:
    """The JSON-LD of a finished run; `names` are its scores."""
    stated = {
        "license": said.licence,
        "url": said.homepage,
        "datePublished": said.published,
        "creator": said.contact and {"@type": "Organization", "name": said.contact},
    }
    tars = [_file(f"{SHARDS}/{s.name}", "application/x-tar", s.bytes, s.sha256) for s in manifest.shards]
    index = _file(INDEX, "application/x-parquet", manifest.index_bytes, manifest.index_sha256)
    records = {
        "@type": "cr:FileSet",
        "@id": "records",
        "description": "A document each: its texts, addresses and names of images, where it came from, its scores.",
        "containedIn": [{"@id": tar["@id"]} for tar in tars],
        "encodingFormat": "application/json",
        "includes": "*.json",
    }
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": said.name,
        "description": description,
        **{name: value for name, value in stated.items() if value},
        "inLanguage": list(languages),
        "distribution": [index, *tars, *([records] if tars else [])],
        "recordSet": [_record_set(names)],
    }


def _file(name: str, encoding: str, size: int, sha256: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": encoding,
        "sha256": sha256,
    }


def _record_set(names: Sequence[str]) -> dict[str, Any]:
    """The rows of the index. The JSON in the tars has no record set: readers of Croissant do not manage it yet."""
    columns = [(column.name, ABOUT[column.name], _type(column.type)) for column in COLUMNS]
    columns += [(name, f"The score {name}; see the card.", "sc:Float") for name in names]
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"index/{name}",
            "name": name,
            "description": about,
            "dataType": kind,
            "source": {"fileObject": {"@id": INDEX}, "extract": {"column": name}},
        }
        for name, about, kind in columns
    ]
    return {"@type": "cr:RecordSet", "@id": "index", "key": {"@id": "index/doc_id"}, "field": fields}


def _type(kind: pa.DataType) -> str:
    return "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"
