"""robots.txt is asked before anything else, once, and obeyed (RFC 9309)."""

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.stages.fetch.robots import MAX_ROBOTS_BYTES, Robots, read_robots, robots_without_answer
from obelics_pipeline.stages.fetch.rule_files import RuleFiles
from tests.stages.fetch.site import Site, answer, fetch, in_turn, picture, raw, redirect, slow

CONFIG = FetchingConfig(max_crawl_delay_seconds=5)


def read(content: bytes) -> Robots:
    return read_robots(content, CONFIG, RuleFiles(BytesIO()))


def allowed(robots: str, path: str) -> bool:
    try:
        read(robots.encode()).check(parse_target(f"http://h.example{path}"), CONFIG.robots_token)
    except FetchError as error:
        return error.reason != "robots_txt"
    return True


@pytest.mark.parametrize(
    ("robots", "path", "expected"),
    [
        ("User-agent: *\nDisallow: /", "/a.jpg", False),
        ("User-agent: *\nDisallow:", "/a.jpg", True),
        ("User-agent: *\nDisallow: /priv\nAllow: /priv/img", "/priv/img/a.jpg", True),
        ("User-agent: *\nAllow: /priv/img\nDisallow: /priv", "/priv/x.jpg", False),
        ("User-agent: *\nDisallow: /*.gif$", "/x/y.gif", False),
        ("User-agent: *\nDisallow: /*.gif$", "/x/y.gif?z", True),
        ("User-agent: *\nDisallow: /a*b", "/axxb.jpg", False),
        ("User-agent: otherbot\nDisallow: /", "/a.jpg", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: obelics-pipeline\nAllow: /", "/a.jpg", True),
        ("User-agent: Obelics-Pipeline\nDisallow: /\n\nUser-agent: *\nAllow: /", "/a.jpg", False),
        ("\ufeffUser-agent: *\nDisallow: /", "/a.jpg", False),
        ("<html>not found</html>", "/a.jpg", True),
        ("", "/a.jpg", True),
    ],
)
def test_the_rules_are_read_as_the_standard_says(robots: str, path: str, expected: bool) -> None:
    assert allowed(robots, path) == expected


@given(st.binary(max_size=200))
def test_no_robots_txt_is_too_odd(content: bytes) -> None:
    read(content)


def test_a_crawl_delay_holds_within_reason() -> None:
    assert read(b"User-agent: *\nCrawl-delay: 1.5\n").crawl_delay == 1.5
    assert read(b"User-agent: *\nCrawl-delay: 5\n").refusal is None
    assert read(b"User-agent: *\nCrawl-delay: 5.1\n").refusal == "crawl_delay_too_long"
    too_long = read(b"User-agent: *\nCrawl-delay: 3600\n")
    with pytest.raises(FetchError, match="crawl_delay_too_long"):
        too_long.check(parse_target("http://h.example/a"), "x")


@pytest.mark.parametrize(
    ("reason", "refusal"),
    [("http_404", None), ("http_403", None), ("http_410", None), ("http_304", None),
     ("http_429", "robots_unavailable"), ("http_500", "robots_unavailable"), ("http_503", "robots_unavailable"),
     ("timeout", "robots_unavailable"), ("reset", "robots_unavailable"), ("not_http", "robots_unavailable"),
     ("tls", "robots_unavailable"), ("incomplete_body", "robots_unavailable"),
     ("dns", "dns"), ("refused", "refused"), ("private_address", "private_address")],
)  # fmt: skip
def test_no_answer_forbids_for_now_and_a_clear_no_allows(reason: str, refusal: str | None) -> None:
    assert robots_without_answer(reason).refusal == refusal


def test_it_is_asked_first_and_once_whatever_the_number_of_images(tmp_path: Path) -> None:
    with Site({"/robots.txt": answer(200, b"User-agent: *\nDisallow: /no")}, fallback=answer(200, picture())) as site:
        paths = [f"/{yes}/{n}.png" for yes in ("yes", "no") for n in range(10)]
        results = fetch(site, tmp_path, *paths)
        assert site.log[0].path == "/robots.txt"
        assert site.asked("/robots.txt") == 1
        assert not any(request.path.startswith("/no/") for request in site.log)
        for path, result in results.items():
            assert (result.status, result.reason) == (("ok", None) if "yes" in path else ("dropped", "robots_txt"))


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (answer(503), "robots_unavailable"),
        (raw(b"garbage\r\n\r\n"), "robots_unavailable"),
        (slow(3, answer(200)), "robots_unavailable"),
        (answer(403), None),
        (answer(200, b"#" * (MAX_ROBOTS_BYTES + 10) + b"\nUser-agent: *\nDisallow: /"), None),
        (answer(200, b"\n" * (MAX_ROBOTS_BYTES - 50) + b"User-agent: *\nDisallow: /\n" + b"\n" * 10**6), "robots_txt"),
        (redirect("/r2"), "robots_txt"),
        (redirect("/robots.txt"), None),
        (redirect(""), None),
        (redirect("http://127.0.0.2:1/robots.txt"), "robots_unavailable"),
    ],
    ids=[
        "503",
        "garbage",
        "timeout",
        "403",
        "too-long",
        "rules-before-the-end",
        "redirect",
        "loop",
        "nowhere",
        "private",
    ],
)
def test_what_the_images_of_a_host_come_to(tmp_path: Path, behaviour: object, reason: str | None) -> None:
    pages = {"/robots.txt": behaviour, "/a": answer(200, picture()), "/r2": answer(200, b"User-agent: *\nDisallow: /")}
    with Site(pages) as site:  # type: ignore[arg-type]
        assert fetch(site, tmp_path, "/a", timeout_seconds=1.0)["/a"].reason == reason
        assert site.asked("/a") == (reason is None)


def test_a_robots_txt_that_was_unavailable_once_is_asked_for_again(tmp_path: Path) -> None:
    robots = in_turn(answer(503), answer(200, b"User-agent: *\nDisallow: /no"))
    with Site({"/robots.txt": robots, "/yes": answer(200, picture()), "/no": answer(200, picture())}) as site:
        results = fetch(site, tmp_path, "/yes", "/no", retries=1)
        assert [results[path].reason for path in ("/yes", "/no")] == [None, "robots_txt"]
        assert site.asked("/robots.txt") == 2


def test_unavailable_robots_can_be_tried_in_a_later_run(tmp_path: Path) -> None:
    with Site({"/robots.txt": answer(500)}) as site:
        result = fetch(site, tmp_path, "/a")["/a"]
        assert (result.status, result.retryable) == ("failed", True)


def test_nothing_is_asked_where_the_config_says_so(tmp_path: Path) -> None:
    with Site({"/robots.txt": answer(200, b"User-agent: *\nDisallow: /"), "/a": answer(200, picture())}) as site:
        assert fetch(site, tmp_path, "/a", robots_txt=False)["/a"].status == "ok"
        assert site.asked("/robots.txt") == 0


def test_a_redirect_to_another_origin_obeys_the_robots_txt_there(tmp_path: Path) -> None:
    robots = answer(200, b"User-agent: *\nDisallow: /no")
    with Site({"/robots.txt": robots, "/yes": answer(200, picture())}) as other:
        with Site({"/a": redirect(other.url("/no")), "/b": redirect(other.url("/yes"))}) as site:
            results = fetch(site, tmp_path, "/a", "/b", allow_private=("127.0.0.1/32",))
        assert [results[path].reason for path in ("/a", "/b")] == ["robots_txt", None]
        assert (other.asked("/robots.txt"), other.asked("/no"), other.asked("/yes")) == (1, 0, 1)
