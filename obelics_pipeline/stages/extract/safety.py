"""Lists and personal data, before anything is measured: which pages are refused, and what is removed from documents."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, Node
from obelics_pipeline.models.language_id import LanguageModel
from obelics_pipeline.policy.blocklists.lists import identity, open_lists
from obelics_pipeline.policy.blocklists.lists import notices as list_notices
from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.clean import Cleaner
from obelics_pipeline.policy.personal_data.identity import personal_data_config

LANGUAGE_CHARACTERS = 300  # of a page, by which it is told whose phone numbers it may hold


class Safety:
    """The lists and the treatment of personal data of one config; opened once per process, so keep it for a unit.

    Raises `UserError` when made, for a list or a key that is missing, or not the one that the config names.
    """

    def __init__(self, config: RunConfig) -> None:
        self._lists = open_lists(config.blocklists, config.fetch) if config.blocklists else None
        self._cleaner = None
        if config.personal_data.enabled:
            self._cleaner = Cleaner(config.personal_data, _language_of(config.language.model))

    def page_reason(self, url: str) -> str | None:
        """Why a page is not read; None where it may be."""
        return self._lists.reason(url, "pages") if self._lists is not None else None

    def judge_images(self, nodes: Iterable[Node]) -> None:
        """Drop the images whose URLs are on a list."""
        if self._lists is None or not self._lists.applies_to_images():
            return
        for node in nodes:
            if isinstance(node, ImageNode) and node.reason is None:
                node.reason = self._lists.reason(node.src, "images")

    def clean(self, documents: Iterable[Document], declared_language: str | None) -> None:
        """Treat the personal data of a page's documents, in place. Raises TooManyLooks: none is to be stored then."""
        if self._cleaner is None:
            return
        budget = SearchBudget()
        for document in documents:
            self._cleaner.clean(document, declared_language, budget)

    def stored_url(self, url: str | None) -> str | None:
        """A URL as the row of its record may hold it."""
        return url if url is None or self._cleaner is None else self._cleaner.clean_url(url)


def _language_of(model: str) -> Any:
    loaded = LanguageModel.load(model)
    return lambda text: loaded.predict(text, LANGUAGE_CHARACTERS)[0]


@functools.lru_cache(maxsize=1)
def safety_of(config_json: str) -> Safety:
    """The safety of a config, made once per process."""
    return Safety(RunConfig.model_validate_json(config_json))


def safety_config(config: RunConfig) -> list[Any]:
    """The settings of lists and personal data that documents depend on, by content; empty if none is set."""
    found: list[Any] = []
    if config.blocklists:
        found.append(["blocklists", identity(config.blocklists)])
    if config.personal_data.enabled:
        found.append(["personal_data", personal_data_config(config.personal_data), config.language.model])
    return found


def notices(config: RunConfig) -> list[str]:
    """One line per thing that a person should know before a run."""
    lines = list_notices(config.blocklists, config.fetch)
    personal = config.personal_data
    if personal.key_file is None and any(personal.treatment(kind) == "replace" for kind in personal.kinds):
        lines.append(
            "personal_data.key_file is not set: pseudonyms use a public key, so anyone can test whether a guessed "
            "value was in the data"
        )
    return lines
