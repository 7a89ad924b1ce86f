"""Croissant metadata of a published table: its Parquet files, its documents, and the pictures in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.inspect.card.croissant import ABOUT, data_type, dataset, file_object
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published.parquet_part import WrittenPart
from obelics_pipeline.inspect.published.table import IMAGE

FILES, DOCUMENTS, IMAGES = "parquet", "documents", "images"

# Of columns that the run's index does not have.
_ABOUT = ABOUT | {
    "texts": "Texts of the document in the order of the page; null where an image stands.",
    "images": "Images of the document, as bytes; null where a text stands, or the image was not fetched.",
    "image_urls": "Addresses of the images; null where a text stands.",
    "metadata": "JSON: of each image, where it came from and what the page says of it.",
    "general_metadata": "JSON: of the document, its page and WARC record.",
    "captured": "Day on which the page was captured.",
    "robots_txt": "What the captured robots.txt of the page's host said: allowed, disallowed or unknown.",
    "robots_txt_captured": "Day of that capture.",
    "robots": "Directives of X-Robots-Tag and of robots metas of the page.",
    "tdm": "Whether the right to mine text and data is reserved: reserved, not_reserved, unset.",
    "tdm_source": "Where that is said.",
    "tdm_policy": "The address of the policy.",
    "licence": "Licence that the page names, unchecked.",
    "licence_url": "Its address.",
    "licence_source": "Where the page names it.",
    "opt_out_checked": "Day on which an opt-out service was asked.",
    "asked_again": "Day on which the page was asked again before publication.",
    "answered_again": "The answer.",
    "ai_txt_again": "Whether its host had an ai.txt that day.",
}


def croissant(
    parts: Sequence[WrittenPart],
    schema: pa.Schema,
    languages: Iterable[str],
    said: Statement,
    description: str,
    further: Mapping[str, Any],
) -> dict[str, Any]:
    """The JSON-LD of a publication; `further` are other properties of the whole."""
    files = [file_object(f"data/{part.name}", "application/x-parquet", part.bytes, part.sha256) for part in parts]
    together = {
        "@type": "cr:FileSet",
        "@id": FILES,
        "description": "All files together, in the folder of this description.",
        "encodingFormat": "application/x-parquet",
        "includes": "data/*.parquet",
    }
    return dataset(said, description, languages, [*files, together], [_documents(schema), _images()], further)


def _documents(schema: pa.Schema) -> dict[str, Any]:
    fields = [_field(DOCUMENTS, column.name, column.type, column.name) for column in schema]
    return {
        "@type": "cr:RecordSet",
        "@id": DOCUMENTS,
        "name": DOCUMENTS,
        "description": "A record per document: what stands in it, in order, and what is known of it.",
        "key": {"@id": f"{DOCUMENTS}/doc_id"},
        "field": fields,
    }


def _images() -> dict[str, Any]:
    """The pictures by document, as lists of equal length: no reader of Croissant makes a record of each element."""
    identity = _field(IMAGES, "doc_id", pa.string(), "doc_id") | {
        "references": {"field": {"@id": f"{DOCUMENTS}/doc_id"}}
    }
    name = _field(IMAGES, "path", pa.list_(pa.string()), "images")
    name["source"]["transform"] = {"jsonPath": "path"}
    name["description"] = "Names of the files, made of the sha256 of their bytes; null as the pictures are."
    return {
        "@type": "cr:RecordSet",
        "@id": IMAGES,
        "name": IMAGES,
        "description": "A record per document: its pictures, their names and their addresses, at the same places.",
        "key": {"@id": f"{IMAGES}/doc_id"},
        "field": [
            identity,
            _field(IMAGES, "picture", pa.list_(IMAGE), "images"),
            name,
            _field(IMAGES, "url", pa.list_(pa.string()), "image_urls"),
        ],
    }


def _field(record_set: str, name: str, kind: pa.DataType, column: str) -> dict[str, Any]:
    array = pa.types.is_list(kind)
    kind = kind.value_type if array else kind
    picture = pa.types.is_struct(kind)
    source = {"fileSet": {"@id": FILES}, "extract": {"column": column}}
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": _ABOUT.get(column, f"The score {column}; see the card."),
        "dataType": "sc:ImageObject" if picture else data_type(kind),
        # mlcroissant 1.1.1 reads pictures of a list by 1.0's word alone, which 1.1 keeps for this
        **({"isArray": True, "arrayShape": "-1", "repeated": True} if array else {}),
        "source": source | ({"transform": {"jsonPath": "bytes"}} if picture else {}),
    }
