"""Whether everything that the config names is installed: filters, models, word lists, packages of extras."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from obelics_pipeline.core.config import FetchingConfig, RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.rule import build_rules
from obelics_pipeline.inspect.check.finding import Finding
from obelics_pipeline.jobs.compiled_parts import slow_parts
from obelics_pipeline.jobs.hooks.configured import unready
from obelics_pipeline.jobs.stages import stages_of
from obelics_pipeline.models.language_id import LanguageModel
from obelics_pipeline.models.lmplz import Programs
from obelics_pipeline.stages.stage import Stage

ENGINE_PACKAGES = {"local": None, "ray": "ray", "beam": "apache_beam"}  # engine -> what it imports
TRAINED_BY_LMPLZ = ("perplexity", "worse_than_unigram_ratio")  # filters whose model obelics fit kenlm makes


def setting_findings(config: RunConfig) -> list[Finding]:
    """Every filter, model, list and hook by itself, so that all that is missing is named."""
    found = [*_rules(config), *_language(config), *_images(config.fetch)]
    found += [Finding("hooks", "missing", str(error)) for error in unready(config.hooks)]
    return [*found, *(Finding("compiled parts", "warning", line) for line in slow_parts())]


def _rules(config: RunConfig) -> Iterator[Finding]:
    places = {
        "filters.paragraph": (config.filters.paragraph, "paragraph"),
        "filters.document": (config.filters.document, "document"),
        "finish.paragraph": (config.finish.paragraph, "paragraph"),
    }
    usable, silent = 0, list[Finding]()
    for place, (thresholds, level) in places.items():
        for name, threshold in thresholds.items():
            try:
                (rule,) = build_rules({name: threshold}, level)
            except UserError as error:
                yield Finding("filters", "missing", str(error))
                if name in TRAINED_BY_LMPLZ and threshold.options:  # else it is the shipped model that cannot be read
                    yield from _programs()
                continue
            usable += 1
            reason = getattr(rule.filter, "not_applied", None)
            if reason is not None:
                silent.append(Finding("filters", "warning", f"{place}.{name} is not applied: {reason}"))
    yield from silent
    yield Finding("filters", "ok", f"{usable - len(silent)} are ready")


def _programs() -> Iterator[Finding]:
    """Whether the model that is missing could be trained here."""
    try:
        Programs.find()
    except UserError as error:
        yield Finding("lmplz", "warning", str(error))


def _language(config: RunConfig) -> Iterator[Finding]:
    try:
        LanguageModel.load(config.language.model, config.language.model_sha256)
        yield Finding("language model", "ok", config.language.model)
    except UserError as error:
        yield Finding("language model", "missing", str(error))


def _images(config: FetchingConfig) -> Iterator[Finding]:
    if not config.enabled:
        yield Finding("images", "ok", "not fetched (fetch.enabled is false)")
        return
    if config.user_agent == FetchingConfig.model_fields["user_agent"].default:
        yield Finding("user agent", "warning", "gives no contact; --set fetch.user_agent='NAME (email or web page)'")


def stage_findings(config: RunConfig) -> list[Finding]:
    """The findings of each stage on its part of the config, with the stage's name; own stages included."""
    try:
        return [finding for stage in stages_of(config) for finding in _of_stage(stage, config)]
    except UserError as error:
        return [Finding("stages", "missing", str(error))]


def _of_stage(stage: Stage, config: RunConfig) -> Iterator[Finding]:
    try:
        yield from (Finding(stage.name, "warning", line) for line in stage.check(config))
    except UserError as error:
        yield Finding(stage.name, "missing", str(error))


def engine_finding(engine: str) -> Finding:
    """Whether the package of an engine is installed."""
    package = ENGINE_PACKAGES[engine]
    if package is not None and find_spec(package) is None:
        return Finding("engine", "missing", f"{engine} needs its extra: pip install 'obelics-pipeline[{engine}]'")
    return Finding("engine", "ok", engine)
