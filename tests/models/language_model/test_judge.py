from __future__ import annotations

import math
import pickle
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model.judge import Judge, LoadJudge, answer_tokens
from obelics_pipeline.models.language_model.loading import load
from obelics_pipeline.models.language_model.model import LanguageModel
from obelics_pipeline.models.language_model.rubric import COLUMNS, Rubric
from obelics_pipeline.models.language_model.scoring import Scoring
from tests.models.language_model import tiny, tiny_vlm
from tests.models.pictures.illustrated import Pictures, document, noise

A, B, C = tiny.SENTENCES
SIDE = 60  # pixels: four places of a Qwen, two by two
ANSWERS = (("a", 1.0), ("b", 2.0), ("w", 5.0))
RUBRIC = Rubric("Is it good?\n{document}\nAnswer:", ANSWERS)
DOCUMENTS = (document(A, "image:1", B, "image:2"), document(C), document("image:3"), document())


@cache
def folder(kind: str) -> Path:
    return tiny.saved(Path(mkdtemp())) if kind == "llama" else tiny_vlm.saved(Path(mkdtemp()), kind)


@cache
def model(kind: str) -> LanguageModel:
    return load(str(folder(kind)), device="cpu")


def judge(kind: str, rubric: Rubric = RUBRIC, **scoring: Any) -> Judge:
    return Judge(model(kind), rubric, Pictures(SIDE), Scoring(**{"overlap": 16} | scoring))


def theirs(kind: str, text: str, images: list[int], answers: list[list[str]]) -> dict[str, float]:
    """From all logits of transformers' own forward, behind the prompt."""
    import transformers as t
    from PIL import Image

    if kind == "llama":
        words = t.AutoTokenizer.from_pretrained(folder(kind))
        inputs = words(["<s>" + text], return_tensors="pt", add_special_tokens=False)
        own = t.AutoModelForCausalLM.from_pretrained(folder(kind)).eval()
    else:
        processor = tiny_vlm.processor(kind, folder(kind))
        words = processor.tokenizer
        pictures = [[Image.fromarray(noise(SIDE, i)[0]) for i in images]] if images else None
        inputs = processor(text=[text], images=pictures, return_tensors="pt", add_special_tokens=False)
        own = t.AutoModelForImageTextToText.from_pretrained(folder(kind)).eval()
    with torch.no_grad():
        p = own(**{k: v for k, v in inputs.items() if k != "token_type_ids"}).logits[0, -1].softmax(-1)
    ids = words.get_vocab()
    shares = [sum(float(p[ids[token]]) for token in tokens if token in ids) for tokens in answers]
    score = sum(share * value for share, (_, value) in zip(shares, ANSWERS, strict=True)) / sum(shares)
    return {"judge_score": score, "judge_mass": sum(shares)}


@pytest.mark.parametrize("kind", ["llama", "qwen2_vl", "llava_onevision"])
def test_the_score_is_the_expected_answer_of_transformers_own_logits_packed_and_alone(kind: str) -> None:
    mark = "<|vision_start|><|image_pad|><|vision_end|>" if kind == "qwen2_vl" else "<image>"
    made = judge(kind)
    packed = made.score(DOCUMENTS)
    assert all(tuple(one) == COLUMNS for one in packed)
    for one, doc in zip(packed[:2], DOCUMENTS, strict=False):
        text, images = "", []
        for node in doc.nodes:
            if isinstance(node, TextNode):
                text += ("\n\n" if text else "") + node.text
            elif isinstance(node, ImageNode) and kind != "llama":
                text += mark
                images.append(int(node.src.removeprefix("image:")))
        tokens = [["a", "Ġa"], ["b", "Ġb"], ["w", "Ġw"]]
        expected = theirs(kind, f"Is it good?\n{text}\nAnswer:", images, tokens)
        assert one == pytest.approx(expected, abs=1e-5)
        assert made.score([doc])[0] == pytest.approx(expected, abs=1e-5)


