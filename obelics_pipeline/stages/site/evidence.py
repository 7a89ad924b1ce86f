"""What is known of a site, as numbers that add up: one row per site and language of a unit, whatever its size.

All of them are whole numbers, so that the sum is the same in whatever order rows are added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, fields

import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.dedup.shuffled_rows import KEY, bucket_of
from obelics_pipeline.stages.extract.links import LinkCounts
from obelics_pipeline.stages.site.shares import Shares

SCALE = 100_000  # a score is counted in parts of so many: 9 x 10^8 squares of them fit into 64 bits
POINTS = 21  # of the histogram of scores: 0, 0.05, … 1
WEIGHT = SCALE // (POINTS - 1)  # of one score, dealt to the points on either side of it, the nearer one has more
_NEVER, _EVER = 2**31 - 1, -1  # first and last day of a site without dates: the least and the greatest of nothing

SHARE_NAMES = tuple(field.name for field in fields(Shares))
POINT_NAMES = tuple(f"point_{number:02d}" for number in range(POINTS))
COUNTS = (
    "documents",  # captures of one page count once
    "score_squares",  # in parts of SCALE; of every document that has the score, those included that a filter dropped
    "near_duplicates",  # documents with nearly the text of another page
    "paragraphs",
    "templates",  # of these, what dedup found on too many pages of the host
    "links",
    "outbound_links",
    "affiliate_links",
    "dated",  # pages that say when they were published
    *SHARE_NAMES,  # see shares.Shares
    *POINT_NAMES,  # weights of the same scores
)
_DAYS = ("first_day", "last_day")  # ordinals of the proleptic Gregorian calendar

_SUMS = [*(pa.field(name, pa.int64()) for name in COUNTS), *(pa.field(name, pa.int32()) for name in _DAYS)]
_OF = [pa.field("partition", pa.string()), pa.field("site", KEY)]

# Sums of a partition, by site and language ("" where none is known).
EVIDENCE = pa.schema([pa.field("bucket", pa.int32()), *_OF, pa.field("language", pa.string()), *_SUMS])

# Sums of the corpus, for each partition that has pages of the site. `language_mixture` is in bits.
TOTALS = pa.schema([*_OF, *_SUMS, pa.field("language_mixture", pa.float64())])

# A kept document of a unit, in their order: its site (null where it has none), the weights of its page's scores, and
# what it shares.
OWN = pa.schema([pa.field("site", KEY), *(pa.field(name, pa.int64()) for name in (*POINT_NAMES, *SHARE_NAMES))])


def site_key(site: str) -> bytes | None:
    """128 bits of a registered domain; None where a page has none."""
    return hashlib.blake2b(site.encode("utf-8", "surrogatepass"), digest_size=16).digest() if site else None


def parts_of(score: float) -> int:
    """A score in parts of SCALE. Raises UserError for one that is not from 0 to 1."""
    if not 0 <= score <= 1:  # a NaN too
        raise UserError(f"site.score: {score} of a document is not from 0 to 1; name a score that is a probability")
    return round(score * SCALE)


def weights_of(score: float) -> Iterator[tuple[int, int]]:
    """The points that a score is dealt to, and what each gets. Their mean is the score: a histogram without a bias."""
    point, rest = divmod(parts_of(score), WEIGHT)
    yield point, WEIGHT - rest
    if rest:
        yield point + 1, rest


@dataclass(slots=True)
class Seen:
    """The evidence of one document for its site. Evidence of the page counts once for all parts of a split page."""

    language: str = ""
    documents: int = 0
    score: float | None = None
    near_duplicate: bool = False
    paragraphs: int = 0
    templates: int = 0
    links: LinkCounts = field(default_factory=LinkCounts)
    day: int | None = None  # ordinal
    shares: Shares = field(default_factory=Shares)


class Sums:
    """Adds up what the documents of one unit say of their sites."""

    def __init__(self) -> None:
        self._rows: dict[tuple[bytes, str], list[int]] = {}
        self._places = {name: place for place, name in enumerate((*COUNTS, *_DAYS))}

    def add(self, site: bytes, seen: Seen) -> None:
        """Add a document."""
        row = self._rows.setdefault((site, seen.language), [0] * len(COUNTS) + [_NEVER, _EVER])
        at = self._places
        row[at["documents"]] += seen.documents
        row[at["near_duplicates"]] += seen.near_duplicate
        row[at["paragraphs"]] += seen.paragraphs
        row[at["templates"]] += seen.templates
        row[at["links"]] += seen.links.link_count
        row[at["outbound_links"]] += seen.links.outbound_link_count
        row[at["affiliate_links"]] += seen.links.affiliate_link_count
        for name, count in zip(SHARE_NAMES, astuple(seen.shares), strict=True):
            row[at[name]] += count
        if seen.score is not None:
            row[at["score_squares"]] += parts_of(seen.score) ** 2
            for point, weight in weights_of(seen.score):
                row[at[POINT_NAMES[point]]] += weight
        if seen.day is not None:
            row[at["dated"]] += 1
            row[-2], row[-1] = min(row[-2], seen.day), max(row[-1], seen.day)

    def table(self, partition: str, buckets: int) -> pa.Table:
        """The rows of EVIDENCE, sorted by site and language."""
        items = sorted(self._rows.items())
        columns = [
            [bucket_of(site, buckets) for (site, _), _ in items],
            [partition] * len(items),
            [site for (site, _), _ in items],
            [language for (_, language), _ in items],
            *([row[place] for _, row in items] for place in range(len(self._places))),
        ]
        return pa.table(dict(zip(EVIDENCE.names, columns, strict=True)), schema=EVIDENCE)
