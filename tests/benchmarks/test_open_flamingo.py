"""The form by similarity, which ours is compared with, is as good as it can be: read right by both assignment rules."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.open_flamingo import forms
from tests.stages.shard.open_flamingo_reader import Read, read


def drawn(order: str, sizes: list[int]) -> tuple[list[str | None], list[str | None], dict[str, bytes], Read]:
    """A document in this order (t, i), with images of these sizes in turn, and what must be read of it."""
    texts: list[str | None] = []
    files: list[str | None] = []
    images: dict[str, bytes] = {}
    seen: Read = []
    for number, kind in enumerate(order):
        name = f"{number}.jpg" if kind == "i" else None
        text = None if kind == "i" else f"text {number}"
        texts.append(text)
        files.append(name)
        if name is not None:
            images[name] = random.Random(number).randbytes(sizes[len(images) % len(sizes)])
            seen += [images[name]] if len(images[name]) >= forms.SMALL else []
        elif seen and isinstance(seen[-1], str):
            seen[-1] += f" {text}"
        else:
            seen.append(str(text))
    return texts, files, images, seen


@pytest.mark.parametrize("hungarian", [False, True])
@given(st.text("ti", min_size=1, max_size=12), st.lists(st.sampled_from([10_999, 11_000]), min_size=1, max_size=4))
@settings(max_examples=50)
def test_images_stand_before_their_texts_by_either_rule(hungarian: bool, order: str, sizes: list[int]) -> None:
    texts, files, images, seen = drawn(order, sizes)
    found = read(forms.by_similarity(texts, files, images), max_images=12, hungarian=hungarian)
    if not any(isinstance(part, bytes) for part in seen):
        assert found is None
        return
    assert found is not None
    assert [" ".join(p.split()) if isinstance(p, str) else p for p in found] == seen


def test_mains_assignment_gives_each_text_one_image_where_argmax_gives_it_two() -> None:
    texts, files, images, _ = drawn("it", [12_000])
    sample = json.loads(forms.by_similarity(texts, files, images))
    sample["image_info"] *= 2
    sample["text_list"] = ["one", "two"]
    sample["similarity_matrix"] = [[100, 90], [95, 31]]
    data = json.dumps(sample)
    [image] = images.values()
    assert read(data) == [image, image, "one two"]  # 2.0.1
    wrapped = forms.assigned_as_main(data)
    assert read(wrapped) == read(data, hungarian=True)
    assert json.loads(wrapped)["similarity_matrix"] == [[0, 90], [95, 0]]


def test_the_form_without_similarities_is_left_as_it_is() -> None:
    assert forms.assigned_as_main('{"is_gpt": true}') == '{"is_gpt": true}'
