"""A unit of fetching: every URL once, every outcome with its reason, and a killed unit goes on where it was."""

import hashlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.journal import Journal
from obelics_pipeline.stages.fetch.phash import phash_of
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.robots_observations import observation_table
from obelics_pipeline.stages.fetch.stage import ledger_of_results
from tests.stages.fetch.site import Site, answer, config, fetch, in_turn, picture, raw, redirect, reset, slow


def test_the_original_bytes_are_kept_under_their_hash(tmp_path: Path) -> None:
    image = picture("PNG", (40, 30))
    with Site({"/a": answer(200, image, Content_Type="text/html")}) as site:
        result = fetch(site, tmp_path, "/a")["/a"]
        sha256 = hashlib.sha256(image).hexdigest()
        look = phash_of(Image.open(io.BytesIO(image)))
        assert result == FetchResult(site.url("/a"), "ok", None, False, sha256, len(image), "png", 40, 30, look)
        assert ImageStore(tmp_path / "store").read(sha256) == image
        assert site.log[-1].headers["user-agent"] == config(site).user_agent


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (answer(404), "http_404"),
        (answer(410), "http_410"),
        (answer(500), "http_500"),
        (answer(200, b""), "empty_body"),
        (answer(200, b"<html>", Content_Type="image/jpeg"), "html"),
        (answer(200, picture()[:400]), "truncated_image"),
        (answer(200, bytes(5000)), "not_an_image"),
        (answer(200, picture("PNG", (300, 300))), "too_many_pixels"),
        (answer(200, bytes(200_000)), "too_large"),
        (raw(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(200_000)), "too_large"),
        (answer(200, picture(), Content_Length="5000"), "incomplete_body"),
        (answer(200, picture(), Content_Encoding="br"), "bad_content_encoding"),
        (answer(200, picture(), Content_Encoding="gzip"), "bad_content_encoding"),
        (answer(200, picture(), X_Robots_Tag="noai"), "noai_header"),
        (answer(200, picture(), X_Robots_Tag="otherbot: noai"), None),
        (raw(b"HTTP/1.1 200 OK\r\nX-Robots-Tag: noarchive\r\nX-Robots-Tag: noindex\r\n\r\n"), "noindex_header"),
        (raw(b"garbage\r\n\r\n"), "not_http"),
        (raw(b""), "reset"),
        (reset, "reset"),
        (slow(3, answer(200, picture())), "timeout"),
        (redirect("/loop"), "too_many_redirects"),
        (redirect("/bad-redirect"), "bad_redirect"),
        (redirect("javascript:alert(1)"), "bad_redirect"),
        (redirect("file:///etc/passwd"), "bad_redirect"),
        (redirect("/good"), None),
        (redirect("/1"), None),
    ],
)
def test_every_outcome_has_its_reason(tmp_path: Path, behaviour: object, reason: str | None) -> None:
    pages = {
        "/a": behaviour, "/loop": redirect("/loop"), "/bad-redirect": redirect(""), "/good": answer(200, picture()),
        "/1": redirect("/2", 301), "/2": redirect("/3", 307), "/3": redirect("/good", 308),
    }  # fmt: skip
    with Site(pages) as site:  # type: ignore[arg-type]
        result = fetch(site, tmp_path, "/a", timeout_seconds=1.0, max_bytes=100_000, max_pixels=80_000)["/a"]
    assert result.reason == reason
    assert (result.status == "ok") == (reason is None)
    kept = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert len(kept) == (reason is None)


def test_as_many_redirects_are_followed_as_the_config_says(tmp_path: Path) -> None:
    pages = {f"/{n}": redirect(f"/{n + 1}") for n in range(9)} | {"/9": answer(200, picture())}
    with Site(pages) as site:
        results = fetch(site, tmp_path, "/6", "/5", max_redirects=3)
        assert {path: result.reason for path, result in results.items()} == {"/6": None, "/5": "too_many_redirects"}
        assert fetch(site, tmp_path / "none", "/9", "/8", max_redirects=0)["/8"].reason == "too_many_redirects"


def test_an_opted_out_body_is_not_even_read(tmp_path: Path) -> None:
    import threading

    read_on = threading.Event()

    def behave(sock: object, request: object) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\nContent-Length: 50000000\r\n\r\n")  # type: ignore[attr-defined]
        try:
            for _ in range(5000):
                sock.sendall(bytes(10_000))  # type: ignore[attr-defined]
            read_on.set()
        except OSError:
            pass

    with Site({"/a": behave}) as site:
        assert fetch(site, tmp_path, "/a", max_bytes=60_000_000)["/a"].reason == "noai_header"
    assert not read_on.is_set()


