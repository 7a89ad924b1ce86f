"""The middle column: the simplified tree, a row of it a row, with what decided whether it stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from obelics_pipeline.core.html.markup import pieces, text
from obelics_pipeline.inspect.explain.explanation import Explanation
from obelics_pipeline.stages.extract.marks import names_of
from obelics_pipeline.stages.extract.tree import CHARS, END, LINKED, MARKS, PARENT, TAG, sums_before, tag_name

DEEPEST = 30  # levels that are indented


def tree_view(explanation: Explanation) -> str:
    """The tree as HTML, or a line with the reason why there is no tree."""
    if explanation.simplified is None:
        why = (
            "The reference's rules make no tree."
            if explanation.config.extract.rules == "obelics"
            else "No tree was made."
        )
        return f"<p>{why}</p>"
    return pieces(list(_rows(explanation)))


def _rows(explanation: Explanation) -> Iterator[str]:
    assert explanation.simplified is not None
    tree = explanation.simplified.tree
    kept = np.zeros(len(tree.rows), np.bool_)
    kept[[row for rows in explanation.rows for row in rows]] = True
    counted = (kept, tree.rows[:, CHARS], tree.rows[:, LINKED])
    before = [sums_before(column) for column in counted]
    depths: list[int] = []
    for number, row in enumerate(tree.rows.tolist()):
        depths.append(depths[row[PARENT]] + 1 if row[PARENT] >= 0 else 0)
        n_kept, characters, linked = (int(sums[row[END]] - sums[number]) for sums in before)
        value = tree.values[number]
        if isinstance(value, str):
            content = _text(value, None if explanation.probability is None else float(explanation.probability[number]))
        else:
            content = _element(number, row, value, characters, linked)
        kind = "t" if isinstance(value, str) else "e"
        stays = "" if n_kept else " no"
        yield f'<p class="{kind} d{min(depths[-1], DEEPEST)}{stays}" data-r="{number}">{content}</p>'


def _text(value: str, probability: float | None) -> str:
    if probability is None:
        shown = ""
    elif np.isnan(probability):
        shown = "<b>frame</b>"
    else:
        shown = f"<b>{probability:.2f}</b>"
    return f"{shown}<span>{text(value)}</span>"


def _element(
    number: int, row: Sequence[int], attributes: dict[str, str | None] | None, characters: int, linked: int
) -> str:
    fold = f'<button data-end="{row[END]}">▾</button>' if row[END] > number + 1 else ""
    shown = [f"<code>{tag_name(row[TAG])}</code>"]
    if row[MARKS]:
        shown.append(f"<em>{' '.join(names_of(row[MARKS]))}</em>")
    if characters:
        share = f", {round(100 * linked / characters)} % linked" if linked else ""
        shown.append(f"<small>{characters:,}{share}</small>")
    if attributes:
        shown.append("<span>" + text(" ".join(f'{k}="{v or ""}"' for k, v in attributes.items())) + "</span>")
    return fold + " ".join(shown)
