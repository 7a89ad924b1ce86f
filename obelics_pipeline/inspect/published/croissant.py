"""Croissant metadata of a published table: its Parquet files, its documents, and the pictures in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.inspect.card.croissant import ABOUT, data_type, dataset, file_object
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published.parquet_part import WrittenPart

FILES, DOCUMENTS = "parquet", "documents"

# Of columns that the run's index does not have.
_ABOUT = ABOUT | {
    "texts": "Texts of the document in the order of the page; null where an image stands.",
    "images": "Images of the document, as bytes; null where a text stands, or the image was not fetched.",
    "image_urls": "Addresses of the images; null where a text stands.",
    "metadata": "JSON: of each image, where it came from and what the page says of it.",
    "general_metadata": "JSON: of the document, its page and WARC record.",
}


def croissant(
    parts: Sequence[WrittenPart], schema: pa.Schema, languages: Iterable[str], said: Statement, description: str
) -> dict[str, Any]:
    """The JSON-LD of a publication."""
    files = [file_object(f"data/{part.name}", "application/x-parquet", part.bytes, part.sha256) for part in parts]
    together = {
        "@type": "cr:FileSet",
        "@id": FILES,
        "description": "All files together, in the folder of this description.",
        "encodingFormat": "application/x-parquet",
        "includes": "data/*.parquet",
    }
    return dataset(said, description, languages, [*files, together], [_documents(schema)])


def _documents(schema: pa.Schema) -> dict[str, Any]:
    fields = [_field(column) for column in schema]
    return {"@type": "cr:RecordSet", "@id": DOCUMENTS, "key": {"@id": f"{DOCUMENTS}/doc_id"}, "field": fields}


def _field(column: pa.Field) -> dict[str, Any]:
    repeated = pa.types.is_list(column.type)
    kind = column.type.value_type if repeated else column.type
    picture = pa.types.is_struct(kind)
    source = {"fileSet": {"@id": FILES}, "extract": {"column": column.name}}
    return {
        "@type": "cr:Field",
        "@id": f"{DOCUMENTS}/{column.name}",
        "name": column.name,
        "description": _ABOUT.get(column.name, f"The score {column.name}; see the card."),
        "dataType": "sc:ImageObject" if picture else data_type(kind),
        **({"repeated": True} if repeated else {}),
        "source": source | ({"transform": {"jsonPath": "bytes"}} if picture else {}),
    }
