"""What a run asks for is fetched by img2dataset, and comes back as if the run had fetched it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.shards.manifest import read_manifest
from tests.small import SENTENCE, arguments
from tests.stages.fetch.site import Behaviour, Site, answer, picture, redirect
from tests.stages.fetch.sources.made import image, write
from tests.stages.read.warcs import record

PAGES: dict[str, Behaviour] = {
    "/1.png": answer(200, picture("PNG", (300, 200))),
    "/2.webp": answer(200, picture("WEBP", (200, 300), "blue")),
    "/3.jpg": redirect("/1.jpg"),
    "/1.jpg": answer(200, picture("JPEG", (400, 300), "green", quality=50)),
    "/4.jpg": answer(404),
    "/5.jpg": answer(200, picture(size=(300, 300)), X_Robots_Tag="noai"),
    "/6.jpg": answer(200, b"<html></html>"),
    "/logo.png": answer(200, picture("PNG", (300, 200))),
}
SETS = ("reading.unit_bytes=2000", "fetch.buckets=1", "fetch.retries=0", "images.max_per_document=30")


def write_warc(path: Path, site: Site) -> Path:
    """Pages with an image each, and one with two more, among them one that must not be asked for."""
    images = [f'<p><img src="{site.url(name)}" alt="a picture of it" width=300 height=300></p>' for name in PAGES]
    images[0] += f"{images[1]}<p><img src='ftp://a.example/a.jpg' width=300 height=300></p>"
    text = "<html><body><article><h1>The {0}</h1><p>{1}</p>{2}<p>{1}</p></article></body></html>"
    pages = [text.format(n, SENTENCE.format(f"thing {n}"), of) for n, of in enumerate(images)]
    records = [record(page.encode(), f"https://pages.example/{n}") for n, page in enumerate(pages)]
    path.write_bytes(b"".join(records))
    return path


def run(warc: Path, output: Path, site: Site, *sets: str) -> str:
    """Run; the sha256 of each tar."""
    allowed = f"fetch.allow_private=[127.0.0.1:{site.port}]"
    assert main([*arguments([warc], output, *SETS, allowed, *sets), "--yes"]) == 0
    tars = sorted((output / "shards").resolve().glob("*.tar"))
    return " ".join(hashlib.sha256(tar.read_bytes()).hexdigest() for tar in tars)


def exported(run: Path, output: Path) -> list[str]:
    assert main(["export", str(run), "--format", "img2dataset", "--output", str(output), "--workers", "1"]) == 0
    return [url for path in sorted(output.glob("*.parquet")) for url in pq.read_table(path)["url"].to_pylist()]


def test_urls_of_kept_documents_are_exported_once_and_a_run_takes_what_was_made_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(PAGES) as site:
        warc = write_warc(tmp_path / "a.warc", site)
        run(warc, tmp_path / "out", site)
        urls = exported(tmp_path / "out", tmp_path / "urls")
        assert not site.log
        assert urls == sorted(site.url(path) for path in PAGES if "logo" not in path)
        told = capsys.readouterr().out
        assert "wrote 7 URLs in 1 file" in told
        assert "image_banned_word 1" in told
        (tmp_path / "urls" / "other.parquet").write_bytes(b"")
        assert (
            main(["export", str(tmp_path / "out"), "--format", "img2dataset", "--output", str(tmp_path / "urls")]) == 2
        )
        write("webdataset", tmp_path / "held", [image(url, picture(size=(300, 300))) for url in urls[1:]])
        (tmp_path / "held" / "00001.tar").write_bytes(b"cut" * 1000)
        sources = f"fetch.sources=[{tmp_path / 'held'}]"
        run(warc, tmp_path / "out", site, "fetch.enabled=true", "fetch.robots_txt=false", sources)
        assert [request.path for request in site.log] == ["/1.jpg"]
        assert "held/00001.tar: no tar member at byte 0" in capsys.readouterr().out
        notes = read_manifest((tmp_path / "out").resolve()).notes["fetch_sources"]
        assert notes["images"]["kept"] == notes["taken"]["kept"] == 6
        assert (notes["files"], notes["damaged"]) == (2, 1)


@pytest.mark.slow
def test_img2dataset_brings_what_a_run_would_have_fetched(tmp_path: Path) -> None:
    pytest.importorskip("img2dataset.main")
    with Site(PAGES) as site:
        warc = write_warc(tmp_path / "a.warc", site)
        fetched = run(warc, tmp_path / "fetched", site, "fetch.enabled=true")
        run(warc, tmp_path / "out", site)
        exported(tmp_path / "out", tmp_path / "urls")
        command = [
            sys.executable,
            "-m",
            "img2dataset.main",
            "--url_list",
            tmp_path / "urls",
            "--input_format",
            "parquet",
        ]
        command += ["--output_folder", tmp_path / "held", "--output_format", "webdataset"]
        command += ["--disable_all_reencoding", "True", "--extract_exif", "False", "--thread_count", "4"]
        command += ["--user_agent_token", "my-crawler", "--disallowed_header_directives"]
        command += ['["noai", "noimageai", "noindex", "noimageindex"]']
        environment = os.environ | {"NO_ALBUMENTATIONS_UPDATE": "1", "WANDB_MODE": "disabled"}
        subprocess.run(list(map(str, command)), env=environment, capture_output=True, check=True)
        with tarfile.open(tmp_path / "held" / "00000.tar") as tar:
            assert len(tar.getnames()) == 2 * 5  # not: 404, noai
        site.log.clear()
        sources = f"fetch.sources=[{tmp_path}/held/*.tar]"
        again = run(warc, tmp_path / "out", site, "fetch.enabled=true", "fetch.robots_txt=false", sources)
        assert sorted(request.path for request in site.log) == ["/4.jpg", "/5.jpg", "/6.jpg"]
        assert again == fetched
        site.log.clear()
        assert run(warc, tmp_path / "out", site, "fetch.enabled=true", "fetch.robots_txt=false", sources) == fetched
        assert not site.log
