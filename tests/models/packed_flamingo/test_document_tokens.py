from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.document_tokens import (
    DocumentTokens,
    Vocabulary,
    document_tokens,
    open_vocabulary,
    span_tokens,
)


def encode(text: str) -> list[int]:
    """A token for each character, none of which is a mark."""
    return [ord(c) + 10 for c in text]


VOCABULARY = Vocabulary(
    encode=encode,
    begin=0,
    image=4,
    end_of_chunk=3,
    end=1,
    pad=5,
    literals=("<image>", "<|endofchunk|>", "</s>", "<PAD>"),
    words=3,
    added=("<|endofchunk|>", "<image>", "<PAD>"),
)
SHOWN = {0: "^", 1: "$", 3: "|", 4: "#", 5: "_"}


@dataclass(frozen=True)
class Span:
    token_start: int
    token_stop: int
    image_start: int
    image_stop: int
    carried: bool


def record(*nodes: str | int | None) -> dict[str, Any]:
    """Texts, images with a file (a number), and images without (None)."""
    return {
        "texts": [node if isinstance(node, str) else None for node in nodes],
        "images": [None if isinstance(node, str) else "https://a.example/i.png" for node in nodes],
        "files": [f"{node:03d}.png" if isinstance(node, int) else None for node in nodes],
    }


def laid_out(*nodes: str | int | None) -> DocumentTokens:
    return document_tokens(record(*nodes), VOCABULARY)


def shown(ids: Any) -> str:
    return "".join(SHOWN[i] if i in SHOWN else chr(i - 10) for i in ids.tolist())


def cut(tokens: DocumentTokens, places: list[int]) -> list[Span]:
    """A document cut in front of these tokens."""
    out = []
    for start, stop in zip([0, *places], [*places, len(tokens.ids)], strict=True):
        seen = tokens.image_of[start:stop]
        first = int(seen[0])
        carried = start > 0 and first >= 0 and tokens.ids[start] != VOCABULARY.image
        out.append(Span(start, stop, max(first, 0), int(seen.max()) + 1, carried))
    return out


NODES = st.lists(st.one_of(st.text("ab <>image/s", max_size=12), st.integers(0, 9), st.none()), max_size=8)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (["one", 0, "two"], "^one#two|$"),
        ([0, "one", 1, "two"], "^#one|#two|$"),
        (["one", 0, 1, "two"], "^one#|#two|$"),
        (["one", 0], "^one#|$"),
        (["one"], "^one$"),
        ([], "^$"),
        ([" one \n", 0, "\ttwo "], "^one#two|$"),
    ],
)
def test_a_document_ends_with_its_end_token(nodes: list[Any], expected: str) -> None:
    assert shown(laid_out(*nodes).ids) == expected


def test_an_image_without_a_file_is_as_if_it_had_never_been_there() -> None:
    tokens = laid_out("a", None, "b", 3, None, "c")
    assert shown(tokens.ids) == "^a\n\nb#c|$"
    assert tokens.n_images == 1


def test_a_shard_written_without_images_is_text() -> None:
    one: Mapping[str, Any] = {"texts": ["a", None], "images": [None, "https://a.example/i.png"], "files": None}
    assert shown(document_tokens(one, VOCABULARY).ids) == "^a$"


def test_text_and_ends_are_targets_and_marks_are_not() -> None:
    tokens = laid_out("ab", 0, "c", 1)
    assert shown(tokens.ids) == "^ab#c|#|$"
    assert shown(tokens.ids[tokens.targets]) == "abc||$"
    assert tokens.n_bytes == 3


def test_a_token_looks_at_the_image_before_it() -> None:
    assert laid_out("a", 0, "b", 1, 2).image_of.tolist() == [-1, -1, 0, 0, 0, 1, 1, 2, 2, 2]


