"""A page that seems to be all numbers and addresses costs itself, and not the hours of everybody else."""

import pytest
from stdnum import iban

from obelics_pipeline.core.config.personal_data import KINDS, PersonalDataConfig
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.policy.personal_data import bank
from obelics_pipeline.policy.personal_data.budget import MOST_LOOKS, SearchBudget, TooManyLooks
from obelics_pipeline.policy.personal_data.clean import Cleaner
from obelics_pipeline.policy.personal_data.find import find
from obelics_pipeline.policy.personal_data.regions import Regions

DENSE = [
    "a at b dot ", "x@y ", "GB82 WEST 1234 5698 7654 33 ", "AA00 0000 0000 ", "(212) 555-0187 ", "8.8.8.8 ", "(at)",
    "00:1a:2b:3c:4d:5e ", "123-45-6789 ", "4111 1111 1111 1111 ", "tel. 12 34 56 78 90 12 34 56 ", ":1:1::",
    "2001:db8::1 ",
]  # fmt: skip
REGIONS = Regions(("en", "de"))


def looks_at(text: str) -> int:
    budget = SearchBudget(10**9)
    find(text, KINDS, REGIONS, budget=budget)
    return 10**9 - budget.left


@pytest.mark.parametrize("unit", DENSE)
def test_a_text_four_times_as_long_takes_four_times_as_many_looks(unit: str) -> None:
    short, long = (looks_at(unit * n) for n in (100, 400))
    assert short > 0
    assert long <= 4 * short + 40
    assert long <= 400 * 8  # a few for each value


@pytest.mark.parametrize("unit", DENSE)
def test_a_search_ends_where_its_looks_do(unit: str) -> None:
    with pytest.raises(TooManyLooks):
        find(unit * 1_000, KINDS, REGIONS, budget=SearchBudget(99))


def test_prose_takes_next_to_none() -> None:
    assert looks_at("She was at home (as ever) by 10:30 on 2024-05-12, and paid 1,234.50 for it. " * 1_000) <= 10


def test_the_parts_of_a_page_share_its_looks() -> None:
    cleaner, budget = Cleaner(PersonalDataConfig(enabled=True), lambda _text: None), SearchBudget(10)
    parts = [Document("", "https://a.example/", "", 0, 0, [TextNode("x@y " * 6)]) for _ in range(2)]
    cleaner.clean(parts[0], budget=budget)
    with pytest.raises(TooManyLooks):
        cleaner.clean(parts[1], budget=budget)


def test_a_page_of_ordinary_length_has_more_looks_than_values() -> None:
    assert looks_at("write to anna@web.de or call (212) 555-0187, ask for room 12\n" * 2_000) < MOST_LOOKS


def test_what_only_looks_like_an_account_number_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(bank.iban, "is_valid", lambda number, **_: asked.append(number) or False)
    find("GB82 WEST 1234 5698 7654 3" * 100, KINDS, REGIONS)
    find("DE12 3456 7890 1234 5678 9012 3456 7890 " * 100, KINDS, REGIONS)
    assert len(asked) <= 2 * 100


@pytest.mark.parametrize("behind", ["", " ", " Bank", "Bank", " 12", "-A"])
def test_the_check_digits_are_those_of_python_stdnum(behind: str) -> None:
    for number in (
        "GB82WEST12345698765432",
        "DE89370400440532013000",
        "NO9386011117947",
    ):
        found = [value for _, value in bank._checked(number + behind)]
        assert all(bank_ok(value) for value in found)
        assert (number in found) == (behind != "Bank")


def bank_ok(number: str) -> bool:
    return iban.mod_97_10.is_valid(number[4:] + number[:4])
