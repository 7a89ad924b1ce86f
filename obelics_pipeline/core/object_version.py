"""The version of an object, and a put that replaces that version only.

S3 names a version by its ETag, which says what the bytes are: bytes that were there before have the same one again.
GCS names it by its generation, a number that no object has twice.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

from upath import UPath

from obelics_pipeline.core.access import reaching

S3, GCS = ("s3", "s3a"), ("gs", "gcs")
LARGEST_PUT = 5 * 2**30  # bytes: S3 takes more only in parts (docs.aws.amazon.com, "Uploading objects")


def version_of(where: UPath) -> str | None:
    """The version that stands; None where no object is. Raises OSError and Stopped as `reaching` does."""
    try:
        with reaching(where):
            found = where.fs.info(where.path)
    except FileNotFoundError:
        return None
    return _version(where, found)


def replace(where: UPath, body: bytes | Path, version: str | None) -> str | None:
    """Put bytes, or a local file, where this version stands; None: where no object is.

    Returns the new version, None where another stood. Raises OSError and Stopped as `reaching` does; OSError also for a
    store other than S3 and GCS, whose conditions are not known.
    """
    try:
        with reaching(where):
            return _put_if(where, body, version)
    except FileExistsError:
        return None
    except FileNotFoundError:
        if version is None:  # the bucket
            raise
        return None


def _put_if(where: UPath, body: bytes | Path, version: str | None) -> str | None:
    if where.protocol in GCS:
        return _put_to_gcs(where, body, version)
    if where.protocol in S3:
        try:
            return _put_to_s3(where, body, version)
        except OSError as error:
            if _refused_by_s3(error):
                return None
            raise
    raise OSError(f"{where.protocol}:// has no conditional put that is known here")


def _put_to_s3(where: UPath, body: bytes | Path, version: str | None) -> str | None:
    bucket, key, _ = where.fs.split_path(where.path)
    condition = {"IfNoneMatch": "*"} if version is None else {"IfMatch": version}
    if isinstance(body, bytes):
        return _version(where, where.fs.call_s3("put_object", Bucket=bucket, Key=key, Body=body, **condition))
    with body.open("rb") as stream:
        return _version(where, where.fs.call_s3("put_object", Bucket=bucket, Key=key, Body=stream, **condition))


def _refused_by_s3(error: OSError) -> bool:
    """Whether it says that a condition did not hold, or met another put: its client has no exception for that."""
    response = getattr(error.__cause__, "response", {})
    return response.get("Error", {}).get("Code") in ("PreconditionFailed", "412", "ConditionalRequestConflict")


def _put_to_gcs(where: UPath, body: bytes | Path, version: str | None) -> str | None:
    bucket, key, _ = where.fs.split_path(where.path)
    content = body if isinstance(body, bytes) else _mapped(body)
    made = where.fs.call(
        "POST",
        f"{where.fs._location}/upload/storage/v1/b/{bucket}/o",
        uploadType="media",
        name=key,
        ifGenerationMatch=version or "0",
        headers={"Content-Type": "application/octet-stream"},
        data=content,
        json_out=True,
    )
    return _version(where, made)


def _mapped(path: Path) -> bytes | memoryview:
    """A file's bytes, of which only those that are being sent are in memory."""
    if path.stat().st_size == 0:
        return b""
    with path.open("rb") as stream:
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _version(where: UPath, answer: dict[str, Any]) -> str | None:
    """The version in an answer of a store; None in that on a folder."""
    found = answer.get("generation" if where.protocol in GCS else "ETag")
    return None if found is None else str(found)
