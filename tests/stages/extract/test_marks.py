import pytest

from obelics_pipeline.stages.extract.marks import BITS, VOCABULARY, marks_of, names_of


@pytest.mark.parametrize("name", ["post-meta", "postMeta", "post_meta", "POST META", "post--meta__x1", "meta-post"])
def test_a_name_says_what_its_parts_say(name: str) -> None:
    assert names_of(marks_of(name)) == names_of(VOCABULARY["post"] | VOCABULARY["meta"])
    assert {"byline", "body"} <= set(names_of(marks_of(name)))


@pytest.mark.parametrize("name", ["", "a1 jJpQhK", "xAdy", "adAd", "css-1x2y3z", "postmaster", "äad", "ad" * 3, "   "])
def test_a_made_up_name_says_nothing(name: str) -> None:
    assert names_of(marks_of(name)) in ([], ["advert"] if name == "äad" else [])


@pytest.mark.parametrize(
    ("name", "says"),
    [("ad-slot", "advert"), ("ad_slot", "advert"), ("slot ad", "advert"), ("ad1", "advert"), ("sr-only", "unseen")],
)
def test_a_short_word_counts_where_it_stands_alone(name: str, says: str) -> None:
    assert names_of(marks_of(name)) == [says]


def test_only_the_beginning_of_a_long_name_is_read() -> None:
    assert marks_of("x" * 990 + " footer") == BITS["foot"]
    assert marks_of("x" * 1_000 + " footer") == 0


def test_every_meaning_has_a_bit_of_its_own() -> None:
    assert names_of(sum(BITS.values())) == list(BITS)