def test_bad_urls_are_rows_like_any_other(tmp_path: Path) -> None:
    urls = ["", "x", "file:///etc/passwd", "http://127.0.0.2/a", "http://a b/"]
    with Site() as site:
        results = fetch_bucket(urls, config(site), ImageStore(tmp_path), {}, tmp_path / "j")
    assert [result.url for result in results] == sorted(urls)
    assert {result.url: result.reason for result in results} == dict.fromkeys(urls, "bad_url") | {
        "http://127.0.0.2/a": "private_address"
    }


def test_a_redirect_to_a_place_that_is_not_allowed_is_refused(tmp_path: Path) -> None:
    with Site(fallback=answer(200, picture())) as secret:
        places = [
            secret.url("/x"),
            secret.url("/x").replace("127.0.0.1", "localhost"),
            f"http://0x7f.1:{secret.port}/x",
        ]
        pages = {f"/{n}": redirect(place) for n, place in enumerate(places)}
        with Site(pages) as site:
            results = fetch(site, tmp_path, *pages)
        assert {result.reason for result in results.values()} == {"private_address"}
        assert secret.log == []


def test_a_redirect_to_a_forbidden_port_costs_the_image_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"http://h.example/a": redirect("http://h.example:6379/x")}, fallback=answer(200, picture())) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        urls = ["http://h.example/a", "http://h.example:25/b", "http://h.example:8080/c"]
        results = fetch_bucket(urls, config(proxy, robots_txt=False), ImageStore(tmp_path), {}, tmp_path / "j")
        counted = ledger_of_results(results)
        asked = {request.path for request in proxy.log}
        settings = config(proxy, robots_txt=True)
        with_robots = fetch_bucket(urls[1:2], settings, ImageStore(tmp_path), {}, tmp_path / "j2")
    assert [(r.status, r.reason, r.retryable) for r in results[:2]] == [("dropped", "forbidden_port", False)] * 2
    assert (counted.entered, counted.kept, counted.dropped) == (3, 1, {"forbidden_port": 2})
    assert with_robots == results[1:2]
    assert asked == {"http://h.example/a", "http://h.example:8080/c"}


def test_a_url_is_fetched_once_whatever_its_spelling_and_number(tmp_path: Path) -> None:
    with Site({"/a": answer(200, picture())}) as site:
        urls = [site.url("/a"), site.url("/a"), site.url("/a#x"), site.url("/a").replace("http:", "HTTP:")]
        results = fetch_bucket(urls, config(site), ImageStore(tmp_path), {}, tmp_path / "j")
        assert [result.status for result in results] == ["ok"] * 3
        assert [result.url for result in results] == sorted(set(urls))
        assert site.asked("/a") == 1


def test_a_failure_that_may_pass_is_tried_again_and_no_other(tmp_path: Path) -> None:
    good = answer(200, picture())
    pages = {
        "/500": in_turn(answer(500), good), "/reset": in_turn(reset, good),
        "/twice": in_turn(answer(500), answer(500), good),
        "/404": in_turn(answer(404), good), "/noai": in_turn(answer(200, b"", X_Robots_Tag="noai"), good),
    }  # fmt: skip
    with Site(pages) as site:
        results = fetch(site, tmp_path, *pages, retries=1)
    reasons = {path: result.reason for path, result in results.items()}
    assert reasons == {"/500": None, "/reset": None, "/twice": "http_500", "/404": "http_404", "/noai": "noai_header"}


def test_a_host_that_is_down_is_given_up_and_the_rest_can_be_retried(tmp_path: Path) -> None:
    with Site() as site:
        settings = config(site, max_host_failures=3, robots_txt=False, per_host=1)
        urls = [site.url(f"/{n}") for n in range(20)]
    results = fetch_bucket(urls, settings, ImageStore(tmp_path), {}, tmp_path / "j")
    assert sorted(result.reason or "" for result in results) == ["host_down"] * 17 + ["refused"] * 3
    assert all(result.retryable for result in results)


def test_the_results_are_the_same_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    def run(name: str, threads: int) -> list[FetchResult]:
        return fetch_bucket(urls, config(site, threads=threads, per_host=8), ImageStore(tmp_path), {}, tmp_path / name)

    pages = {f"/{n}": slow(0.002 * (n % 5), answer(200, picture("PNG", (n + 1, 5)))) for n in range(30)}
    with Site(pages) as site:
        urls = [site.url(f"/{n}") for n in range(35)]
        assert run("a", 1) == run("b", 16)


def test_what_is_known_is_not_fetched_again(tmp_path: Path) -> None:
    with Site({"/a": answer(200, picture()), "/b": answer(404)}) as site:
        first = fetch(site, tmp_path, "/a", "/b")
        previous = {result.url: result for result in first.values()}
        asked = len(site.log)
        store = ImageStore(tmp_path / "store")
        urls = [site.url("/a"), site.url("/b")]
        assert fetch_bucket(urls, config(site), store, previous, tmp_path / "j2") == list(previous.values())
        assert len(site.log) == asked
        store.path(first["/a"].sha256 or "").unlink()
        assert fetch_bucket(urls, config(site), store, previous, tmp_path / "j3") == list(previous.values())
        assert site.asked("/a") == 2
        assert site.asked("/b") == 1


