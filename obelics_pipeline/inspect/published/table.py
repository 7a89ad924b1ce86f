"""The published table: a row per document with its texts, its pictures, where it came from, and its scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.shards.source import StoredDocument

# A picture as `datasets` stores one (datasets.Image): its bytes, and a name that is no place to read from
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])

# What a page and its host said of the use of the page, and when; null where nobody looked (docs/consent.md)
CONSENT = (
    ("captured", pa.string()),  # the day, as all days here: 2024-05-06
    ("robots_txt", pa.string()),  # of the capture of the host's robots.txt: allowed, disallowed or unknown
    ("robots_txt_captured", pa.string()),
    ("robots", pa.list_(pa.string())),  # directives of X-Robots-Tag and of robots metas that speak to the run
    ("tdm", pa.string()),  # reserved, not_reserved, unset
    ("tdm_source", pa.string()),  # meta or header
    ("tdm_policy", pa.string()),  # an address
    ("licence", pa.string()),
    ("licence_url", pa.string()),
    ("licence_source", pa.string()),
    ("opt_out_checked", pa.string()),  # the last day on which an opt-out service was asked
    ("asked_again", pa.string()),  # the day of `obelics consent --again`
    ("answered_again", pa.string()),  # allowed, or why it is not known; what is refused is forgotten
    ("ai_txt_again", pa.string()),  # of the host, that day: rules, none, or null where it was not asked for
)

_FIXED = (
    ("doc_id", pa.string()),
    ("url", pa.string()),  # of the page
    ("texts", pa.list_(pa.string())),  # null where an image stands
    ("images", pa.list_(IMAGE)),  # as long as `texts`; null where a text stands, or the image was not fetched
    ("image_urls", pa.list_(pa.string())),  # what `images` is in the published OBELICS
    ("metadata", pa.string()),  # JSON, as in the published OBELICS
    ("general_metadata", pa.string()),
    ("language", pa.string()),
    ("page_type", pa.string()),
    *CONSENT,
)


def table_schema(score_names: Sequence[str]) -> pa.Schema:
    """The columns, a nullable float per score last. The schema says to `datasets` what pictures are.

    Raises ValueError for a score that has the name of a column.
    """
    if taken := {name for name, _ in _FIXED} & set(score_names):
        raise ValueError(f"score names {', '.join(sorted(taken))}: taken by a column")
    fields = [*_FIXED, *((name, pa.float64()) for name in score_names)]
    features = {name: _feature(kind) for name, kind in fields}
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def table_row(
    document: StoredDocument, score_names: Sequence[str], again: Mapping[str, str | None] | None = None
) -> dict[str, Any]:
    """The row of one document; `again` is what its page answered when it was asked once more.

    Raises KeyError for a record that lacks a key, or names a file that it does not have.
    """
    value, row = document.value, document.row
    hashes = {file.name: file.sha256 for file in document.record.files}
    return {
        "doc_id": value["doc_id"],
        "url": row["url"],
        "texts": value["texts"],
        "images": [_picture(document.images, hashes, name) for name in value["files"]],
        "image_urls": value["images"],
        "metadata": value["metadata"],
        "general_metadata": value["general_metadata"],
        "language": value["language"],
        "page_type": row.get("page_type"),  # an index of an earlier version lacks it
        **_consent(value["general_metadata"], again or {}),
        **{name: row[name] for name in score_names},
    }


def _consent(general_metadata: str, again: Mapping[str, str | None]) -> dict[str, Any]:
    """The columns of CONSENT. What is no text where a text belongs is null: records may be of others."""
    general = json.loads(general_metadata)
    general = general if isinstance(general, dict) else {}
    heard = general.get("consent")
    heard = heard if isinstance(heard, dict) else {}
    days = general.get("opt_out_checked")
    robots = heard.get("robots")
    said = {
        "captured": heard.get("checked") or str(general.get("warc_date") or "")[:10] or None,
        **{name: heard.get(name) for name in ("robots_txt", "robots_txt_captured", "tdm", "tdm_source", "tdm_policy")},
        **{name: general.get(name) for name in ("licence", "licence_url", "licence_source")},
        "opt_out_checked": max(map(str, days.values()), default=None) if isinstance(days, dict) else None,
        "asked_again": again.get("day"),
        "answered_again": again.get("said"),
        "ai_txt_again": again.get("ai_txt"),
    }
    directives = [d for d in robots if isinstance(d, str)] if isinstance(robots, list) else None
    return {name: value if isinstance(value, str) else None for name, value in said.items()} | {"robots": directives}


def row_bytes(row: Mapping[str, Any]) -> int:
    """Bytes that a row takes in memory, near enough to bound a group of rows: its pictures and its text in UTF-8."""
    pictures = sum(len(picture["bytes"]) for picture in row["images"] if picture is not None)
    texts = [*row["texts"], *row["image_urls"], row["metadata"], row["general_metadata"]]
    return pictures + sum(len(text.encode()) for text in texts if text is not None)


def _picture(images: Mapping[str, bytes], hashes: Mapping[str, str], name: str | None) -> dict[str, Any] | None:
    """`path` is made of the hash of the bytes: the same picture has the same name in every document."""
    if name is None:
        return None
    return {"bytes": images[name], "path": f"{hashes[name]}.{name.rpartition('.')[2]}"}


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """A column as `datasets` writes its types into Parquet files (datasets.Features); all its versions read these."""
    if pa.types.is_list(kind):
        return {"_type": "Sequence", "feature": _feature(kind.value_type)}
    if kind == IMAGE:
        return {"_type": "Image"}
    return {"_type": "Value", "dtype": "float64" if pa.types.is_floating(kind) else "string"}
