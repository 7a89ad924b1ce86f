from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.folds import deal, domain_of


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.news.site.example/a/b.html", "site.example"),
        ("http://user:secret@Site.Example:8080/", "site.example"),
        ("http://site.example./", "site.example"),
        ("http://localhost/", "localhost"),
        ("http://[bad/", ""),
        ("no url", ""),
    ],
)
def test_the_domain_is_the_last_two_labels_of_the_host(url: str, domain: str) -> None:
    assert domain_of(url) == domain


@given(st.sets(st.text(max_size=5), min_size=2, max_size=20), st.data())
def test_every_domain_is_in_one_fold_and_folds_are_of_like_size(domains: set[str], data: st.DataObject) -> None:
    count = data.draw(st.integers(2, len(domains)))
    fold_of = deal([*domains, *domains], count)
    assert set(fold_of) == domains
    sizes = Counter(fold_of.values())
    assert set(sizes) == set(range(count))
    assert max(sizes.values()) - min(sizes.values()) <= 1


def test_the_order_of_the_input_does_not_matter() -> None:
    names = [f"site{number}.example" for number in range(40)]
    assert deal(names, 5) == deal(names[::-1], 5)
    assert [deal(names, 5)[name] for name in names] != [number % 5 for number in range(40)], "nor does the alphabet"


@pytest.mark.parametrize("count", [1, 4])
def test_folds_that_cannot_be_are_refused(count: int) -> None:
    with pytest.raises(UserError, match=f"--folds {count}: pages of 3 domains make 2 to 3 folds"):
        deal("abc", count)
