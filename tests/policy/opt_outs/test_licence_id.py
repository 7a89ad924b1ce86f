"""One name for each licence, whatever its address or its words look like; and no name for what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.policy.opt_outs.licence_id import (
    FAMILIES,
    allowed,
    family_of,
    licence_of_url,
    licences_in,
    strictest,
)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", "cc-by-4.0"),
        ("http://creativecommons.org/licenses/by/3.0/us/", "cc-by-3.0"),
        ("http://www.creativecommons.org/licenses/by-sa/3.0/de/deed.en_US", "cc-by-sa-3.0"),
        ("//creativecommons.org/licenses/by-nc-nd/2.5/scotland/legalcode", "cc-by-nc-nd-2.5"),
        ("HTTPS://CREATIVECOMMONS.ORG/LICENSES/BY-NC/2.1/JP", "cc-by-nc-2.1"),
        ("https://creativecommons.org/licenses/by-nc-sa/4.0?ref=chooser-v1", "cc-by-nc-sa-4.0"),
        ("https://creativecommons.org/licenses/ by-sa/4.0/legalcode.de", "cc-by-sa-4.0"),
        ("https://creativecommons.org/licenses/by/4.0/deed.de#ref-commons", "cc-by-4.0"),
        ("https://creativecommons.org/licenses/by/", "cc-by"),
        ("https://creativecommons.org/licences/by/4.0/", "cc-by-4.0"),
        ("http://creativecommons.org/licenses/by-nd-nc/1.0/", "cc-by-nc-nd-1.0"),
        ("http://creativecommons.org/licenses/nc-sa/1.0/", "cc-nc-sa-1.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/deed.fr", "cc0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "pdm-1.0"),
        ("http://creativecommons.org/licenses/publicdomain/", "cc-pddc"),
        ("https://creativecommons.org/share-your-work/public-domain/cc0/", "cc0-1.0"),
        ("creativecommons.org/licenses/by-sa/4.0", "cc-by-sa-4.0"),
        ("https://www.gnu.org/licenses/fdl-1.3.html", "gfdl-1.3"),
        ("https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", "ogl-uk-3.0"),
    ],
)
def test_every_address_of_a_licence_has_its_name(url: str, name: str) -> None:
    assert licence_of_url(url) == name
    assert family_of(name) in FAMILIES


@pytest.mark.parametrize(
    "url",
    [
        "https://creativecommons.org/",
        "https://creativecommons.org/licenses/",
        "https://creativecommons.org/licenses/sampling+/1.0/",
        "https://creativecommons.org.example/licenses/by/4.0/",
        "https://example.org/creativecommons.org/licenses/by/4.0/",
        "https://example.org/?u=https://creativecommons.org/licenses/by/4.0/",
        "https://creativecommons.org@example.org/licenses/by/4.0/",
        "javascript:creativecommons.org/licenses/by/4.0",
        "/licenses/by/4.0/",
        "",
    ],
)
def test_what_is_no_licence_has_none(url: str) -> None:
    assert licence_of_url(url) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CC BY-NC-SA 4.0", ["cc-by-nc-sa-4.0"]),
        ("cc-by", ["cc-by"]),
        ("© 2020 A. Author, CC0", ["cc0-1.0"]),
        ("Creative Commons Attribution-NonCommercial 4.0 International License", ["cc-by-nc-4.0"]),
        ("Wikipedia:Text_of_Creative_Commons_Attribution-ShareAlike_3.0_Unported_License", ["cc-by-sa-3.0"]),
        ("text: http://creativecommons.org/licenses/by/3.0/, pictures: CC BY-NC", ["cc-by-3.0", "cc-by-nc"]),
        ("Public Domain Mark 1.0", ["pdm-1.0"]),
        ("All rights reserved", []),
        ("Sent to you, cc: Byron Smith", []),
        ("ccby", ["cc-by"]),
        ("acc by 4.0", []),
    ],
)
def test_a_statement_names_its_licences(text: str, names: list[str]) -> None:
    assert licences_in(text) == names


def test_the_strictest_of_several_is_the_one_that_allows_the_least() -> None:
    assert strictest(["cc-by-4.0", "cc-by-nc-nd-3.0", "cc0-1.0"]) == "cc-by-nc-nd-3.0"
    assert strictest(["cc-by-sa-4.0", "cc-by-sa-2.5", "cc-by-sa-3.0"]) == "cc-by-sa-2.5"
    assert strictest(["cc-by-4.0", "other"]) == "other"


def test_a_family_allows_its_versions_and_a_version_only_itself() -> None:
    assert allowed("cc-by-4.0", frozenset({"cc-by"}))
    assert allowed("cc-by", frozenset({"cc-by"}))
    assert allowed("cc-by-4.0", frozenset({"cc-by-4.0"}))
    assert not allowed("cc-by-3.0", frozenset({"cc-by-4.0"}))
    assert not allowed("cc-by-nc-4.0", frozenset({"cc-by"}))
    assert not allowed("cc-by", frozenset({"cc-by-4.0"}))


CODES = st.sampled_from(["by", "by-sa", "by-nd", "by-nc", "by-nc-sa", "by-nc-nd"])


@given(CODES, st.sampled_from(["1.0", "2.0", "2.5", "3.0", "4.0"]), st.sampled_from(["", "/", "/us/", "/de/deed.fr"]))
def test_a_licence_keeps_its_conditions_and_its_version(code: str, version: str, rest: str) -> None:
    name = licence_of_url(f"https://creativecommons.org/licenses/{code}/{version}{rest}")
    assert name == f"cc-{code}-{version}"
    assert family_of(name) in FAMILIES


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for found in [
        licence_of_url(text),
        licence_of_url(f"https://creativecommons.org/licenses/{text}"),
        *licences_in(text),
    ]:
        assert found is None or family_of(found) in FAMILIES


@pytest.mark.parametrize(
    "piece", ["cc-by-", "creativecommons.org/licenses/by", "Creative Commons Attribution ", "/ ", "cc "]
)
def test_a_long_statement_costs_no_more_than_its_beginning(piece: str) -> None:
    assert len(licences_in(piece * 200_000)) <= 2_000
    licence_of_url("https://creativecommons.org/licenses/" + piece * 200_000)
