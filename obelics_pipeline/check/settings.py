"""What the config asks for, and whether it is here: filters, models, word lists, packages of extras."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from filters.rule import build_rules
from models.language_id import LanguageModel
from models.lmplz import Programs
from obelics_pipeline.check.finding import Finding
from obelics_pipeline.config import FetchingConfig, RunConfig
from obelics_pipeline.errors import UserError
from obelics_pipeline.site.columns import require_score

ENGINE_PACKAGES = {"local": None, "ray": "ray", "beam": "apache_beam"}  # engine -> what it imports
IMAGE_PACKAGES = ("img2dataset", "PIL", "protego", "imagehash")  # of the extra "images"
TRAINED_BY_LMPLZ = ("perplexity", "worse_than_unigram_ratio")  # filters whose model obelics fit kenlm makes
COMPILED = ("obelics_pipeline.extract._simplify", "obelics_pipeline.dedup._minhash", "filters._statistics")


def setting_findings(config: RunConfig) -> list[Finding]:
    """Every filter, model and list by itself, so that all that is missing is named."""
    found = [*_rules(config), *_language(config), *_site(config), *_images(config.fetch)]
    absent = [name for name in COMPILED if find_spec(name) is None]
    if absent:
        what = f"not compiled: {', '.join(absent)}; the run is several times as slow; install again with a C compiler"
        found.append(Finding("compiled parts", "warning", what))
    return found


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
    yield Finding("filters", "ok", f"{usable - len(silent)} with what they need")


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


def _site(config: RunConfig) -> Iterator[Finding]:
    try:
        require_score(config)
    except UserError as error:
        yield Finding("filters", "missing", str(error))


def _images(config: FetchingConfig) -> Iterator[Finding]:
    if not config.enabled:
        yield Finding("images", "ok", "fetch.enabled is false: none is fetched")
        return
    absent = [name for name in IMAGE_PACKAGES if find_spec(name) is None]
    if absent:
        yield Finding(
            "images",
            "missing",
            f"fetching needs {', '.join(absent)}: pip install 'obelics-pipeline[images]'; or --set fetch.enabled=false",
        )
    else:
        yield Finding("images", "ok", "packages are installed")
    if config.user_agent == FetchingConfig.model_fields["user_agent"].default:
        yield Finding("user agent", "warning", "names no contact; --set fetch.user_agent='NAME (mail or page)'")


def engine_finding(engine: str) -> Finding:
    """Whether the package of an engine is installed."""
    package = ENGINE_PACKAGES[engine]
    if package is not None and find_spec(package) is None:
        return Finding("engine", "missing", f"{engine} needs its extra: pip install 'obelics-pipeline[{engine}]'")
    return Finding("engine", "ok", engine)
