# ruff: noqa: E501 (tables)
"""What holds for any text: it is never broken, never longer than a bound, and a second pass changes nothing."""

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config.personal_data import KINDS, PersonalDataConfig
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.policy.personal_data.budget import SearchBudget, TooManyLooks
from obelics_pipeline.policy.personal_data.clean import Cleaner
from obelics_pipeline.policy.personal_data.find import find
from obelics_pipeline.policy.personal_data.plain import flat, plain
from obelics_pipeline.policy.personal_data.pseudonym import LONGEST
from obelics_pipeline.policy.personal_data.regions import Regions

SHORTEST = 5  # characters of a value: 8@a.de, 1.1.1.1
REGIONS = ("DE", "US", "FR", "GB", "JP", "BR", "IT", "ES", "NL", "PL", "RU", "CN", "IN", "TR", "SA")
PIECES = [
    "anna@example.com", "j.doe [at] web dot de", "+49 30 123456", "030/123 456", "(212) 555-0187", "06 12 34 56 78",
    "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111", "84.12.33.9", "2a02:8108:8ac0::1f", "00:1a:2b:3c:4d:5e",
    "123-45-6789", "529.982.247-25", "version 1.2.3.4", "Tel.", "order no.", "電話", "０３-１２３４-５６７８", "(", ")", "@", ".",
    ",", " ", "-", "/", "\n", "+", ":", "[", "]", " at ", " dot ", "com", "a", "é", "请", "0", "19", "x12", "IP", "[phone]",
    "person-0123456789@example.com", "+999 1234 5678", "192.0.2.7", "ZZ00 1234 1234 1234 1234", "card", "ssn", "ext. 5",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
anything = st.one_of(st.text(max_size=200), pieces, st.text("0123456789 .-/()+@:abcdef\n", max_size=120))


def cleaned(text: str, **treatments: str) -> str:
    config = PersonalDataConfig(enabled=True, regions=list(REGIONS), **treatments)  # type: ignore[arg-type]
    node = TextNode(text)
    Cleaner(config, lambda _text: None).clean(Document("", "https://a.example/", "", 0, 0, [node]))
    return node.text


@given(anything)
@settings(max_examples=400)
def test_a_second_pass_of_pseudonyms_changes_nothing(text: str) -> None:
    once = cleaned(text)
    assert cleaned(once) == once


@given(anything)
@settings(max_examples=200)
def test_a_second_pass_of_masks_changes_nothing(text: str) -> None:
    masks = dict.fromkeys(KINDS, "mask")
    once = cleaned(text, **masks)
    assert cleaned(once, **masks) == once


@given(anything)
@settings(max_examples=200)
def test_a_text_grows_by_a_bounded_factor_and_without_findings_it_is_the_same_object(text: str) -> None:
    found = find(text, KINDS, Regions((), "", REGIONS))
    after = cleaned(text)
    assert len(after) <= len(text) + LONGEST * len(found)
    assert len(found) * SHORTEST <= len(text)
    if not found:
        assert after is text


@given(anything)
@settings(max_examples=200)
def test_findings_rise_and_do_not_overlap_and_lie_within_the_text(text: str) -> None:
    found = find(text, KINDS, Regions((), "", REGIONS))
    ends = [0, *(finding.end for finding in found)]
    assert all(end <= finding.begin < finding.end for end, finding in zip(ends, found, strict=False))
    assert ends[-1] <= len(text)


@given(st.text(max_size=100))
def test_places_in_a_plain_text_are_those_of_what_was_written(text: str) -> None:
    assert len(plain(text)) == len(text) == len(flat(plain(text)))


@pytest.mark.parametrize(
    "unit",
    [
        "1", "@", "a@", "a.", "1.", "1 ", "1-", "(1", "+1 ", "a@b.", "a [at] ", "a at b dot ", "::", "1:", "ab:", "1.1.1.1 ",
        "a1", "00:", "x@y.com", "0 (", "DE1", "4111 ", "é@", "请@", '"@', "030/", "1,", "000x", "ssn 1", "[phone]",
        "a.b@c.de:", "[", "at ", "＠", "１", "person-", " @ a.aa",
    ],
)  # fmt: skip
def test_the_time_is_proportional_to_the_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begin = time.process_time()
        find(text, KINDS, Regions((), "", REGIONS), budget=SearchBudget(10**9))
        return time.process_time() - begin

    short, long = (min(seconds(length) for _ in range(3)) for length in (20_000, 160_000))  # the least: others run too
    assert long < 8 * short * 3 + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["7", "@", "a@", "a.b.", "1 2 ", "12.34-"])
def test_a_megabyte_of_hostile_text_comes_to_an_end(unit: str) -> None:
    with suppress(TooManyLooks):
        find(unit * (1_000_000 // len(unit)), KINDS, Regions((), "", REGIONS))
