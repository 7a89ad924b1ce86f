import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.stages.extract import main_content as module
from obelics_pipeline.stages.extract.main_content import MIN_CONFIDENCE, decide, find_main_content, probabilities
from obelics_pipeline.stages.extract.main_features import main_features
from tests.stages.extract.trees import row_of, tree_of
from tests.stages.extract.written_pages import article, forum, links, page, paragraph

JAPANESE = "港は十九世紀に再建されました。町は古い岸壁には大きすぎたのです。技師たちは池を掘り、花崗岩で固めました。"
THAI = "ท่าเรือเก่าถูกสร้างขึ้นใหม่ในศตวรรษที่สิบเก้าเมื่อเมืองเติบโตจนเกินท่าเทียบเรือเดิมวิศวกรจากชายฝั่งจึงขุดแอ่งน้ำ"


def kept(html: str) -> list[str]:
    tree = tree_of(html)
    main = find_main_content(tree)
    assert main.confidence >= MIN_CONFIDENCE
    assert main.kept.shape == (len(tree.rows),)
    return [value for value, flag in zip(tree.values, main.kept, strict=True) if flag and isinstance(value, str)]


def test_an_article_stays_and_the_lists_around_it_go() -> None:
    texts = kept(page(article()))
    assert [text for text in texts if text.startswith("Part")] == [paragraph(i) for i in range(8)]
    assert not any(word in " ".join(texts) for word in ("menu", "popular", "footer-links", "Teaser", "Related"))


def test_posts_of_a_forum_stay() -> None:
    texts = kept(page(forum()))
    assert [text[:8] for text in texts if text.startswith("Answer")] == [f"Answer {i}" for i in range(8)]
    assert "menu" not in " ".join(texts)


@pytest.mark.parametrize("sentence", [JAPANESE, THAI], ids=["Japanese", "Thai"])
def test_languages_without_spaces_are_told_as_well(sentence: str) -> None:
    text = "".join(f"<p>{sentence * (1 + i % 2)}</p>" for i in range(8))
    texts = kept(page(links("menu") + f"<article class=post><h1>{sentence[:6]}</h1>{text}</article>" + links("more")))
    assert [t for t in texts if len(t) > 20] == [sentence * (1 + i % 2) for i in range(8)]
    assert "menu" not in " ".join(texts)


@pytest.mark.parametrize("html", ["", "<img src=/x.jpg>", "<footer>text</footer>", "<script>x</script>"])
def test_a_page_without_text_has_no_main_content(html: str) -> None:
    main = find_main_content(tree_of(html))
    assert (main.kept.any(), main.confidence) == (False, 0.0)
    assert np.isnan(probabilities(tree_of(html))).all()


def test_the_frame_of_a_page_is_not_asked_about() -> None:
    tree = tree_of(page(article() + f"<footer><p>Frame. {paragraph(1)}</footer>"))
    row = row_of(tree, "Frame")
    assert not find_main_content(tree).kept[row]
    found = probabilities(tree)
    assert np.isnan(found[row])
    assert found[row_of(tree, "Part 3")] > found[row_of(tree, "Teaser")]


def test_all_is_kept_that_is_more_likely_than_the_limit() -> None:
    likely, limit = 3 * SCALE, round(SCALE * float(np.log(0.55 / 0.45)))
    content, confidence = decide(np.array([likely, limit + 1, limit, -likely]), np.array([100, 0, 5, 1_000], np.int32))
    assert content.tolist() == [True, True, False, False]
    assert confidence == round(1 / (1 + np.exp(-3)), 3)


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**20))))
def test_confidence_is_a_share(texts: list[tuple[int, int]]) -> None:
    odds, characters = np.array(texts, np.int64).reshape(-1, 2).T
    with np.errstate(over="ignore"):
        content, confidence = decide(odds, characters.astype(np.int32))
    assert 0 <= confidence <= 1
    assert confidence == 0 or content.any()


def test_a_model_of_other_features_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NAMES", ("another",))
    with pytest.raises(ValueError, match=r"main_content\.json: made for other features"):
        module._forest.__wrapped__()


def test_there_is_a_feature_for_each_the_model_asks_for() -> None:
    assert module._forest().features == module.NAMES
    assert main_features(tree_of(page(article())))[1].shape[1] == len(module._forest().features)
