"""An image that a source has is judged as a fetched one is, and its host is asked only where it is not taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import ImageSafetyConfig
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.journal import Journal
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.sources.held import HeldImages, told_of
from tests.stages.fetch.site import Site, answer, config, picture
from tests.stages.fetch.sources.made import Image, image, index, write

RED, BLUE = picture(), picture(colour="blue")


def take(
    site: Site, folder: Path, held: HeldImages, *paths: str, ingest: Any = None, **changes: Any
) -> dict[str, FetchResult]:
    """The results of some paths, by path; the log of the site has what was asked for."""
    urls = {site.url(path): path for path in paths}
    settings, store = config(site, robots_txt=False, **changes), ImageStore(folder / "store")
    judge = ingest or Ingest(settings, ImageSafetyConfig(), store)
    results = fetch_bucket(list(urls), settings, store, {}, folder / "journal", judge, (), None, held.take)
    return {urls[result.url]: result for result in results}


def held_of(folder: Path, images: list[Image], accept: str = "same_size", format: str = "webdataset") -> HeldImages:
    sources, _ = index(folder, write(format, folder / "images", images), accept=accept)
    return sources.held(["index.parquet"], [url for url, _, _ in images])


@pytest.mark.parametrize("format", ["webdataset", "parquet", "files"])
def test_what_is_held_is_stored_as_fetched_and_nobody_is_asked_for_it(tmp_path: Path, format: str) -> None:
    with Site({"/c": answer(200, BLUE)}) as site:
        held = held_of(tmp_path, [image(site.url(f"/{name}"), RED) for name in "ba"], format=format)
        results = take(site, tmp_path, held, "/a", "/b", "/c")
        assert [request.path for request in site.log] == ["/c"]
    store = ImageStore(tmp_path / "store")
    assert {path: store.read(r.sha256 or "") for path, r in results.items()} == {"/a": RED, "/b": RED, "/c": BLUE}
    assert [r.source and r.source.rpartition("#")[2][:9] for r in results.values()] == ["000000001", "000000000", None]
    assert told_of(list(results.values()), []) == {"kept": 2, "dropped": {}, "refused": {}}


SIZES = (40, 30, 40, 30)
KINDS: dict[str, tuple[bytes, dict[str, Any]]] = {
    "as it came": (RED, {}),
    "no hash": (RED, {"sha256": None}),
    "wrong hash": (RED, {"sha256": "0" * 64}),
    "encoded anew": (RED, {"sizes": SIZES, "sha256": "0" * 64}),
    "resized": (RED, {"sizes": (40, 30, 80, 60), "sha256": "0" * 64}),
    "damaged": (RED[:-20], {}),
    "a page": (b"<html></html>", {}),
}
REFUSED = {
    "any": {"wrong hash": "wrong_sha256"},
    "same_size": {"wrong hash": "wrong_sha256", "resized": "resized"},
    "original": {
        **{"wrong hash": "wrong_sha256", "resized": "resized", "encoded anew": "not_original"},
        "no hash": "not_original",
    },
}


@pytest.mark.parametrize("accept", REFUSED)
def test_the_config_says_what_is_taken_and_the_host_is_asked_for_the_rest(tmp_path: Path, accept: str) -> None:
    with Site(fallback=answer(200, BLUE)) as site:
        urls = {kind: f"/{n}" for n, kind in enumerate(KINDS)}
        images = [image(site.url(urls[kind]), content, **about) for kind, (content, about) in KINDS.items()]
        results = take(site, tmp_path, held_of(tmp_path, images, accept), *urls.values())
    refused = REFUSED[accept] | {"damaged": "truncated_image", "a page": "html"}
    assert {kind for kind, path in urls.items() if results[path].source is None} == set(refused)
    assert sorted(request.path for request in site.log) == sorted(urls[kind] for kind in refused)
    assert all(result.status == "ok" for result in results.values())
    told = told_of(list(results.values()), Journal(tmp_path / "journal").refused())
    assert told["refused"] == {reason: list(refused.values()).count(reason) for reason in sorted(refused.values())}


def test_where_one_source_is_of_no_use_the_next_one_is_tried(tmp_path: Path) -> None:
    with Site() as site:
        sources, _ = index(
            tmp_path,
            write("webdataset", tmp_path / "bad", [image(site.url("/a"), RED[:-20])]),
            write("files", tmp_path / "good", [image(site.url("/a"), RED)]),
        )
        result = take(site, tmp_path, sources.held(["index.parquet"], [site.url("/a")]), "/a")["/a"]
        assert not site.log
    assert "/good/" in (result.source or "")


def test_what_a_rule_drops_is_final_and_what_is_forgotten_is_neither_read_nor_asked_for(tmp_path: Path) -> None:
    class Gone:
        def url(self, url: str) -> bool:
            return url.endswith("/gone")

        def content(self, content: bytes) -> bool:
            return content == BLUE

    with Site(fallback=answer(200, RED)) as site:
        large = picture("PNG", (300, 300))
        pairs = (("/gone", RED), ("/blue", BLUE), ("/large", large), ("/pixels", picture("PNG", (90, 90))))
        held = held_of(tmp_path, [image(site.url(path), content) for path, content in pairs])
        settings = {"max_bytes": len(large) - 1, "max_pixels": 8000}
        ingest = Ingest(
            config(site, **settings), ImageSafetyConfig(), ImageStore(tmp_path / "store"), forgotten=Gone()  # type: ignore[arg-type]
        )  # fmt: skip
        results = take(site, tmp_path, held, *(path for path, _ in pairs), ingest=ingest, **settings)
        assert not site.log
    reasons = {path: result.reason for path, result in results.items()}
    assert reasons == {
        **{"/gone": "forgotten", "/blue": "forgotten"},
        **{"/large": "too_large", "/pixels": "too_many_pixels"},
    }


def test_a_source_that_changed_since_gives_nothing(tmp_path: Path) -> None:
    with Site(fallback=answer(200, BLUE)) as site:
        for format in ("webdataset", "files", "parquet"):
            held = held_of(tmp_path / format, [image(site.url("/a"), RED)], format=format)
            for path in (tmp_path / format / "images").rglob("*.*"):
                path.write_bytes(b"")
            result = take(site, tmp_path / format, held, "/a")["/a"]
            assert (result.source, result.status) == (None, "ok")
            assert [row["reason"] for row in Journal(tmp_path / format / "journal").refused()] == ["unreadable"]


def test_a_link_among_files_is_not_followed(tmp_path: Path) -> None:
    with Site(fallback=answer(200, BLUE)) as site:
        held = held_of(tmp_path, [image(site.url("/a"), RED)], format="files")
        file = tmp_path / "images" / "00000" / "000000000.jpg"
        file.symlink_to(file.rename(tmp_path / "elsewhere"))
        assert take(site, tmp_path, held, "/a")["/a"].source is None


def test_the_result_of_an_earlier_unit_stands_while_its_source_is_there_as_it_was(tmp_path: Path) -> None:
    url = "http://a.example/a"
    held = held_of(tmp_path / "1", [image(url, RED)])
    (taken,) = (FetchResult(url, "ok", sha256="0" * 64, source=i.source) for i in held.by_url[url])
    assert held.stands(taken)
    nothing = held_of(tmp_path / "2", [image("http://b.example/", RED)])
    assert not nothing.stands(taken)
    folder = write("webdataset", tmp_path / "1" / "images", [image(url, RED, sizes=(40, 30, 80, 60), sha256=None)])
    assert not index(tmp_path / "3", folder)[0].held(["index.parquet"], [url]).stands(taken)
    failed, opted_out = (FetchResult.without_image(url, reason) for reason in ("http_404", "robots_txt"))
    assert (held.stands(failed), nothing.stands(failed), held.stands(opted_out)) == (False, True, True)
