"""The example in the docstring of each public name must do what it says; likewise those of docs/api.md."""

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import obelics_pipeline
from obelics_pipeline.cli.main import main
from obelics_pipeline.filters.own import REGISTERED
from tests import small

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PACKAGES = {*obelics_pipeline._MODULES.values(), "filters.registry"}
MODULES = sorted(f"obelics_pipeline.{package}" for package in PACKAGES)
WITHOUT = {"Document", "PageRefused", "UserError"}  # types: shown where they are returned or raised


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run over six small pages."""
    folder = tmp_path_factory.mktemp("finished")
    warc = small.write_warc(folder / "pages.warc")
    assert main(small.arguments([warc], folder / "run")) == 0
    return folder / "run"


@pytest.fixture(autouse=True)
def _registered_before() -> Iterator[None]:
    before = dict(REGISTERED.factories)
    yield
    REGISTERED.factories = before


class AfterProgress(doctest.OutputChecker):
    """Compares what an example shows with the end of what was printed: lines of progress may come before."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        end = "".join(got.splitlines(keepends=True)[-want.count("\n") :])
        return super().check_output(want, got, optionflags) or super().check_output(want, end, optionflags)


def examples(module: ModuleType) -> list[doctest.DocTest]:
    return [test for test in doctest.DocTestFinder().find(module, module.__name__) if test.examples]


def ran(test: doctest.DocTest, names: dict[str, object]) -> str:
    """What a run of the examples complains of; empty where all is as they say."""
    said: list[str] = []
    test.globs = {**test.globs, **names}
    doctest.DocTestRunner(AfterProgress(), optionflags=OPTIONS).run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", MODULES)
def test_every_example_of_a_docstring_gives_what_it_shows(
    name: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for test in examples(importlib.import_module(name)):
        assert ran(test, {"folder": tmp_path, "finished": finished, "warc": finished.parent / "pages.warc"}) == ""


@pytest.mark.parametrize("name", sorted(set(obelics_pipeline._MODULES) - WITHOUT))
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>> " in getattr(obelics_pipeline, name).__doc__


def test_the_examples_of_the_page_give_what_they_show(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "api.md"
    test = doctest.DocTestParser().get_doctest(page.read_text().replace("```", ""), {}, page.name, str(page), 0)
    assert len(test.examples) > 15
    assert ran(test, {"folder": tmp_path, "finished": finished, "warc": finished.parent / "pages.warc"}) == ""
