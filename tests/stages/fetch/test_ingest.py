"""What is listed is never stored and always reported, what says where goes, and changed rules need no request."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.core.config import FetchingConfig, ImageSafetyConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.result import FetchResult
from tests.policy.image_safety import hooks, photos
from tests.policy.image_safety.test_faces import with_face
from tests.policy.image_safety.test_pdq import busy, hashed
from tests.stages.fetch.site import Site, answer, config, redirect


def safety(folder: Path, *lists: dict[str, Any], **more: Any) -> ImageSafetyConfig:
    values: dict[str, Any] = {"known_abuse": {"lists": lists, "cache": str(folder / "cache")}}
    if lists:
        values["report"] = {"file": str(folder / "report.jsonl")}
    return ImageSafetyConfig.model_validate(values | more)


def of_bytes(folder: Path, *contents: bytes) -> dict[str, Any]:
    path = folder / "list.txt"
    path.write_text("".join(hashlib.sha256(content).hexdigest() + "\n" for content in contents))
    return {"path": str(path), "kind": "sha256"}


def of_looks(folder: Path, *contents: bytes) -> dict[str, Any]:
    path = folder / "looks.txt"
    path.write_text("".join(hashed(content).hex() + "\n" for content in contents))
    return {"path": str(path), "kind": "pdq"}


def fetched(
    site: Site, folder: Path, rules: ImageSafetyConfig, *paths: str, again: dict[str, FetchResult] | None = None
) -> dict[str, FetchResult]:
    urls = {site.url(path): path for path in paths}
    store = ImageStore(folder / "store")
    ingest = Ingest(config(site), rules, store)
    previous = {site.url(path): result for path, result in (again or {}).items()}
    results = fetch_bucket(list(urls), config(site), store, previous, folder / "journal", ingest, set(previous))
    return {urls[result.url]: result for result in results}


def stored(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((folder / "store").glob("*/*"))]


def told(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]


def everything_written(folder: Path, without: str = "report.jsonl") -> bytes:
    left = [p for p in folder.rglob("*") if p.is_file() and p.name not in (without, "list.txt", "looks.txt")]
    return b"".join(p.read_bytes() for p in left if "cache" not in p.parts)


def test_listed_bytes_are_reported_and_nothing_of_them_is_kept(tmp_path: Path) -> None:
    bad, good = photos.jpeg(), photos.saved("JPEG", photos.picture(5))
    with Site({"/bad.jpg": answer(body=bad), "/good.jpg": answer(body=good), "/to-bad": redirect("/bad.jpg")}) as site:
        found = fetched(site, tmp_path, safety(tmp_path, of_bytes(tmp_path, bad)), "/bad.jpg", "/good.jpg", "/to-bad")
        assert (found["/bad.jpg"].status, found["/bad.jpg"].reason) == ("dropped", "known_abuse")
        assert found["/bad.jpg"] == FetchResult.without_image(site.url("/bad.jpg"), "known_abuse")
        assert found["/good.jpg"].status == "ok"
        assert stored(tmp_path) == [good]
        reports = {report["url"]: report for report in told(tmp_path)}
        assert set(reports) == {site.url("/bad.jpg"), site.url("/to-bad")}
        assert reports[site.url("/to-bad")]["came_from"] == site.url("/bad.jpg")
        assert reports[site.url("/bad.jpg")]["sha256"] == hashlib.sha256(bad).hexdigest()
        written = everything_written(tmp_path)
        assert hashlib.sha256(bad).hexdigest().encode() not in written and bad[100:200] not in written
        asked = len(site.log)
        again = fetched(site, tmp_path, safety(tmp_path, of_bytes(tmp_path, bad)), "/bad.jpg", "/good.jpg", "/to-bad")
        assert again == found and len(site.log) == asked  # nothing is asked for again, nothing reported twice
        assert len(told(tmp_path)) == 2


def test_copies_of_a_listed_picture_are_found_and_other_pictures_stay(tmp_path: Path) -> None:
    image = busy(1)
    copies = {
        "/small.jpg": photos.saved("JPEG", image.resize((450, 350)), quality=50),
        "/other.webp": photos.saved("WEBP", image, quality=70),
    }
    others = {f"/{n}.png": photos.saved("PNG", busy(n)) for n in range(2, 6)}
    others["/plain.png"] = photos.saved("PNG", Image.new("RGB", (300, 300), "red"))
    rules = safety(tmp_path, of_looks(tmp_path, photos.saved("PNG", image)))
    with Site({path: answer(body=body) for path, body in (copies | others).items()}) as site:
        found = fetched(site, tmp_path, rules, *copies, *others)
    assert {path for path, result in found.items() if result.reason == "known_abuse"} == set(copies)
    assert all(found[path].status == "ok" for path in others)
    assert {report["kind"] for report in told(tmp_path)} == {"pdq"}
    assert all(0 <= report["distance"] <= 31 and report["list"] == "looks.txt" for report in told(tmp_path))
    assert len(stored(tmp_path)) == len(others)


def test_where_a_match_cannot_be_reported_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = photos.jpeg()
    rules = safety(tmp_path, of_bytes(tmp_path, bad), report={"hook": "tests.policy.image_safety.hooks:remember"})
    hooks.told.clear()
    monkeypatch.setitem(hooks.BROKEN, "now", True)
    with Site({"/bad.jpg": answer(body=bad)}) as site:
        with pytest.raises(UserError, match="could not be reported"):
            fetched(site, tmp_path, rules, "/bad.jpg")
        assert stored(tmp_path) == [] and b"known_abuse" not in everything_written(tmp_path)
        monkeypatch.setitem(hooks.BROKEN, "now", False)
        assert fetched(site, tmp_path, rules, "/bad.jpg")["/bad.jpg"].reason == "known_abuse"
    assert [event["url"] for event in hooks.told] == [site.url("/bad.jpg")]


def test_what_is_stored_has_no_location_and_is_what_its_hash_says(tmp_path: Path) -> None:
    bodies = {
        "/a.jpg": photos.jpeg(),
        "/b.png": photos.png(),
        "/c.webp": photos.webp(),
        "/d.jpg": photos.jpeg(location=False),
    }
    with Site({path: answer(body=body) for path, body in bodies.items()}) as site:
        found = fetched(site, tmp_path, safety(tmp_path, metadata="strip_location"), *bodies)
    store = ImageStore(tmp_path / "store")
    for path, result in found.items():
        content = store.read(result.sha256 or "")
        assert (result.status, result.n_bytes) == ("ok", len(content))
        assert not any(secret in content for secret in photos.SECRETS)
        came = hashlib.sha256(bodies[path]).hexdigest()
        assert result.received_sha256 == (None if path == "/d.jpg" else came)
    assert found["/d.jpg"].sha256 == hashlib.sha256(bodies["/d.jpg"]).hexdigest()


def test_rules_that_came_later_need_no_request(tmp_path: Path) -> None:
    body, bad = photos.jpeg(), photos.saved("JPEG", photos.picture(9), exif=photos.exif())
    with Site({"/a.jpg": answer(body=body), "/bad.jpg": answer(body=bad)}) as site:
        before = fetched(site, tmp_path, safety(tmp_path), "/a.jpg", "/bad.jpg")
        (tmp_path / "journal").unlink()
        asked = len(site.log)
        stripped = fetched(
            site, tmp_path, safety(tmp_path, metadata="strip_location"), "/a.jpg", "/bad.jpg", again=before
        )
        (tmp_path / "journal").unlink()
        assert stripped["/a.jpg"].received_sha256 == before["/a.jpg"].sha256 != stripped["/a.jpg"].sha256
        rules = safety(tmp_path, of_bytes(tmp_path, bad), metadata="strip_location")
        listed = fetched(site, tmp_path, rules, "/a.jpg", "/bad.jpg", again=stripped)
        assert len(site.log) == asked
    assert listed["/a.jpg"] == stripped["/a.jpg"]
    assert listed["/bad.jpg"].reason == "known_abuse"  # by the hash of what came, which is not what was stored
    assert not ImageStore(tmp_path / "store").has(stripped["/bad.jpg"].sha256 or "")


def test_faces_are_blurred_before_anything_is_stored(tmp_path: Path) -> None:
    bodies = {
        "/face.jpg": with_face(),
        "/red.png": photos.saved("PNG", Image.new("RGB", (200, 200), "red")),
        "/none.png": photos.saved("PNG", Image.new("RGB", (200, 200), "blue")),
    }
    with Site({path: answer(body=body) for path, body in bodies.items()}) as site:
        found = fetched(site, tmp_path, safety(tmp_path, faces="tests.policy.image_safety.hooks:red_faces"), *bodies)
        assert (found["/red.png"].status, found["/red.png"].reason) == ("dropped", "faces")
        assert found["/none.png"].received_sha256 is None
        assert found["/face.jpg"].received_sha256 == hashlib.sha256(bodies["/face.jpg"]).hexdigest()
        assert bodies["/face.jpg"] not in stored(tmp_path)
        failing = fetched(
            site, tmp_path / "other", safety(tmp_path, faces="tests.policy.image_safety.hooks:fails"), "/none.png"
        )
        assert (failing["/none.png"].status, failing["/none.png"].reason) == ("failed", "faces_failed")


def test_a_picture_whose_parts_cannot_be_told_is_not_kept(tmp_path: Path) -> None:
    tiff = photos.saved("TIFF", exif=photos.exif())
    store = ImageStore(tmp_path / "store")
    settings = FetchingConfig()
    assert Ingest(settings, ImageSafetyConfig(), store).keep(tiff, ["u"], "u").format == "tiff"
    with pytest.raises(Exception, match="metadata_unreadable"):
        Ingest(settings, ImageSafetyConfig(metadata="strip_location"), ImageStore(tmp_path / "o")).keep(
            tiff, ["u"], "u"
        )
    assert not (tmp_path / "o").exists()


def test_near_misses_stay_byte_for_byte(tmp_path: Path) -> None:
    """Pictures that are on no list, though one like them is."""
    listed = busy(1)
    of = safety(tmp_path, of_looks(tmp_path, photos.saved("PNG", listed)), of_bytes(tmp_path, b"other bytes"))
    store = ImageStore(tmp_path / "store")
    ingest = Ingest(FetchingConfig(), of, store)
    pixels = np.asarray(listed).copy()
    pixels[:, : pixels.shape[1] // 2] = np.asarray(busy(50))[:, : pixels.shape[1] // 2]
    for near in (photos.saved("PNG", Image.fromarray(pixels)), photos.saved("PNG", listed.crop((0, 0, 300, 300)))):
        assert store.read(ingest.keep(near, ["u"], "u").sha256 or "") == near
