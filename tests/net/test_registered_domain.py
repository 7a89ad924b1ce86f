"""Whose page it is follows from the public suffix list, and what can be no host belongs to nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.net.registered_domain import NO_SITE, plain_host, site_of_host, site_of_url, with_parents


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.example.com/a", "example.com"),
        ("https://WWW.Example.COM:8080/a", "example.com"),
        ("https://a.b.example.co.uk./", "example.co.uk"),
        ("https://one.blogspot.com/x", "one.blogspot.com"),  # the list's private part: each blog is somebody's own
        ("https://one.github.io/x", "one.github.io"),
        ("https://github.io/", "github.io"),  # itself a suffix
        ("https://co.uk/", "co.uk"),
        ("http://localhost/x", "localhost"),
        ("http://a.b.nosuchtld/", "b.nosuchtld"),
        ("https://www.bücher.example/", "xn--bcher-kva.example"),
        ("https://www.xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://食狮.公司.cn/", "xn--85x722f.xn--55qx5d.cn"),
        ("http://192.168.0.1:80/x", "192.168.0.1"),
        ("http://[2001:DB8::1]/x", "2001:db8::1"),
        ("https://user:word@www.example.com/", "example.com"),
        ("https://www%2efaß.de/", "xn--fa-hia.de"),
        ("http://0x7f.1/x", "127.0.0.1"),
    ],
)
def test_the_site_of_an_address(url: str, site: str) -> None:
    assert site_of_url(url) == site


@pytest.mark.parametrize(
    "url",
    [
        "", "nothing", "https:///x", "https://[::1/x", "https://a..com/", "https://.com/", "https://a b.com/",
        "https://\udcff.com/", "https://\u200b/", f"https://{'a' * 65_536}.com/", f"https://{'a.' * 32_000}com/",
        "https://a%2fb.com/", "https://" + "é" * 200 + ".com/",
    ],
)  # fmt: skip
def test_what_can_be_no_host_has_no_site(url: str) -> None:
    assert site_of_url(url) == NO_SITE


@given(st.text(max_size=80))
def test_any_host_has_one_site_or_none_and_it_is_its_own(host: str) -> None:
    site = site_of_host(host)
    assert site == NO_SITE or site_of_host(site) == site
    assert site.isascii()
    site_of_url(f"https://{host}/")


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("a.b.co.uk", ["a.b.co.uk", "b.co.uk", "co.uk", "uk"]),
        ("com", ["com"]),
        ("10.0.0.1", ["10.0.0.1"]),
        ("2001:db8::1", ["2001:db8::1"]),
        ("[::ffff:10.0.0.1]", ["[::ffff:10.0.0.1]"]),
    ],
)
def test_a_host_is_below_all_its_parents_and_an_address_below_none(host: str, names: list[str]) -> None:
    assert list(with_parents(host)) == names


def test_a_host_has_one_plain_form() -> None:
    assert plain_host("WWW.Bücher.Example.") == "www.xn--bcher-kva.example"
    assert plain_host("2001:DB8:0::1") == "2001:db8::1"
    assert plain_host("a..b") == NO_SITE