KILLED = """
import sys
from pathlib import Path
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.phash import phash_of
folder, threads, ports, n = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(), int(sys.argv[4])
config = FetchingConfig(allow_private=[f"127.0.0.1:{port}" for port in ports], threads=threads, per_host=threads)
urls = [f"http://127.0.0.1:{port}/{i}" for port in ports for i in range(n)]
fetch_bucket(urls, config, ImageStore(folder / "store"), {}, folder / "journal")
"""


def test_a_unit_killed_half_way_goes_on_where_it_was(tmp_path: Path) -> None:
    image, count = picture(), [0]

    def behave(sock: object, request: object) -> None:
        count[0] += 1
        if count[0] == 30:
            process.send_signal(signal.SIGKILL)
        answer(200, image)(sock, request)  # type: ignore[arg-type]

    with Site({"/robots.txt": answer(404)}, fallback=behave) as site:
        command = [sys.executable, "-c", KILLED, str(tmp_path), "4", str(site.port), "60"]
        process = subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=os.getcwd()))
        assert process.wait(120) == -signal.SIGKILL
        before = (tmp_path / "journal").read_bytes().count(b'"url"')
        assert 20 <= before < 60
        site.log.clear()
        urls = [site.url(f"/{n}") for n in range(60)]
        results = fetch_bucket(urls, config(site), ImageStore(tmp_path / "store"), {}, tmp_path / "journal")
        assert [result.status for result in results] == ["ok"] * 60
        late = 1 + 4  # one line may be torn, and a request of each thread noted after its process was killed
        assert sum(request.path != "/robots.txt" for request in site.log) <= 60 - before + late


def test_a_unit_killed_half_way_knows_what_all_origins_said(tmp_path: Path) -> None:
    image, images = picture(), [0]

    def behave(sock: object, request: object) -> None:
        images[0] += 1
        if images[0] == 8:  # one origin has given all of its five, and is not asked again
            process.send_signal(signal.SIGKILL)
        answer(200, image)(sock, request)  # type: ignore[arg-type]

    rules = answer(200, b"User-agent: *\nDisallow: /private/")
    with Site({"/robots.txt": rules}, fallback=behave) as one, Site({"/robots.txt": answer(404)}, behave) as other:
        ports = f"{one.port} {other.port}"
        command = [sys.executable, "-c", KILLED, str(tmp_path), "1", ports, "5"]
        process = subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=os.getcwd()))
        assert process.wait(120) == -signal.SIGKILL
        urls = [site.url(f"/{n}") for site in (one, other) for n in range(5)]
        settings = config(one, allow_private=["127.0.0.1/32"])
        fetch_bucket(urls, settings, ImageStore(tmp_path / "store"), {}, tmp_path / "journal")
        assert sorted(site.asked("/robots.txt") for site in (one, other)) == [1, 2]
        fetch_bucket(urls, settings, ImageStore(tmp_path / "other"), {}, tmp_path / "undisturbed")
        found, wanted = (
            observation_table(Journal(tmp_path / name).observations()) for name in ("journal", "undisturbed")
        )
        assert found == wanted
        assert dict(zip(found["origin"].to_pylist(), found["robots_txt"].to_pylist(), strict=True)) == {
            one.url("/"): "rules",
            other.url("/"): "none",
        }


def test_a_full_disk_is_raised_and_the_unit_can_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, puts = ImageStore.put, [0]

    def put(self: ImageStore, content: bytes) -> str:
        puts[0] += 1
        if puts[0] > 5:
            raise OSError(28, "No space left on device")
        return real(self, content)

    pages = {f"/{n}": answer(200, picture("PNG", (n + 1, 5))) for n in range(20)}
    with Site(pages) as site:
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(ImageStore, "put", put)
            fetch(site, tmp_path, *pages)
        noted = (tmp_path / "journal").read_bytes().count(b'"url"')
        assert noted == 5
        site.log.clear()
        assert all(result.status == "ok" for result in fetch(site, tmp_path, *pages).values())
        assert len(site.log) == 1 + 20 - noted


def test_reencoded_images_are_what_is_stored(tmp_path: Path) -> None:
    with Site({"/a": answer(200, picture("PNG", (40, 20)))}) as site:
        result = fetch(site, tmp_path, "/a", reencode="webp", reencode_size=10)["/a"]
    content = ImageStore(tmp_path / "store").read(result.sha256 or "")
    assert (result.format, result.width, result.height, result.n_bytes) == ("webp", 10, 5, len(content))
    assert content[8:12] == b"WEBP"