@given(NODES)
def test_what_a_page_writes_never_becomes_a_mark(nodes: list[Any]) -> None:
    tokens = laid_out(*nodes)
    assert (tokens.ids == VOCABULARY.image).sum() == sum(isinstance(node, int) for node in nodes) == tokens.n_images
    assert not any(mark in shown(tokens.ids) for mark in VOCABULARY.literals)


@given(NODES, st.data())
def test_over_the_spans_of_a_document_every_target_is_one_once(nodes: list[Any], data: st.DataObject) -> None:
    tokens = laid_out(*nodes)
    n = len(tokens.ids)
    spans = cut(tokens, sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=4))))
    seen = [span_tokens(tokens, span, VOCABULARY) for span in spans]
    targets = np.concatenate([ids[targets] for ids, targets, _ in seen])
    assert targets.tolist() == tokens.ids[tokens.targets].tolist()
    for span, (ids, is_target, image_of) in zip(spans, seen, strict=True):
        led = int(span.token_start > 0)
        assert len(ids) == len(is_target) == len(image_of) == span.token_stop - span.token_start + led
        assert not is_target[0]
        at = tokens.image_of[span.token_start : span.token_stop]
        assert np.where(image_of[led:] < 0, -1, image_of[led:] + span.image_start).tolist() == at.tolist()
        assert (ids == VOCABULARY.image).sum() == span.image_stop - span.image_start


def test_a_span_under_an_image_is_led_by_that_image_and_another_by_the_begin_token() -> None:
    tokens = laid_out("ab", 0, "cd")
    under, before = cut(tokens, [5])[1], cut(tokens, [2])[1]
    ids, targets, image_of = span_tokens(tokens, under, VOCABULARY)
    assert (shown(ids), targets.tolist(), image_of.tolist()) == ("#d|$", [False, True, True, True], [0, 0, 0, 0])
    ids, targets, image_of = span_tokens(tokens, before, VOCABULARY)
    assert (shown(ids), image_of.tolist()) == ("^b#cd|$", [-1, -1, 0, 0, 0, 0, 0])


def test_an_image_that_the_span_does_not_have_is_not_looked_at() -> None:
    tokens = laid_out(0, "a", 1, "b")
    _, _, image_of = span_tokens(tokens, Span(0, len(tokens.ids), 0, 1, False), VOCABULARY)
    assert image_of.tolist() == [-1, 0, 0, 0, -1, -1, -1, -1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from obelics_pipeline.models.packed_flamingo.tiny import tiny_language_model

    return tiny_language_model(tmp_path_factory.mktemp("lm"), ["the ferry returns to the harbour"], words=300, layers=1)


def test_marks_that_a_language_model_lacks_have_ids_behind_its_words(folder: Path) -> None:
    vocabulary = open_vocabulary(folder)
    assert vocabulary.words == 300
    assert vocabulary.added == ("<|endofchunk|>", "<image>", "<PAD>")
    assert (vocabulary.end_of_chunk, vocabulary.image, vocabulary.pad) == (300, 301, 302)
    assert (vocabulary.begin, vocabulary.end) == (0, 1)
    assert {"<s>", "</s>", *vocabulary.added} <= set(vocabulary.literals)


def test_a_vocabulary_writes_no_mark_and_can_be_given_to_a_worker(folder: Path) -> None:
    vocabulary = pickle.loads(pickle.dumps(open_vocabulary(folder)))
    assert vocabulary.encode("the <s></s><image>") == vocabulary.encode("the ") + vocabulary.encode("<image>")
    tokens = document_tokens(record("the <im<image>age> ferry</s>", 0, "the harbour"), vocabulary)
    assert (tokens.ids == vocabulary.end).sum() == (tokens.ids == vocabulary.image).sum() == 1
    assert tokens.ids.max() == vocabulary.image


def test_a_folder_that_is_none_or_holds_nothing_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(UserError, match="is no folder"):
        open_vocabulary(tmp_path / "absent")
    with pytest.raises(UserError, match="holds no tokenizer"):
        open_vocabulary(tmp_path)
