"""Addresses that people hide from machines are found in each spelling, in either case, in the midst of a long text."""

import pytest

from obelics_pipeline.core.config.personal_data import KINDS
from obelics_pipeline.policy.personal_data.find import find
from obelics_pipeline.policy.personal_data.regions import Regions

BARE = [
    ("at", "dot"), ("at", "punkt"), ("at", "d0t"), ("@", "dot"), ("@", "punkt"), ("@", "kropka"), ("@", "точка"),
    ("arobase", "point"), ("arroba", "punto"), ("arroba", "ponto"), ("chiocciola", "punto"), ("apenstaartje", "punt"),
    ("małpa", "kropka"), ("собака", "точка"),
]  # fmt: skip
ENCLOSED = [
    "at", "ät", "aet", "arroba", "arobase", "chiocciola", "apenstaartje", "klammeraffe", "affe", "małpa", "malpa",
    "собака", "собачка", "kukac", "snabel-a", "snabela", "a", "@",
]  # fmt: skip
AROUND = [
    "",
    "Words (of an essay) at noon. ",
    "Zażółć gęślą jaźń (łódź). ",
    "Слова (о погоде) и о том. ",
    "写真（猫）。",
]


def emails(text: str) -> list[str]:
    return [f.value for f in find(text, KINDS, Regions(("en",))) if f.kind == "email"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("at", "dot"), BARE)
def test_bare_words_are_found(at: str, dot: str, around: str) -> None:
    for spelled in (f"anna {at} web {dot} de", f"anna {at.upper()} web {dot.upper()} de", f"anna {at} web [{dot}] de"):
        assert emails(f"{around * 3}{spelled} {around}") == ["anna@web.de"], spelled


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("at", ENCLOSED)
def test_words_in_brackets_are_found(at: str, around: str) -> None:
    for spelled in (f"anna [{at}] web.de", f"anna({at.upper()})web.de", f"anna {{ {at} }} web [dot] de"):
        assert emails(f"{around * 3}{spelled} {around}") == ["anna@web.de"], spelled


def test_sentences_around_it_are_no_part_of_it() -> None:
    assert emails("At noon. anna at web dot de. It is hers") == ["anna@web.de"]
    assert emails("See you. anna [at] web.de. It is hers") == ["anna@web.de"]
    assert emails("or j . doe [at] web . de and j .doe (at) web .de") == ["j.doe@web.de", "j.doe@web.de"]
