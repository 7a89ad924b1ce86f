from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import ImageRulesConfig
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.stages.fetch.image_rules import image_reason, rendered_size, url_reason, url_words

RULES = ImageRulesConfig()
MEASURED = ImageRulesConfig.model_validate({"quality": {"sharpness": {"min": 100}, "qr_codes": {"max": 0}}})
REFERENCE = ImageRulesConfig(banned_as_substrings=True)


def fetched(src: str = "http://a.example/photo.jpg", **values: Any) -> ImageNode:
    facts: dict[str, Any] = {"original_width": 640, "original_height": 480, "format": "jpeg"}
    return ImageNode(src, src, **(facts | values))


@pytest.mark.parametrize(
    "path",
    [
        "logo.png",
        "img/Logo.PNG",
        "LOGO_small.png",
        "site-logos/1.jpg",
        "siteLogo.jpg",
        "HTMLIcon.png",
        "icon2x.png",
        "icon%2Dbig.png",
        "wp-content/plugins/x/1.jpg",
        "a/button/b.jpg",
        "share_buttons.gif",
        "XXX/1.jpg",
        "_next/image?url=%2Fstatic%2Flogo.png&w=640",
        "proxy?src=https://c.example/img/logo.jpg",
        "get.php?file=icon.gif",
    ],
)
def test_a_banned_word_of_the_path_is_found_however_it_is_written(path: str) -> None:
    assert url_reason(f"https://a.example/{path}", RULES) == "image_banned_word"


@pytest.mark.parametrize(
    "url",
    [
        "https://essex.example/photo.jpg",
        "https://logo.example/photo.jpg",
        "https://a.example/silicon.jpg",
        "https://a.example/lexicon/1.jpg",
        "https://a.example/myblogonline.jpg",
        "https://a.example/Essex-County/sextant.jpg",
        "https://a.example/photo.jpg?utm=logo",
        "https://a.example/proxy?src=https://logo.example/1.jpg",
        "https://a.example/photo.jpg#icon",
    ],
)
def test_words_that_hold_a_banned_one_and_hosts_are_let_through(url: str) -> None:
    assert url_reason(url, RULES) is None


def test_as_substrings_the_reference_is_followed_false_hits_and_misses_included() -> None:
    for hit in ("http://essex.example/a.jpg", "http://a.example/silicon.jpg", "http://a.example/x?logo"):
        assert url_reason(hit, REFERENCE) == "image_banned_word"
    for miss in ("http://a.example/Logo.jpg", "http://a.example/LOGO.jpg"):
        assert url_reason(miss, REFERENCE) is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({}, None),
        ({"format": "gif"}, "image_format"),
        ({"format": "jpeg"}, None),
        ({"format": "webp"}, None),
        ({"original_width": 149, "original_height": 149}, "image_side"),
        ({"original_width": 150, "original_height": 150}, None),
        ({"original_width": 20_000, "original_height": 20_000}, None),
        ({"original_width": 20_001, "original_height": 20_000}, "image_side"),
        ({"original_width": 400, "original_height": 200}, None),
        ({"original_width": 401, "original_height": 200}, "image_ratio"),
        ({"original_width": 200, "original_height": 400}, None),
        ({"original_width": 200, "original_height": 401}, "image_ratio"),
        ({"rendered_width": 149}, "image_rendered_side"),
        ({"rendered_width": 150, "rendered_height": 150}, None),
        ({"rendered_height": 20_001}, "image_rendered_side"),
        ({"rendered_width": -1}, "image_rendered_side"),
        ({"rendered_width": "50%"}, None),
        ({"rendered_width": "20%"}, "image_rendered_side"),
        ({"rendered_height": "auto"}, None),
        ({"format": None, "original_width": None, "original_height": None, "rendered_width": "1%"}, None),
    ],
)
def test_limits_are_inclusive_and_unknown_facts_break_no_rule(values: dict[str, Any], reason: str | None) -> None:
    assert image_reason(fetched(**values), RULES) == reason


def test_a_declared_percentage_is_of_the_original_side_rounded() -> None:
    assert rendered_size(fetched(rendered_width="33%", rendered_height=" 50% ")) == (211, 240)
    assert rendered_size(fetched(rendered_width="12.5%", rendered_height="%")) == (None, None)
    assert rendered_size(fetched(rendered_width=0, rendered_height="9999999999%")) == (0, None)


def test_declared_sizes_are_ignored_if_asked_for() -> None:
    rules = ImageRulesConfig(check_rendered=False)
    assert image_reason(fetched(rendered_width=1), rules) is None


def test_the_url_is_looked_at_first_so_that_the_reason_is_the_same_before_and_after_the_fetch() -> None:
    node = fetched("http://a.example/logo.gif", format="gif", original_width=1)
    assert image_reason(node, RULES) == url_reason(node.src, RULES) == "image_banned_word"


@given(st.text())
def test_any_string_as_url_gives_words_in_lower_case(text: str) -> None:
    assert all(word == word.lower() for word in url_words(text))
    assert url_reason(text, RULES) in (None, "image_banned_word")


@given(
    st.sampled_from(RULES.banned_words), st.text("/-_.0123456789", min_size=1), st.sampled_from([str.upper, str.title])
)
def test_a_banned_word_between_non_letters_is_found_in_any_case(word: str, edge: str, case: object) -> None:
    written = case(word)  # type: ignore[operator]
    assert url_reason(f"http://a.example/{edge}{written}{edge}x.jpg", RULES) == "image_banned_word"


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({"sharpness": 100.0, "qr_codes": 0.0}, None),
        ({"sharpness": 99.9, "qr_codes": 1.0}, "image_sharpness"),
        ({"qr_codes": 1.0}, "image_qr_codes"),
        ({"text_share": 1.0}, None),
        ({}, None),
    ],
)
def test_a_bound_drops_what_is_measured_outside_of_it(scores: dict[str, float], reason: str | None) -> None:
    assert image_reason(fetched(scores=scores), MEASURED) == reason


def test_the_rules_of_the_paper_go_first() -> None:
    small = fetched(scores={"sharpness": 1.0}, original_width=100)
    assert image_reason(small, MEASURED) == "image_side"
