"""What must hold of the nodes of any page: for the property tests and for the fuzzer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import IMAGE_ROLES, ImageNode, TextNode
from obelics_pipeline.stages.extract.page import ExtractedPage, PageRejected, extract_page
from obelics_pipeline.stages.extract.rebuild.held import held_text, insert
from obelics_pipeline.stages.extract.rebuild.left_open import close_iframes
from obelics_pipeline.stages.extract.rebuild.splash import opened
from obelics_pipeline.stages.extract.rebuild.streamed import is_streamed, show_parts

URL = "https://www.example.com/blog/post.html"
CONFIGS = [
    ExtractionConfig(scope=scope, markup=markup, max_nodes=50_000, max_depth=1_000)
    for scope in ("main", "page")
    for markup in ("plain", "markdown")
]
CONFIGS.append(CONFIGS[0].model_copy(update={"comments": "mark"}))

# A mark is a made-up word, or a part of an image's address, that stands where it was put: as q17z.
_MARK = re.compile(r"q\d+z")
_FORMULA = re.compile(r"\$[^$]*\$")  # TeX is no text of the page: test_formulas.py tells what becomes one
_FENCE = re.compile(r"\A```.*")  # with the language of the code, which an attribute tells
_CONTROLS = re.compile(r"[\0-\x1f\x7f]")  # go from addresses
_UNREAD = frozenset(("script", "style", "template", "title"))

Location = tuple[int, int, int]  # number of a node, of one that is shown in its place, and characters in that


def check(html: str, config: ExtractionConfig) -> str:
    """Extract a page and check the nodes. Returns "nodes", "none", or why the page was rejected.

    Raises AssertionError where something does not hold, and whatever extraction should not have raised.
    """
    try:
        page = extract_page(html, URL, config)
    except PageRejected as rejected:
        return rejected.reason
    _check_nodes(page, config)
    if not page.nodes:
        return "none"
    found = None
    for source in _readings(html):
        found = _source_errors(source, page, config)
        if found is None:
            return "nodes"
    raise AssertionError(found)


def _check_nodes(page: ExtractedPage, config: ExtractionConfig) -> None:
    confidence = page.main_content_confidence
    assert (confidence is None) == (config.scope == "page"), f"confidence {confidence} in scope {config.scope}"
    assert confidence is None or 0 <= confidence <= 1, f"confidence {confidence}"
    position = 0
    for node in page.nodes:
        if isinstance(node, TextNode):
            assert node.text.strip(), f"an empty text: {node}"
            assert "\0" not in node.text, f"a mark of ours: {node}"
        else:
            assert node.src.startswith(("http://", "https://", "ftp")), f"no address: {node}"
            assert node.role in IMAGE_ROLES, f"no role: {node}"
            assert node.position is not None and node.position >= position, f"goes back: {node}"
            position = node.position


def _readings(html: str) -> Iterator[_Source]:
    """The page as it is parsed, as parsers without scripts see it, and with what its data hold."""
    source = close_iframes(html.replace("\0", "").encode("utf-8", "replace"))
    yield _Source(_parsed(source))
    yield _Source(_parsed(opened(source)))
    parser = _parsed(source)
    if text := held_text(parser):
        insert(parser, text)
        yield _Source(parser)


def _parsed(source: bytes) -> LexborHTMLParser:
    parser = LexborHTMLParser(source)
    if is_streamed(source):
        show_parts(parser)
    return parser


class _Source:
    """The page as it is parsed: its text, its descriptions of images, and where each mark stands."""

    def __init__(self, parser: LexborHTMLParser) -> None:
        self.texts: list[str] = []
        self.alts: set[str | None] = {None}
        self.values: list[str] = []
        self.marks: dict[str, list[Location]] = {}
        self._anchors: dict[int, int] = {}  # numbers of the pictures and tables
        root = parser.root
        assert root is not None
        for number, node in enumerate(root.traverse(include_text=True)):
            if node.is_element_node:
                values = {name: value or "" for name, value in node.attributes.items()}
                if node.tag in ("picture", "table"):
                    self._anchors[node.mem_id] = number
                self.values += values.values()
                self.alts.add(" ".join(values.get("alt", "").split()))
                said = _CONTROLS.sub("", " ".join(values.values()))
                self._mark(said, number, node)
                if node.tag == "figure" and _MARK.search(said):
                    # Without an image in it, it may show one of its attributes, where it ends.
                    end = number + sum(1 for _ in node.traverse(include_text=True))
                    self._mark(said, end, node)
            elif node.is_text_node and (node.parent is None or node.parent.tag not in _UNREAD):
                self.texts.append(node.text_content or "")
                self._mark(self.texts[-1], number, node)

    def _mark(self, text: str, number: int, node: LexborNode) -> None:
        for mark in _MARK.finditer(text):
            places = self.marks.setdefault(mark[0], [])
            places.append((number, 0, mark.start()))
            anchor = self._anchor(node)
            if anchor is not None:
                places.append((anchor, number, mark.start()))

    def _anchor(self, node: LexborNode) -> int | None:
        """The picture or the table that begins where this is shown.

        A picture stands where it begins, whichever of its images is shown; a table's caption stands before its rows.
        """
        found, in_caption = None, False
        around = node.parent
        while around is not None:
            if around.tag == "picture" or (around.tag == "table" and in_caption):
                found = self._anchors.get(around.mem_id)
            in_caption = around.tag == "caption" or (in_caption and around.tag != "table")
            around = around.parent
        return found


def _source_errors(source: _Source, page: ExtractedPage, config: ExtractionConfig) -> str | None:
    """What of a page's nodes does not come from this reading of it, None if all does."""
    letters = "".join(_letters("".join(source.texts), config))
    values = "\0".join(source.values)
    rest = iter(letters)
    emitted: list[str] = []
    for node in page.nodes:
        if isinstance(node, ImageNode):
            if node.alt_text not in source.alts:
                return f"a description that is none in the page: {node}"
            if node.unformatted_src not in values:
                return f"an address that is none in the page: {node}"
            emitted += _MARK.findall(node.src)
            continue
        # A caption stands before the rows of its table, wherever it was written.
        within = iter(letters) if node.role == "caption" else rest
        text = _FORMULA.sub("", _FENCE.sub("", node.text) if node.role == "code" else node.text)
        if not all(letter in within for letter in _letters(text, config)):
            return f"text that is not in the page there: {node}"
        emitted += _MARK.findall(text)
    return _order_error(emitted, source.marks)


def _letters(text: str, config: ExtractionConfig) -> Iterable[str]:
    """What must come from the page: all but white space, and in Markdown nothing that could be a sign of it."""
    return filter(str.isalpha, text) if config.markup == "markdown" else "".join(text.split())


def _order_error(emitted: list[str], places: dict[str, list[Location]]) -> str | None:
    last: Location = (-1, 0, 0)
    for mark in emitted:
        if mark not in places:
            continue  # of two halves that stand side by side
        later = [place for place in places[mark] if place >= last]
        if not later:
            return f"out of order: {mark} in {emitted}"
        last = min(later)
    doubled = sorted(mark for mark, count in Counter(emitted).items() if count > len(set(places.get(mark, "x"))))
    return f"more often than in the page: {doubled}" if doubled else None
