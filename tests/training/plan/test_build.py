from __future__ import annotations

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan.audit import covered, images_per_1000_tokens, least_gap
from obelics_pipeline.training.plan.build import held_out_rows, ordered
from obelics_pipeline.training.plan.chance import draws
from obelics_pipeline.training.plan.documents import HELD_OUT, KEY_OF_HELD_OUT, Documents
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.plan.rows import Rows

from .made import documents_from, drawn, recipe


def build(wish: Recipe, documents: Documents, *gone: int, from_row: int = 0) -> Rows:
    flags = np.zeros(len(documents), np.bool_)
    flags[list(gone)] = True
    return ordered(wish.model_copy(update={"without_from_row": from_row}), documents, flags)


def as_rows(rows: Rows) -> list[list[tuple[int, int, int]]]:
    s = rows.spans
    spans = list(zip(s.document.tolist(), s.token_start.tolist(), rows.repeat.tolist(), strict=True))
    return [spans[a : a + n] for a, n in zip(rows.first_span.tolist(), rows.n_spans.tolist(), strict=True)]


@pytest.mark.parametrize("repeat", [1, 3])
def test_every_token_of_every_document_is_in_as_many_rows_as_asked(repeat: int) -> None:
    documents = documents_from(drawn(400), drawn(100, seed=1))
    rows = build(recipe({"web": {"repeat": repeat}, "wiki": {"repeat": 2}}), documents)
    s = rows.spans
    for number, n in enumerate(documents.lengths.n_tokens.tolist()):
        counts = np.zeros(n, int)
        of = s.document == number
        for start, stop in zip(s.token_start[of], s.token_stop[of], strict=True):
            counts[start:stop] += 1
        assert set(counts.tolist()) == {repeat if number < 400 else 2}
        assert set(rows.repeat[of].tolist()) == set(range(repeat if number < 400 else 2))
    assert (rows.n_tokens <= 64).all()
    assert (rows.n_images <= 6).all()
    assert (documents.dataset[s.document] == np.repeat(rows.dataset, rows.n_spans)).all()


def test_the_same_tokens_come_again_after_a_sixth_of_a_pass() -> None:
    for seed in range(5):
        for n in (60, 2000):
            rows = build(recipe({"web": {"repeat": 3}}, seed=seed), documents_from(drawn(n, seed)))
            assert (least_gap(rows) or 0) >= len(rows) / 3 / 6


def test_passes_are_other_orders() -> None:
    documents = documents_from(drawn(300))
    rows = build(recipe({"web": {"repeat": 2}}), documents)
    first, second = (rows.spans.document[(rows.repeat == r) & (rows.spans.token_start == 0)] for r in (0, 1))
    assert sorted(first.tolist()) == sorted(second.tolist())
    assert abs(float(np.corrcoef(np.argsort(first), np.argsort(second))[0, 1])) < 0.3
    assert abs(float(np.corrcoef(np.arange(len(first)), first)[0, 1])) < 0.2  # nor the order of the index


def test_shares_are_exact_to_a_row() -> None:
    documents = documents_from(drawn(900), drawn(900, seed=1), drawn(300, seed=2))
    wish = recipe({"web": {"weight": 0.6}, "pairs": {"weight": 0.3}, "wiki": {"weight": 0.1, "repeat": 3}})
    rows = build(wish, documents)
    length = rows.summed(rows.spans.token_stop - rows.spans.token_start)
    tokens = np.array([length[rows.dataset == d].sum() for d in range(3)])
    scarcest = min(documents.lengths.n_tokens[documents.dataset == d].sum() * r / w for d, w, r in
                   ((0, 0.6, 1), (1, 0.3, 1), (2, 0.1, 3)))  # fmt: skip
    assert (np.abs(tokens - np.array([0.6, 0.3, 0.1]) * scarcest) <= 64).all()


def test_a_plan_can_be_held_to_so_many_tokens() -> None:
    rows = build(recipe(tokens=5000), documents_from(drawn(900)))
    assert abs(int((rows.spans.token_stop - rows.spans.token_start).sum()) - 5000) <= 32


def test_each_step_has_nearly_the_same_images_per_token() -> None:
    documents = documents_from(drawn(8000))
    ratio = images_per_1000_tokens(build(recipe(batch_tokens=4096), documents), 64)
    assert ratio["deviation"] <= 0.02 * ratio["mean"]


def test_a_document_that_is_left_out_changes_no_other_row() -> None:
    documents = documents_from(drawn(500), drawn(200, seed=3))
    wish = recipe({"web": {"repeat": 2}, "wiki": {}})
    whole, part = as_rows(build(wish, documents)), as_rows(build(wish, documents, 7, 450, 600))
    expected = [[span for span in row if span[0] not in (7, 450, 600)] for row in whole]
    assert part == [row for row in expected if row]
    assert len(part) < len(whole) or part != whole


def test_rows_that_were_read_already_keep_what_is_left_out_later() -> None:
    documents = documents_from(drawn(500))
    wish = recipe({"web": {"repeat": 2}})
    whole = as_rows(build(wish, documents))
    read, new = whole[5][0][0], whole[70][0][0]  # one was read already, and would come again
    part = as_rows(build(wish, documents, read, new, from_row=60))
    assert part[:60] == whole[:60]
    assert not any(span[0] in (read, new) for row in part[60:] for span in row)


def test_shards_are_read_a_block_at_a_time() -> None:
    documents = documents_from(drawn(2000), per_shard=50)
    rows = build(recipe({"web": {"repeat": 2}}, shuffle_blocks=4), documents)
    shard = documents.shard[rows.spans.document]
    for start in range(0, len(rows), 40):
        of = (rows.row_of_span >= start) & (rows.row_of_span < start + 40)
        assert len(set(shard[of].tolist())) <= 3 * 4  # of two blocks, and what is dealt among steps
    assert (least_gap(rows) or 0) >= len(rows) / 2 / 6
    first = rows.spans.document[: len(rows.spans) // 4]
    assert len(set(documents.shard[first].tolist())) > 4  # and the blocks are not those of the index
    assert sorted(set(shard.tolist())) == list(range(40))


def test_held_out_documents_are_the_same_whatever_else_a_recipe_says() -> None:
    found = []
    for seed, repeat in ((0, 1), (9, 3)):
        documents = documents_from(drawn(1000))
        wish = recipe({"web": {"repeat": repeat}}, seed=seed, held_out=0.1)
        documents.leave_out(draws(documents.content[:, 0], KEY_OF_HELD_OUT) < 0.1, HELD_OUT)
        none = np.zeros(1000, np.bool_)
        train, held = ordered(wish, documents, none), held_out_rows(wish, documents, none)
        assert set(train.spans.document.tolist()).isdisjoint(held.spans.document.tolist())
        assert (covered(train, 1000) + covered(held, 1000) == documents.lengths.n_tokens).all()
        found.append(as_rows(held))
    assert found[0] == found[1]
    assert 60 < len({span[0] for row in found[0] for span in row}) < 140


def test_nothing_to_train_on_is_said_with_the_reasons() -> None:
    documents = documents_from(drawn(5))
    documents.leave_out(np.ones(5, np.bool_), "above_threshold:farm_score")
    with pytest.raises(UserError, match="no document is left to train on: 5 above_threshold:farm_score"):
        build(recipe(), documents)
    with pytest.raises(UserError, match="weight is 1"):
        build(recipe({"web": {"weight": 1.0}}), documents)
