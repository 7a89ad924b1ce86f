"""The statement of a corpus' owner, which no run knows: name, licence, URL, contact."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from obelics_pipeline.core.errors import UserError

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.+-]*")


@dataclass(frozen=True)
class Statement:
    """`licence` is an identifier such as cc-by-4.0; `published` a day as YYYY-MM-DD. None: not stated.

    Raises UserError for what cannot be one.
    """

    name: str
    licence: str | None = None
    homepage: str | None = None
    contact: str | None = None
    published: str | None = None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise UserError("--name: must not be empty")
        if self.licence is not None and not _LICENCE.fullmatch(self.licence):
            raise UserError(
                f"--licence {self.licence}: must be an identifier in lower case, such as cc-by-4.0 or other"
            )
        if self.homepage is not None and urlsplit(self.homepage).scheme not in ("http", "https"):
            raise UserError(f"--homepage {self.homepage}: must be an http or https address")
        if self.published is not None:
            try:
                date.fromisoformat(self.published)
            except ValueError:
                raise UserError(f"--published {self.published}: must be a day such as 2026-05-31") from None
