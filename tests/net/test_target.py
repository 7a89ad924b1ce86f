"""What is checked is what is connected to: one reading of a URL, and no second one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import join_location, parse_target


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("http://Example.COM", "example.com", 80, "/"),
        ("https://example.com.:8443/a?b#c", "example.com", 8443, "/a?b"),
        ("http://bücher.example/ü b?ü", "xn--bcher-kva.example", 80, "/%C3%BC%20b?%C3%BC"),
        ("http://a_b.example/%20", "a_b.example", 80, "/%20"),
        ("  http://h/x  ", "h", 80, "/x"),
    ],
)
def test_a_url_is_normalised_once(url: str, host: str, port: int, path: str) -> None:
    target = parse_target(url)
    assert (target.host, target.port, target.path, target.address) == (host, port, path, None)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001", "127.1", "127.0.0.1.", "127.1.",
     "１２７.0.0.1", "127。0。0。1"],
)  # fmt: skip
def test_every_spelling_of_loopback_is_an_address(host: str) -> None:
    assert str(parse_target(f"http://{host}:81/").address) == "127.0.0.1"


def test_ipv6_literals_keep_their_brackets_in_the_host_header_only() -> None:
    target = parse_target("http://[::FFFF:127.0.0.1]:81/")
    assert target.host == str(target.address)
    assert target.authority == f"[{target.host}]:81"


@pytest.mark.parametrize(
    "url",
    ["", "x", "/a.jpg", "file:///etc/passwd", "ftp://h/a", "javascript:alert(1)", "data:image/png;base64,AA", "http://",
     "http:///x", "http://h:99999/", "http://h:0/", "http://h:x/", "http://u:p@h/", "http://a\\@127.0.0.1/", "http://a..b/",
     "http://1.2.3.4.5/", "http://256.1.1.1/", "http://h/\r\nX: y", "http://h\x00/", "http://[::1/", "http://[fe80::1%25lo",
     "http://a b/", "http://" + "a" * 300 + ".b/", "http://h/" + "a" * 9000, "http://*.example/"],
)  # fmt: skip
def test_what_is_not_a_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(FetchError, match="bad_url"):
        parse_target(url)


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_a_bad_url(text: str) -> None:
    for url in (text, f"http://{text}", f"http://h/{text}"):
        try:
            target = parse_target(url)
        except FetchError:
            continue
        assert target.url.isascii()
        assert not any(c.isspace() or ord(c) < 32 for c in target.url)
        assert parse_target(target.url) == target


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/y z", "http://h.example/y%20z"),
        ("y", "http://h.example/a/y"),
        ("//o.example", "http://o.example/"),
        ("https://o.example/\xc3\xa9", "https://o.example/%C3%A9"),
        ("?q#f", "http://h.example/a/x?q"),
    ],
)
def test_a_redirect_is_joined_as_sent(location: str, url: str) -> None:
    assert join_location(parse_target("http://h.example/a/x"), location).url == url


@pytest.mark.parametrize(
    "location", ["", " ", "http://", "javascript:alert(1)", "//:0", "file:///etc/passwd", "http://u@h/"]
)
def test_a_redirect_to_nowhere_is_bad(location: str) -> None:
    with pytest.raises(FetchError, match="bad_redirect"):
        join_location(parse_target("http://h.example/a/x"), location)
