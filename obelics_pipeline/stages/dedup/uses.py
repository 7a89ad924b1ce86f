"""How often a unit's documents use a paragraph on their host, or an image: counts, combined before they travel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.config.dedup import ImageUseConfig, ParagraphsConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode, asked_as
from obelics_pipeline.stages.dedup.shuffled_rows import OVERUSED, USES, bucket_of, order_key

PARAGRAPH, IMAGE_URL, PHASH = "paragraph", "image_url", "phash"  # rules


@dataclass(frozen=True, slots=True)
class Use:
    """A document uses something `count` times; 0 where a duplicate of it is what counts."""

    rule: str
    key: bytes
    count: int


@dataclass(frozen=True, slots=True)
class User:
    """The document that uses, and its order (see shuffled_rows.ORDER)."""

    row: int
    doc: bytes
    recency: int


class UseCounts:
    """Adds up uses within one unit: one row of USES per key, whatever the number of documents."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, bytes], tuple[int, tuple[int, int], User]] = {}

    def add(self, use: Use, user: User) -> None:
        """Count one use. The first user is the first that counts, or the first at all."""
        place = (user.recency, user.row)
        known = self._sums.get((use.rule, use.key))
        if known is None:
            self._sums[use.rule, use.key] = (use.count, place, user)
            return
        count, first, first_user = known
        if (count == 0, first) > (use.count == 0, place):
            first, first_user = place, user
        self._sums[use.rule, use.key] = (count + use.count, first, first_user)

    def table(self, generation: int, partition: str, buckets: int) -> pa.Table:
        """The rows of USES, sorted by rule and key."""
        rows = [
            {
                "bucket": bucket_of(key, buckets),
                "rule": rule,
                "key": key,
                "count": count,
                "generation": generation,
                "recency": user.recency,
                "partition": partition,
                "row": user.row,
                "doc": user.doc,
            }
            for (rule, key), (count, _, user) in sorted(self._sums.items())
        ]
        return pa.Table.from_pylist(rows, USES)


def text_uses(document: Document, config: ParagraphsConfig, counts: bool, seen: set[bytes]) -> Iterator[Use]:
    """The paragraphs of a document that may be boilerplate of its host.

    `seen` holds what other parts of the same page used, where a page counts once. Reference, stage 9: exact,
    case-sensitive paragraphs of one network location.
    """
    host = host_of(document.url)
    for node in document.nodes:
        if isinstance(node, TextNode) and counts_as_paragraph(node, config):
            key = paragraph_key(host, node.text)
            new = config.count == "occurrences" or key not in seen
            seen.add(key)
            yield Use(PARAGRAPH, key, int(counts and new))


def counts_as_paragraph(node: TextNode, config: ParagraphsConfig) -> bool:
    """Whether the rule on repeated paragraphs concerns a node; marks of a document's end repeat by their nature."""
    if node.reason is not None or not node.text or node.role == "end_of_document":
        return False
    return config.roles is None or node.role in config.roles


def image_uses(document: Document, config: ImageUseConfig, counts: bool) -> Iterator[Use]:
    """The image URLs of a document."""
    seen: set[bytes] = set()
    for image in document.images():
        key = url_key(image.src)
        new = config.url_count == "occurrences" or key not in seen
        seen.add(key)
        yield Use(IMAGE_URL, key, int(counts and new))


def phash_uses(images: Iterable[ImageNode], phashes: Mapping[str, str], counts: bool) -> Iterator[Use]:
    """The uses of perceptual hashes by one document. `phashes` gives the hash by what images are asked for by."""
    for phash in sorted({phashes[key] for key in map(asked_as, images) if key in phashes}):
        yield Use(PHASH, phash_key(phash), int(counts))


def host_of(url: str) -> str:
    """The network location of a page, in lower case (reference, stage 9: verbatim; hosts differ in nothing by case)."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:  # a bracket that opens no address
        return ""


def paragraph_key(host: str, text: str) -> bytes:
    """128 bits of a paragraph on a host."""
    return _hash(f"{host}\n{text}")


def url_key(url: str) -> bytes:
    """128 bits of an image URL as it is requested."""
    return _hash(url)


def phash_key(phash: str) -> bytes:
    """128 bits of a perceptual hash in hexadecimal."""
    return _hash(phash)


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def overused(uses: pa.Table, limits: Mapping[str, int]) -> pa.Table:
    """The rows of OVERUSED of a bucket: what is used at least as often as `limits` say, by rule.

    `uses` are all rows of USES of whole keys, in any order; rules without a limit have none.
    """
    if uses.num_rows == 0:
        return OVERUSED.empty_table()
    uses = uses.append_column("counts_not", pc.equal(uses["count"], 0))
    uses = uses.sort_by([("rule", "ascending"), ("key", "ascending"), ("counts_not", "ascending"), *order_key()])
    groups = uses.group_by(["rule", "key"], use_threads=False).aggregate([("count", "sum"), ("doc", "first")])
    too_many = pc.greater_equal(groups["count_sum"], _limit_of(groups["rule"], limits))
    found = groups.filter(too_many).rename_columns({"count_sum": "total", "doc_first": "of_doc"})
    rows = uses.select(["partition", "rule", "key"]).join(found, ["rule", "key"], join_type="inner")
    rows = rows.rename_columns({"total": "count"}).select(OVERUSED.names).cast(OVERUSED)
    return rows.sort_by([(name, "ascending") for name in ("partition", "rule", "key")])


def _limit_of(rules: pa.ChunkedArray, limits: Mapping[str, int]) -> pa.Array:
    never = 2**62
    return pa.array([limits.get(rule, never) for rule in rules.to_pylist()], pa.int64())


def limits_of(paragraphs: ParagraphsConfig, images: ImageUseConfig) -> dict[str, int]:
    """From how many uses on each rule removes."""
    limits = {
        PARAGRAPH: paragraphs.min_count,
        IMAGE_URL: images.url_max and images.url_max + 1,
        PHASH: images.phash_max and images.phash_max + 1,
    }
    return {rule: limit for rule, limit in limits.items() if limit is not None}


def verdicts(rows: Sequence[pa.Table], rule: str) -> dict[bytes, bytes]:
    """Keys of a rule that are used too often, each with the first document that uses it, from rows of OVERUSED."""
    found: dict[bytes, bytes] = {}
    for table in rows:
        of_rule = table.filter(pc.equal(table["rule"], rule))
        found.update(zip(of_rule["key"].to_pylist(), of_rule["of_doc"].to_pylist(), strict=True))
    return found
