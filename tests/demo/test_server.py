"""The image server answers every image of the site as intended, over real connections on loopback."""

import http.client
import time
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import urlsplit

import pytest
from PIL import Image

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.demo.pages import hosts, peculiarities
from obelics_pipeline.demo.server import ROBOTS_OPEN, huge_png, serve, serving

from .conftest import Extracted


@pytest.fixture
def proxy() -> Iterator[str]:
    with serve() as url:
        yield url.removeprefix("http://")


def get(proxy: str, url: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(proxy, timeout=60)
    try:
        connection.request("GET", url)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def images_of(extracted: Extracted) -> list[str]:
    return sorted({n.src for d in extracted.documents for n in d.nodes if isinstance(n, ImageNode)})


def test_every_image_of_the_site_is_on_a_host_that_is_served(extracted: Extracted) -> None:
    urls = images_of(extracted)
    assert {urlsplit(url).hostname for url in urls} <= set(hosts())
    assert {urlsplit(url).scheme for url in urls} == {"http"}
    targets = {how["to"] for how in peculiarities()["images"].values() if "to" in how}
    assert set(peculiarities()["images"]) <= set(urls) | targets


def test_every_ordinary_image_is_answered_with_a_picture_of_its_type(proxy: str, extracted: Extracted) -> None:
    special = peculiarities()["images"]
    for url in images_of(extracted)[::4]:  # each fourth: all of them would only take longer
        if url not in special:
            response, body = get(proxy, url)
            image = Image.open(BytesIO(body))
            assert response.status == 200, url
            assert response.headers["Content-Type"] == Image.MIME[str(image.format)], url


@pytest.mark.parametrize(
    ("name", "status", "media"),
    [
        ("gone.jpg", 404, "text/html"),
        ("down-for-repair.jpg", 503, "text/html"),
        ("members-only.jpg", 200, "text/html"),
        ("drawing.svg", 200, "image/svg+xml"),
        ("poster-huge.png", 200, "image/png"),
        ("not-a-picture.jpg", 200, "image/jpeg"),
    ],
)
def test_a_lost_image_is_lost_in_its_own_way(proxy: str, name: str, status: int, media: str) -> None:
    response, _ = get(proxy, f"http://brokenframe.example/lost/{name}")
    assert (response.status, response.headers["Content-Type"]) == (status, media)


def test_a_broken_image_cannot_be_opened(proxy: str) -> None:
    _, body = get(proxy, "http://brokenframe.example/lost/not-a-picture.jpg")
    with pytest.raises(Image.UnidentifiedImageError):
        Image.open(BytesIO(body))


def test_a_truncated_image_ends_before_its_length(proxy: str) -> None:
    with pytest.raises(http.client.IncompleteRead):
        get(proxy, "http://brokenframe.example/lost/cut-short.jpg")


def test_the_huge_image_is_small_on_the_wire() -> None:
    assert len(huge_png()) < 1000
    assert Image.open(BytesIO(huge_png(4000))).size == (4000, 4000)


def test_redirects_lead_on_one_of_them_to_a_forbidden_address(proxy: str) -> None:
    inside, _ = get(proxy, "http://brokenframe.example/lost/to-the-inside.jpg")
    assert (inside.status, inside.headers["Location"]) == (302, "http://127.0.0.1:9/admin/camera.jpg")
    moved, _ = get(proxy, "http://brokenframe.example/lost/moved-once-harbour.jpg")
    response, body = get(proxy, moved.headers["Location"])
    assert response.status == 200
    assert Image.open(BytesIO(body)).format == "JPEG"


def test_an_opted_out_image_says_so(proxy: str) -> None:
    response, _ = get(proxy, "http://nothanks.example/chairs/wednesday-table.jpg")
    assert response.headers["X-Robots-Tag"] == "noai, noimageai"


def test_robots_txt_is_the_host_s_own_or_allows_everything(proxy: str) -> None:
    assert b"Disallow: /\n" in get(proxy, "http://closedgallery.example/robots.txt")[1]
    assert get(proxy, "http://slowbread.example/robots.txt")[1] == ROBOTS_OPEN


def test_other_hosts_and_other_schemes_are_refused(proxy: str) -> None:
    for url in ("http://127.0.0.1:9/x.jpg", "http://elsewhere.example/x.jpg", "https://slowbread.example/x.jpg"):
        assert get(proxy, url)[0].status == 403
    connection = http.client.HTTPConnection(proxy, timeout=60)
    connection.set_tunnel("slowbread.example", 443)
    with pytest.raises(OSError, match="501"):
        connection.connect()


def test_a_request_by_host_header_is_answered_as_well() -> None:
    with serving() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        connection.request("GET", "/img/first-loaf.jpg", headers={"Host": "slowbread.example"})
        assert connection.getresponse().status == 200
        connection.close()
        assert server.asked == ["http://slowbread.example/img/first-loaf.jpg"]


def test_the_server_stops_though_a_client_still_waits() -> None:
    with serving() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
        connection.request("GET", "http://brokenframe.example/lost/never-answers.jpg")
        while not server.asked:
            time.sleep(0.01)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        connection.getresponse()
