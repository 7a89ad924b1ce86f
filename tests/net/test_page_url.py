"""One page has one key, whatever its address is decorated with; another page has another."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.net.page_url import normalise, page_key

PAGE = "http://example.com/a/B?x=1&y=2"

SAME = [
    "https://example.com/a/B?x=1&y=2",
    "HTTP://WWW.Example.COM/a/B?x=1&y=2",
    "http://example.com./a/B?x=1&y=2",
    "http://example.com:80/a/B?x=1&y=2",
    "https://example.com:443/a/B?x=1&y=2",
    "https://example.com:0443/a/B?x=1&y=2",
    "http://example.com:/a/B?x=1&y=2",
    "http://user:word@example.com/a/B?x=1&y=2",
    "http://example.com/a/B?x=1&y=2#part",
    "http://example.com/a/B/?x=1&y=2",
    "http://example.com/a/./c/../B?x=1&y=2",
    "http://example.com/a/%2e/c/%2E%2E/B?x=1&y=2",
    "http://example.com/../a/B?x=1&y=2",
    "http://example.com/%61/%42?%78=%31&y=2",
    "http:\\\\example.com\\a\\B?x=1&y=2",
    " \n\thttp://example.com/a/\nB?x=1&y=2 ",
    "http://example.com/a/B?y=2&x=1",
    "http://example.com/a/B?&x=1&&y=2&",
    "http://example.com/a/B?utm_source=feed&x=1&UTM_Medium=mail&y=2",
    "http://example.com/a/B?utm%5Fsource=feed&x=1&y=2",
    "http://example.com/a/B?x=1&y=2&fbclid=abc&gclid=d&msclkid",
    "http://example.com/a/B;jsessionid=0A1B?x=1&y=2",
]
OTHER = [
    "http://example.com/a/b?x=1&y=2",
    "http://example.com/A/B?x=1&y=2",
    "http://example.com/a//B?x=1&y=2",
    "http://example.com/a%2FB?x=1&y=2",
    "http://example.com/a/B",
    "http://example.com/a/B?x=1",
    "http://example.com/a/B?x=2&y=1",
    "http://example.com/a/B?x=1&y=2&z=",
    "http://example.com/a/B?x=1&y=2&gclidx=1",
    "http://example.com/a/B?X=1&y=2",
    "http://example.com/a/B?x=1%26y=2",
    "http://example.com:8080/a/B?x=1&y=2",
    "http://example.org/a/B?x=1&y=2",
    "http://m.example.com/a/B?x=1&y=2",
    "http://www2.example.com/a/B?x=1&y=2",
    "ftp://example.com/a/B?x=1&y=2",
]


@pytest.mark.parametrize("url", SAME)
def test_one_page(url: str) -> None:
    assert page_key(url, exact=False) == page_key(PAGE, exact=False)


@pytest.mark.parametrize("url", OTHER)
def test_another_page(url: str) -> None:
    assert page_key(url, exact=False) != page_key(PAGE, exact=False)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.example.com", "http://example.com"),
        ("https://www.example.com/?", "http://example.com"),
        ("https://example.com/a//", "http://example.com/a"),
        ("https://www.com/", "http://www.com"),
        ("https://www.www.example.com/", "http://example.com"),
        ("https://example.com/a b/ü?q=ü|", "http://example.com/a%20b/%C3%BC?q=%C3%BC%7C"),
        ("https://example.com/100%/%zz%c3%bc", "http://example.com/100%25/%25zz%C3%BC"),
        ("https://example.com/?b=2&a=2&b=1&a=1", "http://example.com?a=2&a=1&b=2&b=1"),
        ("https://example.com/?p&2&a=1", "http://example.com?p&2&a=1"),
        ("https://[2001:DB8::1]:80/", "http://[2001:db8::1]"),
        ("https://bücher.example/", "http://xn--bcher-kva.example"),
        ("https://BÜCHER.example/", "http://xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example/", "http://xn--bcher-kva.example"),
        ("https://faß.example/", "http://xn--fa-hia.example"),
        ("https://FAß.example/", "http://xn--fa-hia.example"),
        ("https://ｅｘａｍｐｌｅ。com/", "http://example.com"),
        ("https://i❤.example/", "http://xn--i-7iq.example"),
    ],
)
def test_normal_form(url: str, expected: str) -> None:
    assert normalise(url) == expected


@pytest.mark.parametrize(
    "url",
    ["", "mailto:a@example.com", "http:///a", "http://", "http://a b/", "http://e.org:x/", "http://[::1/", "//e.org/"],
)
def test_what_is_no_web_page_stays_as_it_is(url: str) -> None:
    assert normalise(url) == url


def test_exact_keys_take_the_address_as_it_stands() -> None:
    assert page_key("http://example.com/", exact=True) != page_key("https://example.com/", exact=True)
    assert page_key(PAGE, exact=True) == page_key(PAGE, exact=False)  # it is in normal form
    assert len(page_key("\ud800", exact=True)) == len(page_key("http://e.org/\ud800", exact=False)) == 16


def test_keys_are_the_same_on_every_machine() -> None:
    assert page_key(PAGE, exact=False).hex() == "5387f76185eac89b546e839da5fa00a6"


_PIECES = st.sampled_from(
    "http:// https:// www. example.com bücher.example xn--bcher-kva xn--a [::1] @ : 80 / // \\ . .. %2e %2F %41 % "
    "%%34%31 ? & = ; utm_source= fbclid x=1 a ;jsessionid=1 # ü \ud800 + \t".split(" ")
)
_URLS = st.one_of(
    st.text(), st.lists(_PIECES).map("".join), st.lists(_PIECES).map(lambda p: "http://example.com/" + "".join(p))
)


@given(_URLS)
@example("http://e.org/%%34%31")
@example("http://www.www.com:443/./..//.?utm_a&=")
@example("http://\u0130.example/")
@example("http://e.org/;jsessionid;jsessionid=1=2")
@example("http://e.org/.;jsessionid=1/a")
def test_the_normal_form_is_its_own(url: str) -> None:
    assert normalise(normalise(url)) == normalise(url)


@given(_URLS)
def test_any_text_has_a_key(url: str) -> None:
    assert len(page_key(url, exact=False)) == 16


@pytest.mark.timeout(60)  # a hang: it takes two seconds at the most
@pytest.mark.parametrize(
    "url",
    [
        "http://e.org/" + "../a/" * 100_000,
        "http://e.org/" + "%" * 500_000,
        "http://e.org/?" + "a&" * 250_000,
        "http://e.org/" + ";jsessionid" * 50_000,
        "http://" + "a@" * 250_000 + "e.org/",
        "http://" + "a." * 250_000 + "/",
        "http://" + "ü" * 500_000 + "/",
        "http://e.org/" + "/" * 500_000 + "a",
        " " * 500_000,
    ],
    ids=lambda url: url[:24],
)
def test_long_addresses_take_linear_time(url: str) -> None:
    normalise(url)  # quadratic, each would outlast the limit
