from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obelics_pipeline.models.packed_flamingo.document_tokens import document_tokens, span_tokens
from obelics_pipeline.training.plan.spans import Spans, cut

from .made import VOCABULARY, drawn, lengths_of

Shape = tuple[int, list[int]]


@st.composite
def shapes(draw: st.DrawFn) -> list[Shape]:
    out = []
    for _ in range(draw(st.integers(1, 5))):
        n = draw(st.integers(2, 120))
        out.append((n, sorted(draw(st.sets(st.integers(1, n - 1), max_size=min(n - 1, 15))))))
    return out


@given(shapes(), st.integers(4, 40), st.integers(1, 5))
@example([(50, [])], 10, 1)
@example([(50, list(range(1, 16)))], 40, 1)
@settings(max_examples=200, deadline=None)
def test_every_token_is_in_one_span_that_a_row_holds(found: list[Shape], tokens: int, images: int) -> None:
    spans = cut(lengths_of(found), np.arange(len(found)), tokens, images)
    assert (spans.sizes <= tokens).all()
    assert (spans.images <= images).all()
    for number, (n, marks) in enumerate(found):
        mine = _of(spans, number)
        assert [int(s) for s in mine.token_start] == [0, *mine.token_stop[:-1].tolist()]
        assert mine.token_stop[-1] == n
        image_of = np.cumsum(np.isin(np.arange(n), marks)) - 1
        for start, stop, first, last, carried in zip(
            mine.token_start, mine.token_stop, mine.image_start, mine.image_stop, mine.carried, strict=True
        ):
            assert carried == (start > 0 and image_of[start] >= 0 and start not in marks)
            assert first == max(0, image_of[start] if carried or start in marks else image_of[start] + 1)
            assert last == sum(mark < stop for mark in marks)


def test_a_long_document_is_cut_before_an_image_unless_that_leaves_less_than_half() -> None:
    spans = cut(lengths_of([(100, [33, 50, 70])]), np.array([0]), 40, 8)
    assert spans.token_stop.tolist() == [33, 70, 100]  # 70, not 50; and 33 rather than 40
    spans = cut(lengths_of([(100, [10])]), np.array([0]), 40, 8)
    assert spans.token_stop.tolist() == [40, 79, 100]  # one token leads
    assert spans.carried.tolist() == [False, True, True]
    assert spans.image_start.tolist() == [0, 0, 0]


def test_documents_keep_the_order_that_is_given() -> None:
    found = drawn(50, mean=3.5)
    order = np.random.default_rng(0).permutation(50)
    spans = cut(lengths_of(found), order, 64, 6)
    assert list(dict.fromkeys(spans.document.tolist())) == order.tolist()


@given(
    st.lists(st.one_of(st.none(), st.text("ab ", max_size=60)), min_size=1, max_size=12), st.integers(4, 24),
    st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_every_target_of_a_laid_out_document_is_predicted_once(
    parts: list[str | None], tokens: int, images: int
) -> None:
    files = [None if text is not None else f"{i:03d}.jpg" for i, text in enumerate(parts)]
    laid_out = document_tokens({"texts": parts, "files": files}, VOCABULARY)
    marks = np.flatnonzero(laid_out.ids == VOCABULARY.image).tolist()
    spans = cut(lengths_of([(len(laid_out.ids), marks)]), np.array([0]), tokens, images)
    predicted: list[int] = []
    for i in range(len(spans)):
        ids, targets, image_of = span_tokens(laid_out, _Span(spans, i), VOCABULARY)
        assert len(ids) == spans.sizes[i]
        assert not targets[0]
        assert image_of.max() < spans.images[i]
        assert (ids == VOCABULARY.image).sum() == spans.images[i]
        predicted += ids[targets].tolist()
    assert predicted == laid_out.ids[laid_out.targets].tolist()


class _Span:
    def __init__(self, spans: Spans, i: int) -> None:
        self.token_start, self.token_stop = int(spans.token_start[i]), int(spans.token_stop[i])
        self.image_start, self.image_stop = int(spans.image_start[i]), int(spans.image_stop[i])
        self.carried = bool(spans.carried[i])


def _of(spans: Spans, document: int) -> Spans:
    return spans.take(np.flatnonzero(spans.document == document))
