"""A whole run over planted images: each kind leaves by its own reason, near misses stay, nothing is asked for twice."""

import hashlib
import json
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.main_job import run
from tests.models.unsafe_images.drawings import NEAR, bullseye, encoded, near_miss
from tests.policy.image_safety import photos
from tests.policy.image_safety.test_pdq import busy, hashed
from tests.stages.fetch.site import Site, answer

pytest.importorskip("onnxruntime")

BULLSEYE = Path(__file__).parents[2] / "models" / "unsafe_images" / "bullseye.onnx"
DATE = "2031-05-04T06:00:00Z"
BASE = [
    "language.min_score=0",
    "filters.document={image_count: {min: 1}}",
    "dedup.enabled=false",
    "fetch.buckets=2",
    "image_safety.metadata=strip_location",
]
LISTED = photos.saved("JPEG", busy(1))  # known abuse material, in this story
MIDDLE = LISTED[len(LISTED) // 2 :][:60]
PLANTED = {
    **{f"unsafe-{n}.jpg": encoded(bullseye(240, n)) for n in range(8)},
    "listed-0.jpg": LISTED,
    "listed-1.webp": photos.saved("WEBP", busy(1).resize((500, 400)), quality=80),
    **{f"located-{n}.jpg": photos.saved("JPEG", photos.picture(n, (240, 200)), exif=photos.exif()) for n in range(4)},
    **{f"near-{n}.png": encoded(near_miss(NEAR[n % 8], 240, n), "PNG") for n in range(16)},
    **{f"other-{n}.png": photos.saved("PNG", busy(n, (300, 200))) for n in range(2, 6)},
}


def record(url: str, body: str) -> bytes:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body.encode()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {DATE}\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
    return head.encode() + answer + b"\r\n\r\n"


def page(site: Site, names: Sequence[str]) -> str:
    images = "".join(f'<p>{WORDS} {name}.</p><img src="{site.url(f"/{name}")}">' for name in names)
    return f"<html><body><article><h1>A page about {names[0]}</h1>{images}<p>{WORDS}</p></article></body></html>"


WORDS = (
    "This is a long enough sentence that says what can be seen in the picture that stands behind it here, and no more"
)


def done(folder: Path, site: Site, sets: Sequence[str] = (), expect: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = list(PLANTED)
    groups = [names[at : at + 2] for at in range(0, len(names), 2)]
    pages = [record(f"https://pages.example/{n}", page(site, group)) for n, group in enumerate(groups)]
    warc = folder / "in.warc"
    if not warc.exists():
        warc.write_bytes(b"".join(pages))
    allowed = f'fetch.allow_private=["127.0.0.1:{site.port}"]'
    assert run("default", [str(warc)], str(folder / "out"), 1, [*BASE, allowed, *sets], yes=True) == expect
    return folder / "out"


def classifier(maximum: float = 0.7, **more: Any) -> str:
    values = {"model": str(BULLSEYE), "labels": ["safe", "unsafe"], "device": "cpu", "max": maximum, **more}
    return f"image_safety.classifier={json.dumps(values)}"


def lists(folder: Path) -> list[str]:
    (folder / "looks.txt").write_text(hashed(LISTED).hex() + "\n")
    named = {"lists": [{"path": str(folder / "looks.txt"), "kind": "pdq"}], "cache": str(folder / "cache")}
    return [f"image_safety.known_abuse={json.dumps(named)}", f"image_safety.report.file={folder / 'report.jsonl'}"]


def ledger(output: Path, noun: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "manifest.json").read_text())["ledgers"][noun]
    return found


def in_shards(output: Path) -> dict[str, bytes]:
    """Image files by the name that the site had for them."""
    found = {}
    for path in sorted((output / "shards").glob("*.tar")):
        with tarfile.open(path) as tar:
            members = {m.name: tar.extractfile(m).read() for m in tar}  # type: ignore[union-attr]
        for name, data in members.items():
            if name.endswith(".json"):
                document = json.loads(data)
                for url, file in zip(document["images"], document["files"], strict=True):
                    if file is not None:
                        found[url.rpartition("/")[2]] = members[f"{document['doc_id']}.{file}"]
    return found


def everything(output: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file of the run's folder, and every string of its tables."""
    for path in sorted(p for p in output.rglob("*") if p.is_file()):
        yield path, path.read_bytes()
        if path.suffix == ".parquet":
            yield path, json.dumps(pq.read_table(path).to_pylist(), default=str).encode()


def test_each_kind_leaves_and_what_is_near_stays(tmp_path: Path) -> None:
    tmp_path.joinpath("run").mkdir()
    with Site({f"/{name}": answer(body=body) for name, body in PLANTED.items()}) as site:
        sets = [classifier(), *lists(tmp_path)]
        output = done(tmp_path / "run", site, sets)
        asked = len(site.log)
        left = in_shards(output)
        gone = {name for name in PLANTED if name.startswith(("unsafe", "listed"))}
        assert set(left) == set(PLANTED) - gone
        images = ledger(output, "images")
        assert images["dropped"]["unsafe_image"] == 8 and images["dropped"]["known_abuse"] == 2
        assert images["in"] == len(PLANTED) == images["kept"] + sum(images["dropped"].values())
        assert ledger(output, "documents")["dropped"] == {"image_count": 5}
        for name, content in left.items():
            if name.startswith("located"):
                assert not any(secret in content for secret in photos.SECRETS)
            else:
                assert content == PLANTED[name]

        told = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
        assert {report["url"].rpartition("/")[2] for report in told} == {"listed-0.jpg", "listed-1.webp"}
        assert told[0]["documents"][0]["url"] == "https://pages.example/4"
        assert told[0]["documents"][0]["warc_filename"].endswith("in.warc")
        traces = [hashlib.sha256(LISTED).hexdigest().encode(), MIDDLE, hashed(LISTED).hex().encode()]
        assert [path for path, data in everything(output) if any(trace in data for trace in traces)] == []

        before = {path: path.read_bytes() for path in (output / "scores").glob("*.parquet")}
        done(tmp_path / "run", site, [classifier(per="document"), *lists(tmp_path)])
        assert ledger(output, "documents")["dropped"] == {"image_count": 1, "unsafe_images": 4}
        assert {path: path.read_bytes() for path in (output / "scores").glob("*.parquet")} == before
        assert len(site.log) == asked
        with pytest.raises(UserError, match="in the run's folder"):
            done(tmp_path / "run", site, [*lists(tmp_path), f"image_safety.report.file={output / 'r.jsonl'}"])


@pytest.mark.slow
def test_a_list_that_comes_later_takes_images_out_of_store_and_shards(tmp_path: Path) -> None:
    with Site({f"/{name}": answer(body=body) for name, body in PLANTED.items()}) as site:
        output = done(tmp_path / "run", site)
        assert "listed-0.jpg" in in_shards(output)
        asked = len(site.log)
        done(tmp_path / "run", site, lists(tmp_path))
        assert len(site.log) == asked
        assert not any(name.startswith("listed") for name in in_shards(output))
        traces = [hashlib.sha256(LISTED).hexdigest().encode(), MIDDLE]
        assert [path for path, data in everything(output) if any(trace in data for trace in traces)] == []


def test_what_a_classifier_cannot_tell_fails_and_is_counted_in_the_run(tmp_path: Path) -> None:
    bodies = {f"{shade}-{n}.png": photos.saved("PNG", Image.new("RGB", (200, 200), (shade + n,) * 3))
              for shade in (20, 120) for n in range(4)}  # fmt: skip
    blind = classifier(
        model=str(BULLSEYE.with_name("night_blind.onnx")), labels=["unsafe"], output="probabilities", mean=[0] * 3,
        std=[1] * 3,
    )  # fmt: skip
    with Site({f"/{name}": answer(body=body) for name, body in bodies.items()}) as site:
        pairs = [("20-0", "120-0"), ("20-1", "20-2"), ("120-1", "120-2"), ("20-3", "120-3")]
        pages = [page(site, [f"{name}.png" for name in pair]) for pair in pairs]
        made = [record(f"https://pages.example/{n}", body) for n, body in enumerate(pages)]
        (tmp_path / "in.warc").write_bytes(b"".join(made))
        sets = [*BASE, blind, f'fetch.allow_private=["127.0.0.1:{site.port}"]']
        assert run("default", [str(tmp_path / "in.warc")], str(tmp_path / "out"), 1, sets) == 0
    assert set(in_shards(tmp_path / "out")) == {name for name in bodies if name.startswith("120")}
    assert ledger(tmp_path / "out", "images") == {"in": 8, "kept": 4, "dropped": {}, "failed": {"unclassified": 4}}
    assert ledger(tmp_path / "out", "documents")["dropped"] == {"image_count": 1}
