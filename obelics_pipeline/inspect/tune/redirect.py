"""A file that leads one user's browser to an address which no other user is to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from obelics_pipeline.core.errors import UserError

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>obelics tune</title>
<p><a href="{address}">{address}</a></p>
"""


@contextmanager
def redirecting(address: str) -> Iterator[Path]:
    """A page that sends a browser to an address, for this user alone to read; gone when the block ends.

    A browser is given the page instead of the address: every user of a machine sees the command lines of all processes
    (/proc). Its mode is 0600, that of its folder 0700. Raises UserError where there is no folder for temporary files.
    """
    try:
        folder = TemporaryDirectory(prefix="obelics-tune-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UserError(f"no file can be made ({error.strerror}); set TMPDIR to a folder of your own") from None
    with folder as name:
        path = Path(name) / "open.html"
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(_PAGE.format(address=escape(address)))
        yield path
