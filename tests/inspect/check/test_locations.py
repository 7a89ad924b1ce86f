"""Input that is not there, output that cannot be written to or is another run's: each is one line."""

import errno
import json
import os
from pathlib import Path

import fsspec
import pytest
from upath import UPath

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.folder import FORMAT
from obelics_pipeline.inspect.check.locations import find_inputs, output_findings
from obelics_pipeline.inspect.check.meter import MeteredFileSystem, metered

CONFIG = RunConfig()


def about(output: str, config: str = "default") -> tuple[str, str]:
    (finding,) = output_findings(output, config, CONFIG)[1]
    return finding.state, finding.text


def test_an_output_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for output in (tmp_path / "new" / "deep", tmp_path / "there"):
        assert about(str(output))[0] == "ok"
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_an_output_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert about(str(tmp_path / "file"))[0] == "missing"
    assert about(str(tmp_path / "file" / "below"))[0] == "missing"
    assert about("/proc/obelics/out")[0] == "missing"  # nobody makes a folder there, root neither


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    state, text = about(str(tmp_path))
    assert (state, "Permission denied" in text) == ("missing", True)


class ReadOnly(MeteredFileSystem):  # type: ignore[misc]
    """A store that lets nobody write, as its client says it."""

    protocol = "readonly"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: object) -> None:
        raise PermissionError(errno.EACCES, "Access Denied")


class Careless(MeteredFileSystem):  # type: ignore[misc]
    """A store that ignores the condition of a put."""

    protocol = "careless"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: object) -> None:
        super().pipe_file(path, value)


def test_a_store_that_ignores_conditions_is_not_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obelics_pipeline.inspect.check.locations.location", lambda *_: _at(Careless, tmp_path))
    state, text = about("careless://x")
    assert (state, "conditional" in text) == ("missing", True)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_lets_nobody_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obelics_pipeline.inspect.check.locations.location", lambda *_: _at(ReadOnly, tmp_path))
    state, text = about("readonly://x")
    assert (state, "no access" in text, text.count("\n")) == ("missing", True, 0)


def _at(store: type[MeteredFileSystem], folder: Path) -> UPath:
    """A place in a store of this kind."""
    where = metered(folder)
    assert isinstance(where, UPath)
    where._fs_cached = store()  # what UPath keeps its file system in
    return where


def test_a_bucket_is_tried_and_one_that_is_not_there_is_missing(s3: str) -> None:
    fsspec.filesystem("s3", use_listings_cache=False).mkdir("check-bucket")
    assert about("s3://check-bucket/run")[0] == "ok"
    assert fsspec.filesystem("s3", use_listings_cache=False).find("check-bucket") == []
    state, text = about("s3://no-such-bucket/run")
    assert (state, "no-such-bucket" in text, text.count("\n")) == ("missing", True, 0)


def test_a_protocol_that_nobody_knows() -> None:
    assert about("nowhere://x/y")[0] == "missing"


def test_the_folder_of_another_run_is_missing_and_of_this_one_goes_on(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"config": "obelics", "format": FORMAT}))
    assert about(str(tmp_path), "default")[0] == "missing"
    state, text = about(str(tmp_path), "obelics")
    assert (state, "will continue" in text) == ("ok", True)


def test_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    state, text = about(str(tmp_path))
    assert (state, "thesis.tex" in text) == ("missing", True)


def test_every_pattern_that_names_nothing_is_told(warcs: list[Path], tmp_path: Path) -> None:
    patterns = [str(tmp_path / "no*.warc.gz"), str(warcs[0]), str(tmp_path / "gone.warc.gz")]
    inputs, found = find_inputs(patterns, ReadingConfig())
    assert inputs is None
    assert [finding.state for finding in found] == ["missing", "missing"]
    assert "no*.warc.gz" in found[0].text
    assert "gone.warc.gz" in found[1].text


def test_input_that_is_there(warcs: list[Path]) -> None:
    inputs, (found,) = find_inputs([str(path) for path in warcs], ReadingConfig())
    assert inputs is not None
    assert (found.state, found.text[:12]) == ("ok", "2 WARC files")