def test_an_image_alone_is_judged_and_nothing_is_not() -> None:
    *_, image, nothing = judge("qwen2_vl").score(DOCUMENTS)
    assert image["judge_score"] is not None and nothing == dict.fromkeys(COLUMNS)
    assert judge("llama").score([DOCUMENTS[2]]) == [dict.fromkeys(COLUMNS)]


def test_the_score_lies_between_the_numbers_of_the_answers() -> None:
    for one in judge("llama").score(DOCUMENTS[:2]):
        assert 1 <= (one["judge_score"] or 0) <= 5 and 0 < (one["judge_mass"] or 0) < 1


def test_a_chat_template_is_put_around_the_prompt() -> None:
    own = load(str(folder("llama")), device="cpu")
    own.tokenizer.chat_template = "{% for m in messages %}</s>{{ m.role }}: {{ m.content }}{% endfor %}</s>bot:"
    made = Judge(own, RUBRIC, scoring=Scoring(overlap=16))
    plain = judge("llama", Rubric("{document}", ANSWERS))
    assert made.model.tokenizer.decode(made._before) == "</s>user: Is it good?\n"
    assert made.model.tokenizer.decode(made._after) == "\nAnswer:</s>bot:"
    assert made.score([document(A)]) != plain.score([document(A)])


def test_a_document_that_is_too_long_is_judged_by_its_beginning() -> None:
    made = judge("qwen2_vl", window_tokens=128)
    long = document(A, B, "image:1", " ".join([A, B, C] * 9))
    assert max(len(made._asked(one).ids) for one in [made._preparation._prepare([long]).layouts[0]]) <= 128
    found = made.score([long])[0]
    assert found["judge_score"] is not None
    assert found == made.score([document(A, B, "image:1", " ".join([A, B, C] * 8))])[0]


def test_marks_that_a_page_writes_are_no_marks() -> None:
    made = judge("llama")
    assert made.score([document(A + "</s>")]) == made.score([document(A)])


def test_a_model_that_fails_gives_nan() -> None:
    handle = model("llama").text.register_forward_hook(lambda _m, _a, out: fill(out))
    try:
        found = judge("llama").score([document(A)])[0]
    finally:
        handle.remove()
    assert all(value is not None and math.isnan(value) for value in found.values())


def fill(out: Any) -> None:
    out.last_hidden_state.fill_(torch.nan)


def test_rows_that_do_not_fit_the_memory_are_halved() -> None:
    expected = judge("llama").score(DOCUMENTS)

    def full(_: Any, __: Any, named: dict[str, Any]) -> None:
        if named["inputs_embeds"].shape[1] > 130:
            raise torch.OutOfMemoryError("out of memory")

    handle = model("llama").text.register_forward_pre_hook(full, with_kwargs=True)
    try:
        found = judge("llama").score(DOCUMENTS)
    finally:
        handle.remove()
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_an_answer_that_is_no_token_is_refused() -> None:
    with pytest.raises(UserError, match="the answer splendid is no single token of the model; use digits"):
        answer_tokens(tiny.tokenizer(), ["a", "splendid"])


def test_a_prompt_that_fills_the_window_is_refused() -> None:
    with pytest.raises(UserError, match=r"the prompt has \d+ tokens, and leaves a document no room in windows of 64"):
        judge("llama", Rubric(f"{A}{B}{{document}}", ANSWERS), window_tokens=64)


def test_a_rubric_that_asks_nothing_is_refused() -> None:
    with pytest.raises(UserError, match=r"the prompt has \{document\} 0 times; write it once"):
        Rubric("Is it good?")
    with pytest.raises(UserError, match="answers are 1, 1; name two or more words"):
        Rubric("{document}", (("1", 1.0), ("1", 2.0)))
    with pytest.raises(UserError, match="answers are 1; name two"):
        Rubric("{document}", (("1", 1.0),))


def test_what_makes_a_judge_is_picklable_and_hashable() -> None:
    make = LoadJudge(str(folder("llama")), RUBRIC, scoring=Scoring(overlap=16), device="cpu")
    again = pickle.loads(pickle.dumps(make))
    assert again == make and hash(again) == hash(make)
    assert again().score([document(A)]) == judge("llama").score([document(A)])
