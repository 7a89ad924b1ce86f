"""What an object store's client raises, told apart: gone, there already, access denied or lost, and all else.

Each client has exceptions of its own, and none of them may be imported where it is not installed: they are known by
their names.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.redacted import redacted

PACKAGES = {
    "s3": "obelics-pipeline[s3]",
    "s3a": "obelics-pipeline[s3]",
    "gs": "obelics-pipeline[gs]",
    "gcs": "obelics-pipeline[gs]",
    "az": "adlfs",
    "abfs": "adlfs",
    "hf": "huggingface_hub",
}  # protocol -> what brings its file system
KNOWN = ("s3", "gs", "https", "http", "file")

_PLAIN = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, Stopped, UserError)
_CREDENTIALS = ("credential", "token", "autherror", "refresherror", "unauthorizedsso")  # in a type's name, lower case


def access_lost(error: BaseException) -> str | None:
    """Why the store does not let us in, in one line; None for any other error."""
    kind = type(error).__name__
    denied = isinstance(error, PermissionError) or str(error).startswith("Forbidden")  # s3fs; gcsfs
    status = getattr(error, "code", None) or getattr(error, "status", None)
    if denied or status in (401, 403) or lacks_credentials(error):
        return redacted(f"{kind}: {' '.join(str(error).split())}")[:200]
    return None


def lacks_credentials(error: BaseException) -> bool:
    """Whether a client has nothing to show to its store."""
    return any(part in type(error).__name__.lower() for part in _CREDENTIALS)


@contextmanager
def reaching(where: object) -> Iterator[None]:
    """Around requests to an object store. What is gone or there already is said as it is on a disk.

    Raises Stopped where access is denied or was lost, OSError (EIO, its filename `where`) for everything else that the
    client could not mend by trying again.
    """
    try:
        yield
    except _PLAIN:
        raise
    except ImportError:
        raise UserError(missing_package(str(where))) from None
    except Exception as error:
        why, shown = access_lost(error), redacted(str(where))
        if why is not None:
            raise Stopped(
                f"{shown}: no access ({why}); check the credentials in the environment and the rights on the bucket, "
                "then run the same command again"
            ) from None
        detail = redacted(f"{type(error).__name__}: {' '.join(str(error).split())}")[:300]
        number = (error.errno or errno.EIO) if isinstance(error, OSError) else errno.EIO
        raise OSError(number, detail, shown) from error


def missing_package(url: str) -> str:
    """The line for a URL whose file system is not installed."""
    protocol = url.partition("://")[0]
    what = PACKAGES.get(protocol, f"the fsspec package for {protocol}")
    return f"{url}: {protocol}:// needs a further package: pip install '{what}'"
