"""A run in a bucket is asked again, and obeys, as one on a disk does; where no run is, one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.core.storage import files_below, read_bytes
from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import objects
from tests.faults.runs import published, published_of
from tests.inspect.consent_again.test_command import page, site  # noqa: F401 - a fixture
from tests.stages.fetch.site import Site, answer, config
from tests.stages.shard.runs import make_run


@pytest.mark.slow
def test_a_bucket_is_asked_and_obeys_as_a_disk_does(
    s3: str,
    site: Site,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = RunConfig(fetch=config(site, buckets=2))
    here, there = tmp_path / "run", new_bucket("asked-again") / "run"
    make_run(here, [page(site, number) for number in range(4)], 2, settings)
    (here / "config.yaml").write_text(dump_config(settings))
    for path in sorted(here.rglob("*")):
        if path.is_file():
            there.fs.put_file(str(path), f"{there.path}/{path.relative_to(here)}")
    site.pages["/robots.txt"] = answer(200, b"User-agent: *\nDisallow: /page-1\nDisallow: /image-4")
    told = []
    for folder in (here, there):
        assert main(["consent", str(folder), "--again", "--yes"]) == 0
        assert main(["consent", str(folder)]) == 0
        told.append(capsys.readouterr().out.replace(str(here), "RUN").replace(str(there), "RUN"))
    beside = ("--urls", "bytes freed")  # urls.txt lies in the folder of the one, and on this machine of the other
    lines = [[line for line in text.splitlines() if not any(word in line for word in beside)] for text in told]
    assert lines[1] == lines[0]
    assert "2 may not be used any more" in told[1]
    assert isinstance(there, UPath)
    assert published_of(objects(there)) == published(here)
    assert [item.row["url"] for item in all_documents(there)] == [site.url(f"/page-{n}") for n in (0, 2, 3)]
    for name in files_below(there):
        assert name.startswith("forgotten/") or b"/page-1" not in read_bytes(there / name), name
    assert main(["validate", str(there)]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["consent", "--again"], ["consent"], ["forget", "--urls", "urls.txt"]])
@pytest.mark.parametrize("bucket", ["there", "not-there"])
def test_where_no_run_is_one_line_says_so(
    s3: str,
    arguments: list[str],
    bucket: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("urls.txt").write_text("http://pages.example/1\n")
    name = f"{bucket}-{len(arguments)}-{arguments[0]}"
    if bucket == "there":
        new_bucket(name)
    command, *others = arguments
    assert main([command, f"s3://{name}/run", *others]) in (2, 3)
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert f"s3://{name}/run" in line
