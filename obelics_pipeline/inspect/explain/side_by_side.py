"""One HTML file that shows a page raw, simplified and final, side by side. It loads nothing and holds no link."""

from __future__ import annotations

from importlib.resources import files
from string import Template

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.core.html.markup import text
from obelics_pipeline.core.html.templates import sha256_of
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.inspect.explain.explanation import Explanation
from obelics_pipeline.inspect.explain.facts import facts_of
from obelics_pipeline.inspect.explain.final_view import final_view, table
from obelics_pipeline.inspect.explain.raw_view import raw_view
from obelics_pipeline.inspect.explain.source_positions import image_position, text_positions
from obelics_pipeline.inspect.explain.tree_view import DEEPEST, tree_view
from obelics_pipeline.stages.read.page import Page

_INDENT = 0.55  # em a level


def side_by_side(explanation: Explanation) -> str:
    """The file. Its policy lets a browser run and style by what is ours only, known by hash, and load nothing."""
    style, script = _packaged("page.css") + _indents(), _packaged("page.js")
    record = explanation.record
    return Template(_packaged("page.html")).substitute(
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        url=text(record.url or redacted(explanation.path)),
        facts="".join(table(facts) for facts in facts_of(explanation)),
        raw=raw_view(record.html, _rows_at(record.html, explanation))
        if isinstance(record, Page)
        else "<p>No page.</p>",
        tree=tree_view(explanation),
        final=final_view(explanation),
    )


def _rows_at(source: str, explanation: Explanation) -> dict[int, list[int]]:
    """The rows of the tree by the position in the source where their text, or their picture's address, begins."""
    if explanation.simplified is None:
        return {}
    values = explanation.simplified.tree.values
    texts = [row for row, value in enumerate(values) if isinstance(value, str)]
    places = dict(zip(texts, text_positions(source, [str(values[row]) for row in texts]), strict=True))
    images = {rows[0]: node for node, rows in explanation.nodes() if isinstance(node, ImageNode) and rows}
    found: dict[int, list[int]] = {}
    before = 0  # where the last text or image that was found begins: an address may stand in the head as well
    for row in sorted([*texts, *images]):
        place = image_position(source, images[row].unformatted_src, before) if row in images else places[row]
        if place is not None:
            found.setdefault(place, []).append(row)
            before = max(before, place)
    return found


def _packaged(name: str) -> str:
    return files("obelics_pipeline.inspect.explain").joinpath(name).read_text(encoding="utf-8")


def _indents() -> str:
    return "".join(f".d{level}{{padding-left:{_INDENT * level + 1.2:.2f}em}}\n" for level in range(DEEPEST + 1))


def _hash(content: str) -> str:
    return f"sha256-{sha256_of(content)}"
