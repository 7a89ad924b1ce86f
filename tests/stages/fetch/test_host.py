"""A host is in exactly one bucket, however a URL spells it."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.fetch.host import host_bucket, host_of


def test_a_host_is_one_host_in_every_spelling() -> None:
    spellings = [
        "http://Bücher.example/a",
        "https://bücher.example:8443/b",
        "http://xn--bcher-kva.example.",
        "HTTP://BÜCHER.example",
    ]
    assert {host_of(url) for url in spellings} == {"xn--bcher-kva.example"}
    assert {host_of(url) for url in ("http://127.1/", "http://2130706433/x")} == {"127.0.0.1"}
    assert host_of("not a url") == ""


def test_buckets_are_the_same_for_ever() -> None:
    assert [host_bucket(f"http://h{n}.example/x", 64) for n in range(5)] == [12, 59, 51, 5, 37]


@given(st.text(), st.integers(1, 100))
def test_any_text_has_a_bucket(url: str, buckets: int) -> None:
    assert 0 <= host_bucket(url, buckets) < buckets
