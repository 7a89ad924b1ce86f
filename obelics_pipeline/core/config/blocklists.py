"""Lists of domains and URLs whose pages or images are not taken."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from obelics_pipeline.core.config.section import Section

_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a list; up to 40 of a-z, 0-9 and _ can, such as adult")
    return name


def _sha256(value: str | None) -> str | None:
    if value is not None and not _SHA256.fullmatch(value):
        raise ValueError("sha256: must be 64 hexadecimal digits in lower case, as sha256sum prints them")
    return value


Applies = Literal["pages", "images"]
ListName = Annotated[str, AfterValidator(_name)]  # a part of reasons: blocked_domain_NAME


class BlocklistConfig(Section):
    """One list: docs/blocklists.md."""

    path: str = Field(
        description="A file (domains or URLs by line, or a hosts file; packed by gzip or Zstandard too), a folder of "
        "categories as UT1 has it, such a folder as .tar or .tar.gz, or a URL of one of these files."
    )
    sha256: Annotated[str | None, AfterValidator(_sha256)] = Field(
        None, description="Of the file, or of the folder as docs/blocklists.md says. Needed for a URL; null: unchecked."
    )
    categories: list[str] | None = Field(
        None, min_length=1, description="Folders and archives only: the categories to take; null: all."
    )
    applies_to: list[Applies] = Field(
        default_factory=lambda: list[Applies](["pages"]),
        min_length=1,
        description="pages: a page of the list is dropped, unread. images: an image whose URL is on it is dropped.",
    )

    @property
    def is_url(self) -> bool:
        """Whether it must be fetched."""
        return self.path.startswith(("http://", "https://"))

    @model_validator(mode="after")
    def urls_are_checked(self) -> BlocklistConfig:
        """Refuse a URL without checksum: what it answers tomorrow would be another list."""
        if self.is_url and self.sha256 is None:
            raise ValueError(f"path: {self.path} is a URL and needs a sha256: curl -L {self.path} | sha256sum")
        return self
