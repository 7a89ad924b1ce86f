"""What is counted, by whom, and from how many on it goes."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.dedup import ImageUseConfig, ParagraphsConfig
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.stages.dedup.shuffled_rows import USES
from obelics_pipeline.stages.dedup.uses import (
    PARAGRAPH,
    PHASH,
    Use,
    UseCounts,
    User,
    host_of,
    image_uses,
    limits_of,
    overused,
    paragraph_key,
    text_uses,
    url_key,
)

ALL = ParagraphsConfig(roles=None, count="occurrences")


def page(*nodes: Node, url: str = "https://a.example/x") -> Document:
    return Document("00" * 16, url, "w", 0, 1, list(nodes))


def user(row: int, recency: int = 0) -> User:
    return User(row, bytes([row]) * 16, recency)


def test_a_paragraph_counts_once_a_page_and_each_time_where_occurrences_count() -> None:
    document = page(TextNode("same"), TextNode("same"), TextNode("other"))
    assert [use.count for use in text_uses(document, ParagraphsConfig(), True, set())] == [1, 0, 1]
    assert [use.count for use in text_uses(document, ALL, True, set())] == [1, 1, 1]
    assert [use.count for use in text_uses(document, ALL, False, set())] == [0, 0, 0]


def test_parts_of_a_page_count_a_paragraph_once_together() -> None:
    seen: set[bytes] = set()
    assert [u.count for u in text_uses(page(TextNode("same")), ParagraphsConfig(), True, seen)] == [1]
    assert [u.count for u in text_uses(page(TextNode("same")), ParagraphsConfig(), True, seen)] == [0]


def test_headings_are_no_boilerplate_unless_asked_for_and_markers_never_are() -> None:
    document = page(
        TextNode("Ingredients", "heading"), TextNode("END", "end_of_document"), TextNode("gone", reason="x")
    )
    assert list(text_uses(document, ParagraphsConfig(), True, set())) == []
    assert [use.key for use in text_uses(document, ALL, True, set())] == [paragraph_key("a.example", "Ingredients")]


def test_a_paragraph_of_another_host_is_another_one() -> None:
    assert paragraph_key("a.example", "x") != paragraph_key("b.example", "x")
    assert host_of("https://A.example:8080/x") == "a.example:8080"
    assert host_of("http://[broken") == ""


def test_an_image_counts_once_a_document() -> None:
    document = page(ImageNode("u", "u"), ImageNode("u", "u"), ImageNode("v", "v", reason="x"))
    assert list(image_uses(document, ImageUseConfig(), True)) == [
        Use("image_url", url_key("u"), 1),
        Use("image_url", url_key("u"), 0),
    ]


def test_the_first_user_is_one_that_counts() -> None:
    counts = UseCounts()
    counts.add(Use(PHASH, b"k" * 16, 0), user(1))
    counts.add(Use(PHASH, b"k" * 16, 1), user(3))
    counts.add(Use(PHASH, b"k" * 16, 1), user(2))
    [row] = counts.table(0, "p", 4).to_pylist()
    assert (row["count"], row["row"]) == (2, 2)


def test_limits_are_of_the_config() -> None:
    assert limits_of(ParagraphsConfig(), ImageUseConfig()) == {"paragraph": 3, "image_url": 11, "phash": 11}
    assert limits_of(ParagraphsConfig(min_count=None), ImageUseConfig(url_max=None, phash_max=0 + 1)) == {"phash": 2}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), max_size=30),
    st.randoms(use_true_random=False),
)
def test_what_is_overused_is_what_adds_up_to_the_limit_and_all_its_users_are_told(
    uses: list[tuple[int, int, int]], random: object
) -> None:
    tables, total, users = [], dict[int, int](), dict[int, set[str]]()
    for number, (key, partition, count) in enumerate(uses):
        counts = UseCounts()
        counts.add(Use(PARAGRAPH, bytes([key]) * 16, count), user(number))
        tables.append(counts.table(0, f"p{partition}", 3))
        total[key] = total.get(key, 0) + count
        users.setdefault(key, set()).add(f"p{partition}")
    random.shuffle(tables)  # type: ignore[attr-defined]
    found = overused(pa.concat_tables([USES.empty_table(), *tables]), {PARAGRAPH: 3}).to_pylist()
    expected = {key for key, count in total.items() if count >= 3}
    assert {row["key"][0] for row in found} == expected
    assert {(row["key"][0], row["partition"]) for row in found} == {(k, p) for k in expected for p in users[k]}
    for row in found:
        counted = [n for n, (key, _, count) in enumerate(uses) if key == row["key"][0] and count]
        assert row["of_doc"] == bytes([min(counted, key=lambda n: (f"p{uses[n][1]}", n))]) * 16
        assert row["count"] == total[row["key"][0]]
