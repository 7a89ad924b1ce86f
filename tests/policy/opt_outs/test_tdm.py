"""What is said of text and data mining: which of several statements counts, and which paths a pattern is about."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.policy.opt_outs.tdm import MAX_FILE, MAX_RULES, UNSET, Tdm, file_tdm, matches, page_tdm, read_file

POLICY = "https://site.example/policy.json"


@pytest.mark.parametrize(
    ("metas", "headers", "said"),
    [
        ({}, [], UNSET),
        ({"tdm-reservation": "1"}, [], Tdm(True, None, "meta")),
        ({"tdm-reservation": " 1 ", "tdm-policy": POLICY}, [], Tdm(True, POLICY, "meta")),
        ({}, [("tdm-reservation", "1"), ("tdm-policy", POLICY)], Tdm(True, POLICY, "header")),
        ({"tdm-reservation": "0"}, [("tdm-reservation", "1")], Tdm(False, None, "meta")),
        ({"tdm-reservation": "2"}, [("tdm-reservation", "1")], Tdm(True, None, "header")),
        ({"tdm-reservation": "yes"}, [("tdm-reservation", "true")], UNSET),
        ({"tdm-policy": POLICY}, [], UNSET),
        ({"tdm-reservation": "1", "tdm-policy": "javascript:alert(1)"}, [], Tdm(True, None, "meta")),
        ({"tdm-reservation": "1", "tdm-policy": "https://" + "x" * 9_999}, [], Tdm(True, None, "meta")),
    ],
)
def test_a_page_s_meta_goes_before_its_header(metas: dict[str, str], headers: list[tuple[str, str]], said: Tdm) -> None:
    assert page_tdm(metas, headers) == said


@pytest.mark.parametrize(
    ("location", "path", "is_matched"),
    [
        ("/", "/anything", True), ("/a/", "/a/b", True), ("/a/", "/a", False), ("/a", "/ab", True),
        ("/a/*.jpg", "/a/b/c.jpg", True), ("/a/*.jpg", "/a/b.jpg.html", True), ("/a/*.jpg$", "/a/b.jpg.html", False),
        ("/a/*.jpg$", "/a/b.jpg", True), ("/this/*/then", "/this/way/then/x", True), ("/x$", "/x", True),
        ("/x$", "/xy", False), ("*", "/", True), ("/*", "/a", True), ("/path/foo-%24", "/path/foo-$", True),
        ("/A", "/a", False), ("/a*a*a$", "/aa", False), ("/caf%C3%A9", "/café", True), ("/a?b=*", "/a?b=1", True),
    ],
)  # fmt: skip
def test_a_pattern_matches_as_in_robots_txt(location: str, path: str, is_matched: bool) -> None:
    assert matches(location, path) is is_matched


def test_the_first_rule_that_matches_counts() -> None:
    rules = [
        {"location": "/directory-a/", "tdm-reservation": 1},
        {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": POLICY},
        {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
        {"location": "/directory-b/", "tdm-reservation": "1"},
    ]
    found = read_file(b"\xef\xbb\xbf" + json.dumps(rules).encode())
    assert file_tdm(found, "/directory-a/x.pdf") == Tdm(True, None, "file")
    assert file_tdm(found, "/directory-b/html/x") == Tdm(True, POLICY, "file")
    assert file_tdm(found, "/directory-b/images/x.jpg") == Tdm(False, None, "file")
    assert file_tdm(found, "/directory-b/images/x.png") == Tdm(True, None, "file")
    assert file_tdm(found, "/elsewhere") == UNSET


@pytest.mark.parametrize(
    "content",
    [
        b"", b"<html>404</html>", b"{}", b"null", b"[1, null, [], {}]", b"[" * 100_000, b"\xff\xfe",
        b'[{"location": 1}]',
        b'[{"location": "/", "tdm-reservation": true}]', b'[{"location": "/", "tdm-reservation": 2}]',
        b'[{"location": "", "tdm-reservation": 1}]', b'[{"tdm-reservation": 1}]',
        json.dumps([{"location": "/" + "x" * 5_000, "tdm-reservation": 1}]).encode(),
        b" " * MAX_FILE + b'[{"location": "/", "tdm-reservation": 1}]',
    ],
)  # fmt: skip
def test_a_file_that_is_none_says_nothing(content: bytes) -> None:
    assert file_tdm(read_file(content), "/x") == UNSET


@pytest.mark.timeout(30)
def test_a_file_of_500_kib_is_read_and_a_larger_one_is_not() -> None:
    rule = b'[{"location": "/", "tdm-reservation": 1}]'
    assert len(read_file(rule.ljust(500 * 1024))) == 1
    assert read_file(rule.ljust(500 * 1024 + 1)) == []


def test_ten_thousand_rules_of_a_file_count() -> None:
    assert len(read_file(json.dumps([{"location": "/a", "tdm-reservation": 0}] * 10_001).encode())) == 10_000


def test_a_pattern_of_2000_characters_and_a_policy_of_500_count() -> None:
    for more, found in ((0, 1), (1, 0)):
        entry = {"location": "/" + "a" * (1_999 + more), "tdm-reservation": 1}
        assert len(read_file(json.dumps([entry]).encode())) == found
        address = "https://" + "a" * (492 + more)
        assert (page_tdm({"tdm-reservation": "1", "tdm-policy": address}, []).policy is not None) == found


def test_a_hostile_file_takes_no_time() -> None:
    location = "/" + "a*" * 900
    rules = [{"location": f"{location}{n}", "tdm-reservation": 1} for n in range(200)]
    assert len(read_file(json.dumps([{"location": "/a", "tdm-reservation": 0}] * 9_999).encode())) <= MAX_RULES
    assert file_tdm(read_file(json.dumps(rules).encode()), "/" + "a" * 8_000) == UNSET


@given(st.text("ab/*$", min_size=1, max_size=8), st.text("ab/", max_size=10))
def test_a_pattern_matches_what_its_regular_expression_does(location: str, path: str) -> None:
    body = location.removesuffix("$")
    pattern = ".*".join(re.escape(piece) for piece in body.split("*")) + ("$" if location.endswith("$") else "")
    assert matches(location, path) is (re.match(pattern, path) is not None)


@given(st.binary(max_size=300), st.text(max_size=50))
def test_any_file_is_read(content: bytes, path: str) -> None:
    file_tdm(read_file(content), path)
