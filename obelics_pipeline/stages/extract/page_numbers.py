"""What tells the kind of a page: a row of numbers for the whole page.

Most are means, over the text of the page, of the features that tell its main content (`main_features`). The others are
of its address, of the types that it declares, of its tags and its characters. None depends on the words of a language:
the names of types are those of schema.org and Open Graph. Only whole numbers are added up, so that the numbers are the
same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import tree as t
from obelics_pipeline.stages.extract.declared_types import declared_types
from obelics_pipeline.stages.extract.find import find
from obelics_pipeline.stages.extract.head import Head
from obelics_pipeline.stages.extract.links import LinkCounts
from obelics_pipeline.stages.extract.main_features import NAMES as TEXT_NAMES
from obelics_pipeline.stages.extract.tags import CUSTOM, TEXT, tag_id
from obelics_pipeline.stages.extract.tree import SimplifiedTree

_MOST_TEXTS = 1000  # of a page, whose features count; of more, every second, third …
_PARTS = 1024  # a feature is counted in parts of so many
_MOST_DECLARED = 20  # of a kind; more says no more
_MOST_CODE = 200  # elements
_MOST_BYTES = 300_000  # of a page that are searched for them

# What a page may declare (schema.org), by what it says of the page.
_TYPES = {
    "article": "Article NewsArticle BlogPosting TechArticle Report Blog ScholarlyArticle LiveBlogPosting "
    "OpinionNewsArticle AnalysisNewsArticle",
    "product": "Product ProductGroup IndividualProduct Vehicle Car",
    "offer": "Offer AggregateOffer",
    "rating": "AggregateRating Rating Review",
    "list": "ItemList CollectionPage SearchResultsPage OfferCatalog",
    "list_item": "ListItem",
    "forum": "DiscussionForumPosting SocialMediaPosting",
    "question": "QAPage Question Answer",
    "comment": "Comment UserComments",
    "service": "Service ProfessionalService FinancialService",
    "organization": "Organization Corporation LocalBusiness",
    "person": "Person",
    "page": "WebPage WebSite",
    "breadcrumb": "BreadcrumbList",
    "image": "ImageObject VideoObject",
    "other": "Event JobPosting Recipe HowTo Course SoftwareApplication APIReference Book Movie PodcastEpisode",
}
_MEANING = {name: meaning for meaning, names in _TYPES.items() for name in names.split()}
_OPEN_GRAPH = ("article", "product", "website")  # the beginnings of og:type
_TAGS = "p li td th pre h1 h2 h3 h4 h5 h6 dt dd a div section table".split()  # around a text
_TAG_IDS = tuple(tag_id(name) for name in _TAGS)
_COUNTED = (t.LINKED, t.WORDS, t.COMMAS, t.STOPS, t.DIGITS, t.UPPERS, t.WIDE)
_CHARACTERS = {
    "money": "$€£",
    "question": "?",
    "bracket": "(",
    "brace": "{",
    "equals": "=",
    "colon": ":",
    "slash": "/",
}
_SIGNS = ("/", "-", "\n#", "?", "=")  # of addresses
_IMAGE = tag_id("img")
_CODE = b"</code>"
_DIGITS = re.compile(r"[0-9]+")
_WORDS = re.compile(r"[A-Za-z]{2,}")
_ENDING = re.compile(r"\.[a-z]{2,5}\Z")

NAMES = (
    *(f"declares_{name}" for name in _TYPES),
    "declares_kinds",
    "code",
    *(f"og_{name}" for name in _OPEN_GRAPH),
    *"title description dates head_images".split(),
    *(f"address_{name}" for name in "depth length digits number query labels host ending slash".split()),
    *(f"address_last_{name}" for name in "length digits hyphens words".split()),
    *"rows texts images images_share characters longest".split(),
    *(f"share_{name}" for name in "linked words commas stops digits uppers wide".split()),
    *"links outbound_share distinct_links".split(),
    *(f"link_{name}" for name in "length slashes hyphens fragments queries values self below beside".split()),
    *(f"in_{name}" for name in _TAGS),
    *(f"rate_{name}" for name in _CHARACTERS),
    *(f"mean_{name}" for name in TEXT_NAMES),
)

Numbers = NDArray[np.float32]


def page_numbers(
    tree: SimplifiedTree, features: Numbers, url: str, head: Head, links: LinkCounts, source: bytes
) -> Numbers:
    """The numbers of a page in the order of `NAMES`. `features` are those of its texts, shape (texts, features)."""
    counts = count_rows(tree)
    characters = max(1, counts.sums[t.CHARS])
    numbers = [
        *_of_the_head(head, source),
        *_of_the_address(url),
        *_of_the_tree(tree, counts, characters),
        links.link_count,
        links.outbound_link_count / max(1, links.link_count),
        *_of_the_links(tree, url),
        *(count / characters for count in counts.by_tag),
        *_of_the_characters(tree, characters),
    ]
    return np.concatenate([np.array(numbers, np.float32), _means(features)])


def _of_the_head(head: Head, source: bytes) -> Iterable[float]:
    declared = dict.fromkeys(_TYPES, 0)
    types = declared_types(source)
    for name, count in types.items():
        if name in _MEANING:
            declared[_MEANING[name]] += count
    return [
        *(min(_MOST_DECLARED, count) for count in declared.values()),
        len(types),
        _count_code(source),
        *(head.kind.startswith(name) for name in _OPEN_GRAPH),
        len(head.title or ""),
        len(head.descriptions[0]) if head.descriptions else 0,
        len(head.dates),
        len(head.images),
    ]


def _count_code(source: bytes) -> int:
    count, at = 0, find(source, _CODE, 0)
    while 0 <= at <= _MOST_BYTES - len(_CODE) and count < _MOST_CODE:
        count += 1
        at = find(source, _CODE, at + len(_CODE))
    return count


def _of_the_address(url: str) -> Iterable[float]:
    address = _split(url)
    path, host = address.path, address.netloc.removeprefix("www.")
    parts = [part for part in path.split("/") if part]
    last = parts[-1] if parts else ""
    return [
        len(parts),
        len(path),
        sum(map(str.isdigit, path)),
        max(map(len, _DIGITS.findall(path)), default=0),
        len(address.query),
        host.count("."),
        len(host),
        _ENDING.search(last) is not None,
        path.endswith("/"),
        len(last),
        sum(map(str.isdigit, last)),
        last.count("-") + last.count("_"),
        len(_WORDS.findall(last)),
    ]


class RowCounts(NamedTuple):
    """What is counted in the rows of a tree.

    `sums` of each column from CHARS on, 0 before it; the characters of the longest row; how many rows are texts and
    images; and the characters of the texts whose innermost element has each tag of `_TAGS`.
    """

    sums: list[int]
    longest: int
    texts: int
    images: int
    by_tag: list[int]


def count_rows(tree: SimplifiedTree) -> RowCounts:
    """Count the rows of a tree, compiled where that was built."""
    if not t.COMPILED:
        return count_in_numpy(tree)
    sums, (longest, texts, images), by_tag = t.compiled.count_rows(tree.rows, TEXT, _IMAGE, _TAG_IDS)
    return RowCounts(sums, longest, texts, images, by_tag)


def count_in_numpy(tree: SimplifiedTree) -> RowCounts:
    """What `count_rows` says, in NumPy."""
    rows = tree.rows
    sums = rows.sum(axis=0, dtype=np.int64)
    sums[: t.CHARS] = 0
    texts = np.flatnonzero(rows[:, t.TAG] == TEXT)
    around = rows[rows[texts, t.PARENT], t.TAG]
    by_tag = np.bincount(around, rows[texts, t.CHARS], CUSTOM + 1)  # whole numbers below 2^53: exact
    return RowCounts(
        sums.tolist(),
        int(rows[:, t.CHARS].max(initial=0)),
        len(texts),
        int(np.count_nonzero(rows[:, t.TAG] == _IMAGE)),
        by_tag[list(_TAG_IDS)].astype(np.int64).tolist(),
    )


def _of_the_tree(tree: SimplifiedTree, counts: RowCounts, characters: int) -> Iterable[float]:
    return [
        len(tree.rows),
        counts.texts,
        counts.images,
        1000 * counts.images / characters,
        characters,
        counts.longest / characters,
        *(counts.sums[column] / characters for column in _COUNTED),
    ]


def _of_the_links(tree: SimplifiedTree, url: str) -> Iterable[float]:
    """How many differ, and what their addresses have on average, as written: signs, and the path of the page itself."""
    addresses = [address for address, _ in tree.links if address]
    written = "\n" + "\n".join(addresses) + "\n"
    path = _split(url).path.rstrip("/")
    parent = path.rpartition("/")[0]
    found = [
        *count_addresses(addresses),
        written.count(path + "\n") if path else 0,
        written.count(path + "/") if path else 0,
        written.count(parent + "/") if parent else 0,
    ]
    return [len(set(addresses)), *(count / max(1, len(addresses)) for count in found)]


def count_addresses(addresses: list[str]) -> list[int]:
    """The characters of addresses, a line each, and how often each of `_SIGNS` is there."""
    return t.compiled.count_addresses(addresses) if t.COMPILED else count_addresses_in_python(addresses)


def count_addresses_in_python(addresses: list[str]) -> list[int]:
    """What `count_addresses` says, in Python."""
    written = "\n" + "\n".join(addresses) + "\n"
    return [len(written), *map(written.count, _SIGNS)]


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _of_the_characters(tree: SimplifiedTree, characters: int) -> Iterable[float]:
    counts = count_characters(tree.values, "".join(_CHARACTERS.values()))
    found, at = [], 0
    for signs in _CHARACTERS.values():
        found.append(1000 * sum(counts[at : at + len(signs)]) / characters)
        at += len(signs)
    return found


def count_characters(values: Sequence[object], signs: str) -> list[int]:
    """How often each of the signs stands in the texts among values, compiled where that was built."""
    if t.COMPILED:
        counts: list[int] = t.compiled.count_characters(values, signs)
        return counts
    text = "\n".join([value for value in values if isinstance(value, str)])
    return [text.count(sign) for sign in signs]


def _means(features: Numbers) -> Numbers:
    """The mean of each feature over the texts, longer ones counting more (their first feature is their length)."""
    if not len(features):
        return np.zeros(len(TEXT_NAMES), np.float32)
    step = -(-len(features) // _MOST_TEXTS)
    if not t.COMPILED:
        return means_in_numpy(features, step)
    values = np.ascontiguousarray(features, np.float32)
    return np.frombuffer(t.compiled.means(values, values.shape[1], step, _PARTS), np.float32)


def means_in_numpy(features: Numbers, step: int) -> Numbers:
    """The means over every text, every second one, and so on by `step`, in NumPy."""
    some = features[::step]
    weights = some[:, 0].astype(np.int64)
    sums = weights @ np.rint(some * _PARTS).astype(np.int64)
    return (sums / (_PARTS * max(1, int(weights.sum())))).astype(np.float32)
