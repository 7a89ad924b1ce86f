"""A host has one spelling, the one that a browser asks; what a browser asks nobody for is none."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.net.registered_domain import plain_host
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.net.web_host import in_url, is_address, web_host
from obelics_pipeline.policy.blocklists.entry import canonical
from obelics_pipeline.policy.opt_outs.lists import _host_of
from obelics_pipeline.stages.extract.urls import join_url
from obelics_pipeline.stages.read.robots import _origins

# Of the WHATWG URL Standard's tests (web-platform-tests, url/resources: toascii.json, urltestdata.json) and its text.
SPELLINGS = [
    ("faß.de", "xn--fa-hia.de"), ("FAß.DE", "xn--fa-hia.de"), ("faẞ.de", "xn--fa-hia.de"), ("fass.de", "fass.de"),
    ("βόλος.com", "xn--nxasmm1c.com"), ("Bücher.Example", "xn--bcher-kva.example"), ("日本。jp", "xn--wgv71a.jp"),
    ("ｅｘ％６１ｍｐｌｅ.com", None), ("ｅｘａｍｐｌｅ.com", "example.com"), ("ex%61mple.com", "example.com"),
    ("b%C3%BCcher.example", "xn--bcher-kva.example"), ("☃.net", "xn--n3h.net"), ("i❤.example", "xn--i-7iq.example"),
    ("\u212a.com", "k.com"), ("a\u00adb.com", "ab.com"), ("e_x.org", "e_x.org"), ("-a-.com", "-a-.com"),
    ("example.com.", "example.com."), ("a--b.com", "a--b.com"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ("127.0.0.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"), ("0X7F.1", "127.0.0.1"), ("0177.0.0.01", "127.0.0.1"),
    ("2130706433", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("１２７.1", "127.0.0.1"), ("%31%32%37.1", "127.0.0.1"),
    ("0x", "0.0.0.0"), ("4294967295", "255.255.255.255"), ("1.2.65535", "1.2.255.255"), ("0xg", "0xg"),
    ("0.0x1.example", "0.0x1.example"),
    ("[::1]", "::1"), ("::1", "::1"), ("[2001:DB8:0:0::1]", "2001:db8::1"), ("[::127.0.0.1]", "::7f00:1"),
]  # fmt: skip
NONE = [
    "", ".", "a..b", ".a", "a b", "a/b", "a%2fb", "a%00b", "a%", "a%ff", "a@b", "a^b", "a|b", "a<b", "\u2488.com",
    "\ud800", "4294967296", "256.1.1.1", "1.2.3.256", "1.2.3.4.5", "09.1", "a.1", "a.0x", "1..2", "[::1", "::1]",
    "[:::]",
    "[fe80::1%25eth0]", "[::1.2.3]", "xn--", "xn--a", "xn--zz-zz", "a\u200db.com", "\u0301a.com", "ü" * 300, "a" * 254,
    "é" * 64 + ".com", "%" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize(("written", "host"), [(w, h) for w, h in SPELLINGS if h is not None])
def test_a_host_is_spelled_as_a_browser_does(written: str, host: str) -> None:
    assert web_host(written) == host


@pytest.mark.parametrize("written", [*NONE, *(w for w, h in SPELLINGS if h is None)])
def test_what_no_browser_asks_is_no_host(written: str) -> None:
    assert web_host(written) is None


@given(st.one_of(st.text(max_size=80), st.text("xn-.aß%0f7:[]üA1\u200d", max_size=40)))
@example("xn--\u00df")
@example("xn--xn---a")
def test_a_host_is_its_own_spelling_in_ascii_whatever_was_written(written: str) -> None:
    host = web_host(written)
    if host is not None:
        assert host.isascii()
        assert host == host.lower()
        assert web_host(host) == web_host(in_url(host)) == host


@pytest.mark.parametrize(
    ("written", "host"),
    [("faß.de", "xn--fa-hia.de"), ("☃.net", "xn--n3h.net"), ("ex%61mple.com", "example.com"), ("0x7f.1", "127.0.0.1"),
     ("[2001:DB8:0::1]", "2001:db8::1"), ("Bücher.example.", "xn--bcher-kva.example")],
)  # fmt: skip
def test_all_that_reads_a_host_reads_the_same_one(written: str, host: str) -> None:
    url = f"https://{written}/a"
    assert (join_url("https://page.example/", url) or "").replace("./a", "/a") == f"https://{in_url(host)}/a"
    assert parse_target(url).host == host
    assert (parse_target(url).address is not None) == is_address(host)
    assert normalise(url) == f"http://{in_url(host)}/a"
    assert canonical(url) == f"{host}/a"
    assert plain_host(written.strip("[]")) == host
    assert _host_of(url) == host
    assert next(_origins(url)).removesuffix(".") == f"https://{in_url(host)}"


def test_a_link_with_a_plain_host_is_not_taken_for_one_with_a_number_or_an_odd_name() -> None:
    assert join_url("", "https://0x7f.1/a.jpg") == "https://127.0.0.1/a.jpg"
    assert join_url("", "https://a.xn--a/a.jpg") is None
    assert join_url("https://2130706433/x/", "a.jpg") == "https://127.0.0.1/x/a.jpg"
