import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.urls import join_url

BASE = "https://www.example.com/blog/2021/post.html"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("rel.jpg", "https://www.example.com/blog/2021/rel.jpg"),
        ("../up.jpg", "https://www.example.com/blog/up.jpg"),
        ("a/../b.jpg", "https://www.example.com/blog/2021/b.jpg"),
        ("/root.jpg", "https://www.example.com/root.jpg"),
        ("/a/../b.jpg", "https://www.example.com/b.jpg"),
        ("/./b.jpg", "https://www.example.com/b.jpg"),
        ("//cdn.example.org/p.jpg", "https://cdn.example.org/p.jpg"),
        ("?id=7", "https://www.example.com/blog/2021/post.html?id=7"),
        ("https://e.org:8443/p.jpg", "https://e.org:8443/p.jpg"),
        ("https://e.org:443/p.jpg", "https://e.org/p.jpg"),
        ("http://e.org:80/p.jpg", "http://e.org/p.jpg"),
        ("HTTPS://E.ORG/P.jpg", "https://e.org/P.jpg"),
        ("https://e.org", "https://e.org/"),
        ("https://192.168.0.1/ip.jpg", "https://192.168.0.1/ip.jpg"),
        ("https://[2001:db8::1]:81/i.jpg", "https://[2001:db8::1]:81/i.jpg"),
        ("https://faß.de/i.jpg", "https://xn--fa-hia.de/i.jpg"),
        ("https://bücher.example/i.jpg", "https://xn--bcher-kva.example/i.jpg"),
        ("https://e.org/ü b.jpg", "https://e.org/%C3%BC%20b.jpg"),
        ("https://e.org/%C3%BC.jpg", "https://e.org/%C3%BC.jpg"),
        ("https://e.org/a,b.jpg?w=1,2&u=ü#top", "https://e.org/a,b.jpg?w=1,2&u=%C3%BC"),
        ("\\\\e.org\\a\\b.jpg", "https://e.org/a/b.jpg"),
        (" \n/tab\there.jpg\r ", "https://www.example.com/tabhere.jpg"),
        ("https://user:secret@e.org/a.jpg", "https://e.org/a.jpg"),
        ("https://e_x.org/a.jpg", "https://e_x.org/a.jpg"),
    ],
)
def test_references_are_resolved_as_a_browser_does(reference: str, expected: str) -> None:
    assert join_url(BASE, reference) == expected


@pytest.mark.parametrize(
    "reference",
    [
        "data:image/gif;base64,R0lGOD", "javascript:alert(1)", "about:blank", "ftp://h.org/f.jpg", "file:///etc/passwd",
        "https://", "https:///x", "http://[::1", "http://]x[/", "https://e.org:99999/a", "https://e.org:port/a",
        "https://a b/c", "https://" + "ü" * 300 + ".de/", "https://\u2488.com/", "https://a..b/\ud800", "x" * 5_000,
        "https://xn--" + "é" * 70 + ".de/", "https://e.org%00.evil/", "mailto:a@b.c",
    ],
)  # fmt: skip
def test_hostile_references_give_nothing(reference: str) -> None:
    assert join_url(BASE, reference) is None


@pytest.mark.parametrize("base", ["", "not a url", "file:///x/y", "https://[bad", "javascript:x"])
def test_a_hostile_base_never_raises(base: str) -> None:
    assert join_url(base, "a.jpg") is None
    assert join_url(base, "/a.jpg") is None
    assert join_url(base, "https://e.org/a.jpg") == "https://e.org/a.jpg"


@given(
    base=st.one_of(st.just(BASE), st.text(max_size=40)),
    reference=st.one_of(st.text(max_size=60), st.text("/:.?#[]@%\\htps-xü0 ", max_size=40)),
)
@example(base=BASE, reference="//\u212a.com")
@settings(max_examples=400, deadline=None)
def test_what_comes_out_is_ascii_http_and_stays_itself(base: str, reference: str) -> None:
    url = join_url(base, reference)
    if url is not None:
        assert url.isascii()
        assert url.startswith(("http://", "https://"))
        assert "#" not in url
        assert " " not in url
        assert join_url(BASE, url) == url
