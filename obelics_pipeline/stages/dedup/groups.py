"""Which document belongs to which group of duplicates, as one unit of documents knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from obelics_pipeline.core.commit import committed
from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.dedup.candidates import TEXT, URL


@dataclass(frozen=True, slots=True)
class Page:
    """One kept document of a unit: a row of candidates.PAGES."""

    row: int
    doc: bytes
    page: int
    twin: int
    recency: int


class Groups:
    """The groups of one unit's documents, from its rows of PAGES and of MEMBERS."""

    def __init__(self, pages: pa.Table, members: Iterable[pa.Table]) -> None:
        self._by_row: dict[int, Page] = {value["row"]: Page(**value) for value in pages.to_pylist()}
        self._by_doc = {page.doc: page for page in self._by_row.values()}
        self._groups: dict[tuple[int, str], bytes] = {
            (row, rule): group
            for table in members
            for row, rule, group in zip(*(table[name].to_pylist() for name in ("row", "rule", "group")), strict=True)
        }

    def page(self, doc_id: str) -> Page:
        """What is known of a document. Raises KeyError for one that was not kept when the keys were made."""
        return self._by_doc[bytes.fromhex(doc_id)]

    def pages(self) -> Iterator[Page]:
        """What is known of every document, in their order."""
        yield from self._by_row.values()

    def has_members(self, page: Page, rule: str) -> bool:
        """Whether a document, or the one that speaks for it, was found to be in a group with others."""
        return (self._speaker(page, rule).row, rule) in self._groups

    def group(self, page: Page, rule: str) -> bytes:
        """The first document of a document's group; a page, or a text, that is alone is its own first.

        Parts of a page are in the page's group; a document is in the text group of its twin.
        """
        speaker = self._speaker(page, rule)
        return self._groups.get((speaker.row, rule), speaker.doc)

    def _speaker(self, page: Page, rule: str) -> Page:
        return self._by_row[page.page if rule == URL else page.twin]

    def is_first_capture(self, page: Page) -> bool:
        """Whether a document belongs to the first capture of its page."""
        return self.group(page, URL) == self._by_row[page.page].doc

    def counts(self, page: Page) -> bool:
        """Whether a document is counted: it belongs to its page's first capture, and is the first with its text."""
        return self.is_first_capture(page) and self.group(page, TEXT) == page.doc


def read_groups(unit: Unit, candidate_folder: Location, member_folder: Location) -> Groups:
    """The groups of a unit whose payload names its candidates and the files of its group members."""
    pages = read_table(committed(candidate_folder, unit.payload["candidates"]).path(candidate_folder, "pages"))
    return Groups(pages, [read_table(member_folder / name) for name in unit.payload["members"]])
