"""Folders of images that people have: each is told apart by what lies in it, and gives the image of a URL."""

from pathlib import Path

import pyarrow as pa
import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.score_rows.fetched_images import name_of
from obelics_pipeline.jobs.score_rows.image_folder import images_of
from obelics_pipeline.models.pictures.sources import ImageSource
from tests.stages.fetch.site import Site, answer, in_turn, picture
from tests.stages.fetch.site import config as site_config
from tests.stages.fetch.test_stage import Stage, extracted

RED, BLUE = picture("PNG"), picture("PNG", colour="blue")


def found(source: ImageSource, *urls: str) -> list[bytes | None]:
    return [source(ImageNode(url, url)) for url in urls]


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    return tmp_path / "beside"


def test_files_are_found_by_the_sha256_of_their_url(tmp_path: Path, beside: Path) -> None:
    (tmp_path / "pictures").mkdir()
    urls = ["http://x.example/é", "http://x.example/\ud800", "http://x.example/none"]
    for url, content in zip(urls, (RED, BLUE), strict=False):
        (tmp_path / "pictures" / name_of(url)).write_bytes(content)
    with images_of(tmp_path / "pictures", beside) as source:
        assert found(source, *urls) == [RED, BLUE, None]
    assert not beside.exists()


def test_the_images_of_a_run_are_those_that_its_config_gave_it_last(
    tmp_path: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("http_proxy", raising=False)
    pages = {
        "/a": answer(200, RED), "/b": in_turn(answer(503), answer(200, BLUE)), "/gone": answer(404),
        "/x": in_turn(answer(200, RED), answer(404)),
    }  # fmt: skip
    with Site(pages) as site:
        urls = [site.url(path) for path in pages]
        old = Stage(tmp_path, [extracted(tmp_path, "u", urls)], site_config(site, buckets=3, max_bytes=10**6))
        old.fetch()
        new = Stage(tmp_path, old.units, site_config(site, buckets=3))
        new.fetch()
        new.fetch(retry=("retryable",))
    (tmp_path / "config.yaml").write_text(dump_config(RunConfig(fetch=new.config)))
    with images_of(tmp_path / "images", beside) as source:
        assert found(source, *urls) == [RED, BLUE, None, None]
        assert len(list(beside.iterdir())) == 1
    assert list(beside.iterdir()) == []


def test_images_of_img2dataset_are_found_by_their_url(tmp_path: Path, beside: Path) -> None:
    writer = pytest.importorskip("img2dataset.writer")
    folder, urls = tmp_path / "downloaded", [f"http://x.example/{i}.jpg" for i in range(4)]
    folder.mkdir()
    schema = pa.schema([(name, pa.string()) for name in ("url", "key", "status", "error_message")])
    for shard in (0, 1):
        files = writer.FilesSampleWriter(shard, str(folder), True, 5, schema, "png")
        for number in (0, 1):
            content = (RED, None, BLUE, None)[2 * shard + number]
            meta = {"url": urls[2 * shard + number], "key": f"0000{shard}000{number}", "error_message": None}
            files.write(content, meta["key"], "a caption", meta | {"status": "success" if content else "failed"})
        files.close()
    with images_of(folder, beside) as source:
        assert found(source, *urls) == [RED, None, BLUE, None]


def test_a_folder_of_something_else_is_refused(tmp_path: Path, beside: Path) -> None:
    (tmp_path / "tars").mkdir()
    (tmp_path / "tars" / "00000.tar").touch()
    for folder, said in {
        "gone": "no such folder; valid are fetch, none and a folder",
        "tars": r"no images by URL \(of img2dataset, output_format=files alone is read\); valid are files named by",
    }.items():
        with pytest.raises(UserError, match=said), images_of(tmp_path / folder, beside):
            pass
    (tmp_path / "shards" / "00000").mkdir(parents=True)
    (tmp_path / "shards" / "00000.parquet").write_bytes(b"PAR1")
    with (
        pytest.raises(UserError, match=r"00000\.parquet is no table of img2dataset"),
        images_of(tmp_path / "shards", beside),
    ):
        pass
