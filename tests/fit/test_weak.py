import pytest

from obelics_pipeline.fit import weak
from obelics_pipeline.fit.weak import missing_teachers, weak_shares
from tests.fit.site import html, links, paragraphs, url


def test_two_extractors_agree_on_the_article_of_a_plain_page() -> None:
    pytest.importorskip("trafilatura")
    pytest.importorskip("readability")
    shares = weak_shares(html(3), url(3), [*links(3)[:8], *paragraphs(3), *links(3)[8:]])
    assert shares is not None
    assert shares[8:18].min() > 0.8
    assert shares[:8].max() < 0.2


def test_shares_are_the_mean_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weak, "_by_trafilatura", lambda *_: "one two")
    monkeypatch.setattr(weak, "_by_readability", lambda *_: "two three")
    shares = weak_shares("", "", ["one", "two", "three", "four"])
    assert shares is not None
    assert shares.tolist() == [0.5, 1, 0.5, 0]


@pytest.mark.parametrize("teacher", ["_by_trafilatura", "_by_readability"])
def test_nothing_is_learnt_where_one_finds_nothing(monkeypatch: pytest.MonkeyPatch, teacher: str) -> None:
    for name in ("_by_trafilatura", "_by_readability"):
        monkeypatch.setattr(weak, name, lambda *_: "one two")
    monkeypatch.setattr(weak, teacher, lambda *_: "")
    assert weak_shares("", "", ["one"]) is None


@pytest.mark.parametrize("body", ["", "\0", "<?xml version='1.0' encoding='utf-8'?><p>x", "<" * 5000, "&#x110000;"])
def test_no_page_makes_it_raise(body: str) -> None:
    pytest.importorskip("trafilatura")
    pytest.importorskip("readability")
    weak_shares(body, "http://[bad", ["x"])


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weak, "find_spec", lambda name: None if name == "readability" else object())
    assert missing_teachers() == ["readability"]
