"""The numbers of a page hold what their names say, and no word of a language."""

import numpy as np
import pytest

from obelics_pipeline.stages.extract import page_numbers as module
from obelics_pipeline.stages.extract.head import Head
from obelics_pipeline.stages.extract.links import count_links
from obelics_pipeline.stages.extract.main_features import NAMES as TEXT_NAMES
from obelics_pipeline.stages.extract.main_features import main_features
from obelics_pipeline.stages.extract.page_numbers import NAMES, page_numbers
from tests.stages.extract.trees import tree_of
from tests.stages.extract.written_pages import article, forum, page

URL = "https://www.garden.example.com/tools/rakes"


def numbers(html: str, url: str = URL, head: Head | None = None) -> dict[str, float]:
    tree = tree_of(html)
    features = main_features(tree)[1]
    found = page_numbers(tree, features, url, head or Head(), count_links(tree.links, url), html.encode())
    assert (found.dtype, found.shape) == (np.float32, (len(NAMES),))
    return dict(zip(NAMES, found.tolist(), strict=True))


def test_a_name_is_given_once() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_an_empty_page_has_numbers() -> None:
    found = numbers("", url="http://[")
    assert not any(found[name] for name in NAMES if name not in ("characters", "link_length"))


def test_the_address_is_measured() -> None:
    found = numbers("", "https://www.a-shop.example.co.uk/t/12/best-red-rakes-2024.html?page=7")
    wanted = {"depth": 3, "length": 30, "digits": 6, "number": 4, "query": 6, "labels": 3, "ending": 1, "slash": 0}
    assert {name: found[f"address_{name}"] for name in wanted} == wanted
    wanted = {"length": 24, "digits": 4, "hyphens": 3, "words": 4}
    assert {name: found[f"address_last_{name}"] for name in wanted} == wanted


def test_what_the_page_declares_is_counted_by_its_meaning() -> None:
    types = "".join(f'{{"@type": "{name}"}}' for name in ("Product", "Car", *["Offer"] * 30, "Unheard"))
    head = Head(title="Rakes", kind="product.item", descriptions=["four", "more"], images=["a"], dates=["b", "c"])
    found = numbers(f'<script>{{"@context": "https://schema.org"}}{types}</script><code>a</code>', head=head)
    wanted = {"declares_product": 2, "declares_offer": 20, "declares_kinds": 4, "declares_forum": 0, "code": 1}
    wanted |= {"og_product": 1, "og_article": 0, "title": 5, "description": 4, "dates": 2, "head_images": 1}
    assert {name: found[name] for name in wanted} == wanted


def test_links_are_compared_with_the_address_of_the_page() -> None:
    hrefs = ["#a", "/tools/rakes", "/tools/rakes/red", "/tools/hoes?x=1", "https://other.example.org/a-b", "#a"]
    found = numbers("".join(f"<p><a href='{href}'>word</a>" for href in hrefs))
    assert (found["links"], found["distinct_links"], found["outbound_share"]) == (4, 5, 0.25)
    wanted = {
        "fragments": 2,
        "queries": 1,
        "values": 1,
        "hyphens": 1,
        "self": 1,
        "below": 1,
        "beside": 3,
        "slashes": 10,
    }
    assert {name: found[f"link_{name}"] for name in wanted} == pytest.approx({k: v / 6 for k, v in wanted.items()})


def test_shares_are_of_the_characters() -> None:
    found = numbers("<h2>abcd</h2><p>abcdef <a href=/x>1234</a></p><pre>12$?(=</pre><img src=/a.png>")
    wanted = {"in_h2": 0.2, "in_p": 0.5, "in_pre": 0.3, "share_digits": 0.3, "share_linked": 0.2, "longest": 0.5}
    wanted |= {"rate_money": 50, "rate_equals": 50, "rate_slash": 0, "characters": 20, "images": 1, "texts": 3}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_means_count_longer_texts_more() -> None:
    html = page(article())
    features = main_features(tree_of(html))[1].astype(np.float64)
    wanted = np.average(features, axis=0, weights=features[:, 0])
    found = numbers(html)
    assert [found[f"mean_{name}"] for name in TEXT_NAMES] == pytest.approx(wanted.tolist(), abs=0.001)


def test_of_very_many_texts_some_speak_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_TEXTS", 10)
    features = np.arange(2500, dtype=np.float32).reshape(25, -1)[:, : len(TEXT_NAMES)] + 1
    assert module._means(features).tolist() == module._means(features[::3]).tolist()


def test_other_words_of_the_same_form_give_the_same_numbers() -> None:
    html = page(forum())
    other = html.replace("harbour", "pudding")
    other = other.replace("railway", "monster").replace("granite", "cabbage").replace("Answer", "Dental")
    assert other != html
    assert numbers(other) == numbers(html)
