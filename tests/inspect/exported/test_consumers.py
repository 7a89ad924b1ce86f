"""The table of docs/howto/publish.md is that of `consumers`, each line opens what it says, no format is missing."""

import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.publish import LOADERS
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.exported.command import export_files
from obelics_pipeline.inspect.exported.formats import FORMATS
from obelics_pipeline.inspect.exported.lance_table import export_lance
from obelics_pipeline.inspect.exported.uniform_tar import WEBDATASET
from obelics_pipeline.inspect.published.command import publish
from tests.inspect.exported.consumers import CONSUMERS, Consumer

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def place(run_of_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A folder in which the lines of the table can be run, and the documents that each must find."""
    folder = tmp_path_factory.mktemp("place")
    publish(str(run_of_demo), str(folder / "published"), Statement("Pages of a test"), workers=1)
    export_lance(run_of_demo, folder / "out/export-lance")
    exported = export_files(run_of_demo, folder / "out/export-webdataset", WEBDATASET, workers=1)
    return folder, sum(file.documents for file in exported.files)


def test_the_table_of_the_docs_is_that_of_the_tests() -> None:
    pins = (ROOT / "constraints.txt").read_text("utf-8") + (ROOT / "tests/inspect/exported/loaders.txt").read_text(
        "utf-8"
    )
    versions = dict(re.findall(r"^([\w.-]+)==(\S+)$", pins, re.MULTILINE))
    rows = [
        f"| {consumer.package} | {versions[consumer.package]} | `{consumer.written_by}` | `{consumer.line}` |"
        for consumer in CONSUMERS
    ]
    page = (ROOT / "docs/howto/publish.md").read_text("utf-8")
    table = page.partition("## Who opens what")[2].partition("|---|---|---|---|\n")[2].splitlines()
    assert table[: len(rows)] == rows
    assert not any(line.startswith("|") for line in table[len(rows) :])


@pytest.mark.parametrize("consumer", [c for c in CONSUMERS if c.count], ids=lambda c: f"{c.package}-{c.written_by}")
def test_the_line_opens_all_documents(
    consumer: Consumer, place: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(place[0])
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path)
    scope: dict[str, object] = {}
    exec(f"{consumer.imports}\nopened = {consumer.line}\ncount = {consumer.count}", scope)
    assert scope["count"] == place[1] > 0


def test_each_format_of_the_command_line_is_one_of_files_or_lance_and_has_a_consumer() -> None:
    assert sorted(LOADERS) == sorted([*FORMATS, "lance"])
    assert {consumer.written_by for consumer in CONSUMERS} == {"publish", *LOADERS}


@pytest.mark.parametrize("name", FORMATS)
def test_the_line_that_a_command_prints_is_in_the_table(name: str) -> None:
    line = FORMATS[name].opens(Path(f"out/export-{name}"))
    assert line in [consumer.line for consumer in CONSUMERS if consumer.written_by == name]
