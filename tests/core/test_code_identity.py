"""A stage's code is another after an edit of a source, C file, word list or model that it reaches, and no other."""

import re
import shutil
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import SimpleNamespace

import pytest

from obelics_pipeline.core import code_identity
from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.jobs.stages import STAGES

EXTRACT = "obelics_pipeline.stages.extract.stage"
CACHED = ("code_of", "_imports", "_source", "_content", "_data_of", "_version")


def forget() -> None:
    for name in CACHED:
        getattr(code_identity, name).cache_clear()


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the package, to be edited; large models are left out."""
    root = tmp_path_factory.mktemp("package") / "obelics_pipeline"
    left = shutil.ignore_patterns("*.so", "__pycache__", "*.bin", "*.model", "*.ftz", "site")
    shutil.copytree(code_identity._ROOT, root, ignore=left)
    return root


@pytest.fixture
def package(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(code_identity, "_ROOT", copied)
    forget()
    yield copied
    forget()


def edited(path: Path, module: str = EXTRACT) -> bool:
    """Whether the code of a module is another when a file gets a line more; the file is put back."""
    before, content = code_of(module), path.read_bytes()
    path.write_bytes(content + b"\n# x\n")
    forget()
    after = code_of(module)
    path.write_bytes(content)
    forget()
    return before != after


@pytest.mark.parametrize(
    "name",
    [
        "stages/extract/stage.py",
        "stages/extract/page_scope.py",
        "stages/extract/_simplify.c",
        "stages/extract/_main_features.c",
        "stages/extract/_lexbor.h",
        "stages/read/records.py",
        "filters/word_count.py",
        "filters/_statistics.c",
        "filters/words/en/stopwords.txt",
        "models/main_content.json",
        "models/farm_detector/network.py",
        "policy/personal_data/clean.py",
    ],
)
def test_an_edit_of_what_a_page_goes_through_is_another_code(package: Path, name: str) -> None:
    assert edited(package / name)


@pytest.mark.parametrize(
    "name",
    ["training/train/guard/guard.py", "stages/dedup/judge.py", "core/errors.py", "core/storage.py", "cli/main.py",
     "inspect/report/command.py", "engines/local.py", "configs/default.yaml"],
)  # fmt: skip
def test_an_edit_of_what_a_page_does_not_meet_is_the_same_code(package: Path, name: str) -> None:
    assert (package / name).is_file()
    assert not edited(package / name)


def test_a_new_word_list_is_another_code(package: Path) -> None:
    before = code_of(EXTRACT)
    (package / "filters" / "words" / "en" / "new.txt").write_text("word\n")
    forget()
    assert code_of(EXTRACT) != before


def test_the_version_of_each_library_is_that_of_what_brings_it() -> None:
    known = packages_distributions()
    libraries = {name for stage in STAGES for name in code_identity._reached(stage.work.__module__)[1]}
    assert len(libraries) > 10
    for name in libraries:
        assert code_identity._version(name) == [f"{of} {version(of)}" for of in sorted(set(known.get(name, [])))], name


def test_another_version_of_a_library_is_another_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_of(EXTRACT)
    forget()
    real, newer = code_identity.distribution, SimpleNamespace(name="selectolax", version="9")
    monkeypatch.setattr(code_identity, "distribution", lambda name: newer if name == newer.name else real(name))
    assert code_of(EXTRACT) != before
    forget()


def test_every_stage_has_a_code_of_its_own() -> None:
    codes = [code_of(stage.work.__module__) for stage in STAGES]
    assert len(set(codes)) == len(STAGES)
    assert all(re.fullmatch("[0-9a-f]{16}", code) for code in codes)


def test_every_compiled_part_is_in_the_code_of_a_stage() -> None:
    compiled = {path.relative_to(code_identity._ROOT) for path in code_identity._ROOT.rglob("*.c")}
    reached = {
        path.relative_to(code_identity._ROOT)
        for stage in STAGES
        for name in code_identity._reached(stage.work.__module__)[0]
        if (path := code_identity._source(name)) is not None
    }
    assert compiled
    assert compiled - reached == set()
