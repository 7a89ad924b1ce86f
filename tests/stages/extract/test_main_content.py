import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.stages.extract import main_content as module
from obelics_pipeline.stages.extract.main_content import decide, find_main_content, probabilities
from obelics_pipeline.stages.extract.main_features import main_features
from tests.stages.extract.trees import row_of, tree_of
from tests.stages.extract.written_pages import article, forum, links, page, paragraph

JAPANESE = "港は十九世紀に再建されました。町は古い岸壁には大きすぎたのです。技師たちは池を掘り、花崗岩で固めました。"
THAI = "ท่าเรือเก่าถูกสร้างขึ้นใหม่ในศตวรรษที่สิบเก้าเมื่อเมืองเติบโตจนเกินท่าเทียบเรือเดิมวิศวกรจากชายฝั่งจึงขุดแอ่งน้ำ"


def kept(html: str) -> list[str]:
    tree = tree_of(html)
    main = find_main_content(tree)
    assert main.confidence > 0.8
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


def log_odds(*probabilities: float) -> NDArray[np.int64]:
    return np.array([round(SCALE * float(np.log(p / (1 - p)))) for p in probabilities], np.int64)


def characters(*counts: int) -> NDArray[np.int32]:
    return np.array(counts, np.int32)


def test_where_all_is_clear_what_is_likelier_than_not_is_kept() -> None:
    content, confidence = decide(log_odds(0.999, 0.999, 0.6, 0.5, 0.001), characters(5_000, 5_000, 80, 80, 5_000))
    assert content.tolist() == [True, True, True, False, False]
    assert confidence > 0.98


def test_where_little_is_clear_more_is_kept() -> None:
    content, confidence = decide(log_odds(0.45, 0.4, 0.35, 0.05), characters(500, 500, 500, 500))
    assert content.tolist() == [True, True, True, False]
    assert confidence == pytest.approx(2 * 1.2 / (3 + 1.25), abs=0.001)


def test_a_lower_share_keeps_what_is_less_likely() -> None:
    odds, counts = log_odds(0.99, 0.45, 0.3, 0.05), characters(1_000, 500, 500, 500)
    assert decide(odds, counts)[0].tolist() == [True, False, False, False]
    assert decide(odds, counts, share=0.35)[0].tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("kind", "share"), [("collection", 0.35), ("service", 0.35), ("listing", 0.35), ("documentation", 0.45)]
)
def test_a_page_of_many_blocks_keeps_by_the_share_of_its_kind(
    kind: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = []

    def noted(log_odds: NDArray[np.int64], characters: NDArray[np.int32], share: float) -> object:
        shares.append(share)
        return decide(log_odds, characters, share)

    monkeypatch.setattr(module, "decide", noted)
    tree = tree_of(page(article()))
    judged = main_features(tree)
    for said in (kind, "article", None):
        find_main_content(tree, judged, said)
    assert shares == [share, 0.55, 0.55]


def test_what_is_left_out_lowers_the_confidence() -> None:
    kept = decide(log_odds(0.99, 0.01), characters(1_000, 1_000))
    beside = decide(log_odds(0.99, 0.01, *[0.3] * 9), characters(1_000, 1_000, *[300] * 9))
    assert kept[0].tolist()[:2] == beside[0].tolist()[:2] == [True, False]
    assert beside[1] < kept[1] - 0.2


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**20)), min_size=1))
def test_no_text_that_is_left_out_is_likelier_than_one_that_is_kept(texts: list[tuple[int, int]]) -> None:
    odds, counts = np.array(texts, np.int64).T
    content, confidence = decide(odds, counts.astype(np.int32))
    assert 0 <= confidence <= 1
    assert content.any()
    assert odds[content].min() >= odds[~content].max(initial=-(2**40))


def test_a_model_of_other_features_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NAMES", ("another",))
    with pytest.raises(ValueError, match=r"main_content\.json: made for other features"):
        module._forest.__wrapped__()


def test_there_is_a_feature_for_each_the_model_asks_for() -> None:
    assert module._forest().features == module.NAMES
    assert main_features(tree_of(page(article())))[1].shape[1] == len(module._forest().features)
