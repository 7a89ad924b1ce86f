"""What a site says of the use of its images, beside robots.txt: ai.txt, tdmrep.json, the TDM header."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import FetchingConfig
from obelics_pipeline.stages.fetch.journal import Journal
from obelics_pipeline.stages.fetch.robots import AI_FILE, TDM_FILE
from obelics_pipeline.stages.fetch.stage import identity
from tests.stages.fetch.site import Site, answer, fetch, picture

IMAGE = answer(200, picture(), Content_Type="image/jpeg")
NO_JPEG = answer(200, b"# Spawning AI\nUser-Agent: *\nDisallow: *.jpg\nAllow: /\n")
RESERVED = answer(200, json.dumps([{"location": "/a/*.jpg", "tdm-reservation": 1}]).encode())
BOTH = {"ai_txt": True, "tdm": "file"}


def reasons(tmp_path: Path, pages: dict[str, Any], *paths: str, **config: Any) -> tuple[list[str | None], list[str]]:
    """The reasons, image by image, and what was asked for."""
    with Site(dict.fromkeys(paths, IMAGE) | pages) as site:
        results = fetch(site, tmp_path, *paths, **config)
        return [results[path].reason for path in paths], [request.path for request in site.log]


def test_ai_txt_forbids_what_it_names(tmp_path: Path) -> None:
    said, _ = reasons(tmp_path, {AI_FILE: NO_JPEG}, "/a.jpg", "/a.png", ai_txt=True)
    assert said == ["ai_txt", None]


def test_a_site_s_file_reserves_what_it_names(tmp_path: Path) -> None:
    said, asked = reasons(tmp_path, {TDM_FILE: RESERVED}, "/a/1.jpg", "/b/1.jpg", "/a/1.png", tdm="file")
    assert said == ["tdm_reserved", None, None]
    assert "/a/1.jpg" not in asked


def test_a_header_reserves_an_image(tmp_path: Path) -> None:
    pages = {
        "/a.jpg": answer(200, picture(), TDM_Reservation="1"),
        "/b.jpg": answer(200, picture(), TDM_Reservation="0"),
    }
    assert reasons(tmp_path / "1", pages, "/a.jpg", "/b.jpg", tdm="header")[0] == ["tdm_reserved", None]
    assert reasons(tmp_path / "2", pages, "/a.jpg", "/b.jpg")[0] == [None, None]


def test_nothing_more_is_asked_unless_it_is_switched_on(tmp_path: Path) -> None:
    _, asked = reasons(tmp_path, {AI_FILE: NO_JPEG, TDM_FILE: RESERVED}, "/a/1.jpg", tdm="header")
    assert asked == ["/robots.txt", "/a/1.jpg"]


@pytest.mark.parametrize("robots_txt", [True, False])
def test_each_file_is_asked_once_before_the_images(tmp_path: Path, robots_txt: bool) -> None:
    paths = [f"/{n}.jpg" for n in range(20)]
    said, asked = reasons(tmp_path, {}, *paths, ai_txt=True, tdm="file", robots_txt=robots_txt)
    files = ["/robots.txt"] * robots_txt + [AI_FILE, TDM_FILE]
    assert asked[: len(files)] == files
    assert sorted(asked[len(files) :]) == sorted(paths)
    assert said == [None] * 20


def test_where_robots_txt_forbids_all_nothing_more_is_asked(tmp_path: Path) -> None:
    said, asked = reasons(tmp_path, {"/robots.txt": answer(503)}, "/a.jpg", ai_txt=True, tdm="file", retries=0)
    assert (said, asked) == (["robots_unavailable"], ["/robots.txt"])


@pytest.mark.parametrize(
    ("pages", "settings", "wanted"),
    [
        ({"/robots.txt": NO_JPEG}, {}, ("rules", None, None)),
        ({}, {"ai_txt": True}, ("none", "none", None)),
        ({AI_FILE: NO_JPEG, TDM_FILE: RESERVED}, BOTH, ("none", "rules", "rules")),
        ({AI_FILE: NO_JPEG}, {"ai_txt": True, "robots_txt": False}, (None, "rules", None)),
        ({"/robots.txt": answer(503)}, BOTH | {"retries": 0}, ("robots_unavailable", None, None)),
        ({"/robots.txt": answer(200, b"User-agent: *\nCrawl-delay: 9999")}, {}, ("crawl_delay_too_long", None, None)),
    ],
)  # fmt: skip
def test_what_each_origin_said_is_noted_with_the_day(
    tmp_path: Path, pages: dict[str, Any], settings: dict[str, Any], wanted: tuple[str | None, ...]
) -> None:
    with Site({"/a/1.jpg": IMAGE} | pages) as site:
        fetch(site, tmp_path, "/a/1.jpg", **settings)
        [row] = Journal(tmp_path / "journal").observations()
        assert (row["origin"], row["day"]) == (site.url("/"), datetime.now(UTC).date().isoformat())
        assert (row["robots_txt"], row["ai_txt"], row["tdm"]) == wanted


@pytest.mark.parametrize(
    "bad",
    [
        answer(404), answer(500), answer(200, b"<html><title>Not found</title>"), answer(200, b"\xff\x00" * 999),
        answer(200, b"[" * 300_000), answer(200, b"Disallow: " + b"*a" * 200_000), answer(302, Location="http://10.0.0.1/"),
        answer(302, Location="\\\\"), answer(302, Location=AI_FILE), answer(200, b"{}", Content_Length="999"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_forbids_nothing(tmp_path: Path, bad: Any) -> None:
    assert reasons(tmp_path, {AI_FILE: bad, TDM_FILE: bad}, "/a/1.jpg", ai_txt=True, tdm="file")[0] == [None]


def test_a_file_may_have_moved(tmp_path: Path) -> None:
    pages = {AI_FILE: answer(301, Location="/x"), "/x": answer(302, Location="/y"), "/y": NO_JPEG}
    assert reasons(tmp_path, pages, "/a.jpg", ai_txt=True)[0] == ["ai_txt"]


def test_earlier_results_stand_where_nothing_is_switched_on() -> None:
    plain = FetchingConfig()
    assert identity(plain) == identity(FetchingConfig(ai_txt=False, tdm="ignore"))
    assert len({identity(plain), identity(FetchingConfig(ai_txt=True)), identity(FetchingConfig(tdm="file"))}) == 3
