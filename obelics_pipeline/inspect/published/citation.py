"""How to cite a corpus: CITATION.cff (citation-file-format.github.io, version 1.2.0), and the same as BibTeX."""

from __future__ import annotations

import re
from typing import Any

import yaml

from obelics_pipeline.inspect.card.statement import Statement

# Of the identifiers that cards of the hub use, in lower case: as SPDX writes them, which the format wants
SPDX = {
    name.lower(): name
    for name in (
        "Apache-2.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0",
        "CC0-1.0", "CDLA-Permissive-2.0", "MIT", "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0",
    )
}  # fmt: skip


def citation_cff(said: Statement, description: str) -> str:
    """The text of the file. Equal statements give equal texts."""
    stated: dict[str, Any] = {
        "license": SPDX.get(said.licence or ""),
        "url": said.homepage,
        "date-released": said.published,
    }
    about = {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it as below.",
        "type": "dataset",
        "title": said.name,
        "abstract": description,
        "authors": [{"name": _author(said)}],
        "keywords": ["interleaved image-text documents", "vision-language models"],
        **{name: value for name, value in stated.items() if value},
    }
    return yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120)


def bibtex(said: Statement) -> str:
    """One entry, for Croissant's `citeAs`."""
    key = re.sub(r"[^a-z0-9]+", "-", said.name.lower()).strip("-") or "corpus"
    fields = {
        "title": said.name,
        "author": _author(said),
        "year": said.published and said.published[:4],
        "url": said.homepage,
    }
    lines = ", ".join(f"{name} = {{{_plain(value)}}}" for name, value in fields.items() if value)
    return f"@misc{{{key}, {lines}}}"


def _author(said: Statement) -> str:
    return f"The makers of {said.name}"


def _plain(value: str) -> str:
    return re.sub(r"[{}\\]", "", value)
