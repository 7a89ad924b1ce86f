from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.extract.split import count_words, split_nodes


def config(words: int | None = 100, images: int | None = 5) -> ExtractionConfig:
    return ExtractionConfig(split_words=words, split_images=images)


def paragraph(words: int, role: str = "paragraph") -> TextNode:
    return TextNode(" ".join(["word"] * words), role)


numbers = count()


def image(width: int | None = None) -> ImageNode:
    name = f"{next(numbers)}.jpg"
    return ImageNode(f"https://e.org/{name}", name, rendered_width=width)


def words_of(part: list[Node]) -> int:
    return sum(count_words(n.text) for n in part if isinstance(n, TextNode))


node = st.one_of(
    st.builds(paragraph, st.integers(1, 60), st.sampled_from(["paragraph", "heading", "caption", "list"])),
    st.builds(image),
)


@given(nodes=st.lists(node, max_size=60))
@settings(deadline=None)
def test_nothing_is_lost_and_no_part_is_empty(nodes: list[Node]) -> None:
    parts = split_nodes(nodes, config())
    joined = [n for part in parts for n in part]
    assert len(joined) == len(nodes)
    assert all(a is b for a, b in zip(joined, nodes, strict=True))
    assert all(parts)


@given(nodes=st.lists(node, max_size=60))
@settings(deadline=None)
def test_an_image_keeps_its_captions(nodes: list[Node]) -> None:
    for part in split_nodes(nodes, config())[1:]:
        at = next(i for i, n in enumerate(nodes) if n is part[0])
        if isinstance(part[0], TextNode) and part[0].role == "caption":
            assert not isinstance(nodes[at - 1], ImageNode)


@given(nodes=st.lists(st.builds(paragraph, st.integers(1, 60)), max_size=60))
@settings(deadline=None)
def test_parts_of_plain_paragraphs_keep_the_limit(nodes: list[Node]) -> None:
    assert all(words_of(part) <= 100 for part in split_nodes(nodes, config()))


def test_a_short_page_stays_whole_and_null_never_splits() -> None:
    nodes: list[Node] = [paragraph(50), image(), paragraph(50)]
    assert split_nodes(nodes, config()) == [nodes]
    many: list[Node] = [paragraph(50) for _ in range(50)]
    assert split_nodes(many, config(None, None)) == [many]
    assert split_nodes([], config()) == []


def test_cuts_come_before_headings() -> None:
    nodes: list[Node] = []
    for _ in range(4):
        nodes += [paragraph(2, "heading"), paragraph(30), paragraph(30)]
    parts = split_nodes(nodes, config())
    assert len(parts) == 4
    assert all(isinstance(p[0], TextNode) and p[0].role == "heading" for p in parts)


def roles(parts: list[list[Node]]) -> list[list[str]]:
    return [[n.role for n in part if isinstance(n, TextNode)] for part in parts]


def test_a_heading_near_the_middle_draws_the_cut_before_itself() -> None:
    """The middle is after six paragraphs; a heading one further on is worth the deviation."""
    nodes: list[Node] = [paragraph(10) for _ in range(12)]
    nodes.insert(7, paragraph(1, "heading"))
    assert [len(part) for part in split_nodes(nodes, config())] == [7, 6]


def test_a_heading_far_from_the_middle_draws_no_cut() -> None:
    nodes: list[Node] = [paragraph(10), paragraph(1, "heading"), *(paragraph(10) for _ in range(13))]
    assert [len(part) for part in split_nodes(nodes, config())] == [8, 7]


def test_no_cut_parts_a_heading_from_what_follows_it() -> None:
    """Where two headings follow each other, too: the cut comes before both."""
    nodes: list[Node] = []
    for _ in range(4):
        nodes += [paragraph(4, "heading"), paragraph(4, "heading"), paragraph(58)]
    assert roles(split_nodes(nodes, config())) == [["heading", "heading", "paragraph"]] * 4
    nodes = [paragraph(50), paragraph(2, "heading"), paragraph(50)]
    assert roles(split_nodes(nodes, config())) == [["paragraph"], ["heading", "paragraph"]]


def test_a_cut_after_a_heading_is_the_last_resort() -> None:
    """A heading of nearly a whole part: the cut behind it alone keeps the limit."""
    nodes: list[Node] = [paragraph(90, "heading"), paragraph(60)]
    assert [len(part) for part in split_nodes(nodes, config())] == [1, 1]


def test_a_cut_further_from_the_middle_is_better_than_one_after_a_heading() -> None:
    nodes: list[Node] = [paragraph(70, "heading"), paragraph(30), paragraph(50)]
    assert [len(part) for part in split_nodes(nodes, config())] == [2, 1]


def test_a_part_may_be_as_long_as_the_limit() -> None:
    assert [words_of(part) for part in split_nodes([paragraph(20) for _ in range(10)], config())] == [100, 100]
    assert [len(part) for part in split_nodes([image() for _ in range(10)], config(None))] == [5, 5]


def test_parts_are_balanced() -> None:
    parts = split_nodes([paragraph(10) for _ in range(21)], config())
    assert sorted(words_of(p) for p in parts) == [70, 70, 70]


def test_images_split_a_page_and_captions_stay() -> None:
    nodes: list[Node] = []
    for _ in range(12):
        nodes += [image(), paragraph(2, "caption")]
    parts = split_nodes(nodes, config())
    assert [sum(isinstance(n, ImageNode) for n in p) for p in parts] == [4, 4, 4]
    assert all(isinstance(p[0], ImageNode) for p in parts)


def test_a_caption_above_its_image_stays_with_it() -> None:
    nodes: list[Node] = []
    for _ in range(12):
        nodes += [paragraph(3, "caption"), image(), paragraph(1)]
    assert all(not isinstance(p[0], ImageNode) for p in split_nodes(nodes, config()))


def test_a_paragraph_over_the_limit_stands_alone() -> None:
    parts = split_nodes([paragraph(10), paragraph(300), paragraph(10)], config())
    assert [words_of(p) for p in parts] == [10, 300, 10]


def test_words_are_counted_in_scripts_without_spaces() -> None:
    assert count_words("four words in all") == 4
    assert count_words("日本語の文章です") == 5


def test_icons_and_repetitions_need_no_document_of_their_own() -> None:
    same = image()
    nodes: list[Node] = [paragraph(5), *(image(width=32) for _ in range(20)), *([same] * 20), paragraph(5)]
    assert split_nodes(nodes, config()) == [nodes]
    nodes += [n for _ in range(20) for n in (image(width=600), paragraph(1))]
    assert len(split_nodes(nodes, config())) >= 4


def test_an_image_of_150_pixels_is_no_icon() -> None:
    assert len(split_nodes([image(width=149) for _ in range(10)], config())) == 1
    assert len(split_nodes([image(width=150) for _ in range(10)], config())) == 2
