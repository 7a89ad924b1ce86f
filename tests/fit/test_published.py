"""A published model must come whole and be checked, by one command and never by itself."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit.published import download_kenlm
from tests.fit.hub import COMMIT, Hub, serve
from tests.models.arpa import write_models

pytest.importorskip("huggingface_hub")

ROOT = Path(__file__).parents[2]
NAME = "edugp/kenlm/wikipedia"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    models = write_models(tmp_path / "published")
    files = {f"wikipedia/{path.name}": path.read_bytes() for path in models.iterdir()}
    with serve(Hub("edugp/kenlm", files)) as found:
        yield found


def download(hub: Hub, output: Path, revision: str = "main", name: str = NAME, language: str = "en") -> list[str]:
    """The lines that a person is told."""
    said: list[str] = []
    download_kenlm(name, [language], output, revision, said.append, hub.address)
    return said


def refused(hub: Hub, output: Path, **asked: str) -> str:
    with pytest.raises(UserError) as error:
        download(hub, output, **asked)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_filter_takes_the_folder_that_was_filled(hub: Hub, tmp_path: Path) -> None:
    said = download(hub, tmp_path / "out")
    total = sum(map(len, hub.files.values()))
    assert said[0].startswith(f"2 files of edugp/kenlm, commit {COMMIT}: {total:,} bytes to ")
    assert build("perplexity", {"folder": str(tmp_path / "out")}).score(Text("a b a b", "en")) == 2.5
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["en.arpa.bin", "en.json", "en.sp.model"]


def test_the_record_says_commit_and_sums(hub: Hub, tmp_path: Path) -> None:
    download(hub, tmp_path / "out")
    record = json.loads((tmp_path / "out" / "en.json").read_text("utf-8"))
    assert record["repository"] == "edugp/kenlm"
    for name, about in record["files"].items():
        data = hub.files[f"wikipedia/{name}"]
        assert about == {
            "path": f"wikipedia/{name}",
            "commit": COMMIT,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }


def test_a_revision_is_asked_for(hub: Hub, tmp_path: Path) -> None:
    download(hub, tmp_path / "out", revision=COMMIT)
    assert not [path for _, path, _ in hub.asked if "/resolve/main/" in path]


@pytest.mark.parametrize("file", ["wikipedia/en.arpa.bin", "wikipedia/en.sp.model"])
def test_a_damaged_file_is_refused_and_nothing_takes_its_place(hub: Hub, tmp_path: Path, file: str) -> None:
    hub.damaged.add(file)
    assert f"{file}: came damaged" in refused(hub, tmp_path / "out")
    assert not list((tmp_path / "out").glob("en.*"))
    hub.damaged.clear()
    download(hub, tmp_path / "out")


def test_a_connection_that_breaks_leaves_no_model_and_the_same_command_goes_on(hub: Hub, tmp_path: Path) -> None:
    hub.broken.add("wikipedia/en.sp.model")
    assert "run the same command again to continue" in refused(hub, tmp_path / "out")
    assert not list((tmp_path / "out").glob("en.*"))
    hub.broken.clear()
    hub.asked.clear()
    download(hub, tmp_path / "out")
    assert not [path for method, path, _ in hub.asked if method == "GET" and path.startswith("/lfs/")]  # it was there


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"name": "kenlm"}, "kenlm: not owner/repository/folder, such as edugp/kenlm/wikipedia"),
        ({"language": "../x"}, "--language ../x: not a language code"),
        ({"language": "de"}, "cannot be fetched (RemoteEntryNotFoundError: 404"),
        ({"name": "edugp/other/wikipedia"}, "cannot be fetched"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(hub: Hub, tmp_path: Path, asked: dict[str, str], said: str) -> None:
    assert said in refused(hub, tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command_asks_the_hub_of_the_environment(hub: Hub, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "obelics_pipeline", "download", NAME, "--language", "en"]
    environment = {**os.environ, "HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": str(ROOT)}
    command += ["--output", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "en.arpa.bin").read_bytes() == hub.files["wikipedia/en.arpa.bin"]


def test_a_hub_that_cannot_be_reached_is_told_in_one_line(tmp_path: Path) -> None:
    nobody = Hub("edugp/kenlm", {}, address="http://127.0.0.1:9")
    assert f"{NAME}: cannot be fetched (" in refused(nobody, tmp_path / "out")


def test_a_filter_fetches_nothing_by_itself(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"no <language>\.arpa\.bin in edugp/kenlm/wikipedia; .*obelics download"):
        build("perplexity", {"folder": NAME})
    assert hub.asked == []
