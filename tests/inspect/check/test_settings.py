"""All that a config asks for and that is not here is named, each in a line of its own."""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.inspect.check import settings
from obelics_pipeline.inspect.check.finding import Finding, exit_code
from obelics_pipeline.inspect.check.settings import engine_finding, setting_findings, stage_findings
from obelics_pipeline.models.perplexity import _loaded
from obelics_pipeline.stages.fetch import value as fetch


def missing(findings: list[Finding]) -> list[str]:
    return [finding.text for finding in findings if finding.state == "missing"]


def without(monkeypatch: pytest.MonkeyPatch, *absent: str, where: ModuleType = settings) -> None:
    """As if these packages were not installed."""

    def find(name: str) -> ModuleSpec | None:
        return None if name in absent else importlib.util.find_spec(name)

    monkeypatch.setattr(where, "find_spec", find)


def test_the_bundled_config_misses_nothing() -> None:
    assert missing(setting_findings(load_config("default"))) == []


def test_every_missing_file_is_named_and_not_the_first_only() -> None:
    sets = [
        "language.model=/no/lid.bin",
        "filters.document.flagged_word_ratio.options.paths={de: /no/flagged.txt}",
        "filters.document.no_such_filter={min: 1}",
        "finish.paragraph.another={min: 1}",
    ]
    found = setting_findings(load_config("default", sets))
    told = missing(found)
    assert len(told) == 4
    for what in ("/no/lid.bin", "/no/flagged.txt", "no_such_filter", "another"):
        assert sum(what in line for line in told) == 1
    assert exit_code(found) == 2


def test_where_a_language_model_is_missing_it_is_told_whether_one_could_be_trained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = load_config("default", [f"filters.document.perplexity={{max: 1500, options: {{folder: {tmp_path}}}}}"])
    monkeypatch.setenv("PATH", str(tmp_path))
    found = setting_findings(config)
    (line,) = missing(found)
    assert "obelics fit kenlm" in line and "obelics download" in line
    (programs,) = [finding.text for finding in found if finding.about == "lmplz"]
    assert "no lmplz and no build_binary on the PATH" in programs
    for name in ("lmplz", "build_binary"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert [finding for finding in setting_findings(config) if finding.about == "lmplz"] == []


def test_a_model_that_is_shipped_is_missed_only_where_its_packages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    config = load_config("default", ["filters.document={quality_score: {}, perplexity: {}}"])
    monkeypatch.setitem(sys.modules, "kenlm", None)
    _loaded.cache_clear()
    found = setting_findings(config)
    (line,) = missing(found)
    assert "filter perplexity: no module kenlm; pip install 'obelics-pipeline[models]'" in line
    assert not [finding for finding in found if finding.about == "lmplz"]


def test_each_hook_that_could_tell_nobody_is_named() -> None:
    hooks = ({"command": ("no-such-program",)}, {"url": "https://a.example/", "key_variable": "NO_SUCH_KEY"})
    found = [f.text for f in setting_findings(RunConfig.model_validate({"hooks": hooks})) if f.about == "hooks"]
    assert [text.partition(":")[0] for text in found] == ["hooks.0.command", "hooks.1.url"]


def test_a_filter_that_drops_nothing_is_a_warning() -> None:
    found = setting_findings(load_config("obelics"))
    assert missing(found) == []
    assert [f for f in found if f.state == "warning" and "is not applied" in f.text]


def test_packages_for_images_are_missing_only_where_images_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "protego", "imagehash", where=fetch)
    (line,) = missing(stage_findings(RunConfig()))
    assert "protego, imagehash" in line
    assert "pip install 'obelics-pipeline[images]'" in line
    assert missing(stage_findings(RunConfig.model_validate({"fetch": {"enabled": False}}))) == []


def test_each_stage_says_itself_what_it_misses() -> None:
    config = load_config(
        "default",
        [
            "site.enabled=true",
            "site.score=no_such",
            "consent.service={url: 'http://x.example', key_variable: NO_SUCH_KEY}",
        ],
    )
    assert [f.about for f in stage_findings(config) if f.state == "missing"] == ["site", "consent"]
    (found,) = stage_findings(load_config("default", ["stages=[{use: 'no/such.py:STAGE'}]"]))
    assert (found.about, found.state) == ("stages", "missing")


def test_an_engine_without_its_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "ray", "apache_beam")
    assert [engine_finding(engine).state for engine in ("local", "ray", "beam")] == ["ok", "missing", "missing"]
    assert "obelics-pipeline[beam]" in engine_finding("beam").text


def test_what_is_not_compiled_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obelics_pipeline.filters.statistics.COMPILED", False)
    (found,) = [f for f in setting_findings(RunConfig()) if f.about == "compiled parts"]
    assert (found.state, "filters._statistics" in found.text) == ("warning", True)
