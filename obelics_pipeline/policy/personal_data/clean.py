"""The personal data of a document: found in all that is stored of it, treated as the config says, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from obelics_pipeline.core.config.personal_data import PUBLIC, PersonalDataConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.email import KIND as EMAIL
from obelics_pipeline.policy.personal_data.find import find
from obelics_pipeline.policy.personal_data.finding import Finding
from obelics_pipeline.policy.personal_data.phone import KIND as PHONE
from obelics_pipeline.policy.personal_data.pseudonym import Pseudonyms, mask, read_key
from obelics_pipeline.policy.personal_data.regions import Regions, check_regions, host_of
from obelics_pipeline.policy.personal_data.text import by_text, joined, replaced
from obelics_pipeline.policy.personal_data.urls import clean_url, may_hold

REASON = "personal_data_"  # begins the reason of what is dropped; the kind ends it
UNSEARCHED = "personal_data_unsearched"  # of a page that would take too long
TITLE = "title"
PUBLIC_COUNT = PUBLIC.removeprefix("personal_")
MOST_ROUNDS = 8  # over a text in which values stand side by side

LanguageOf = Callable[[str], str | None]  # of a text, its ISO 639 code
_Value = tuple[str, str]  # kind, value
_Place = tuple[Document | TextNode | ImageNode, str, str]  # whose text, the name of its field, the text


class Cleaner:
    """Applies one config. Keep it for a whole unit. Raises UserError when made, for a key that cannot be read."""

    def __init__(self, config: PersonalDataConfig, language_of: LanguageOf) -> None:
        check_regions(config.regions)
        self._config, self._language_of = config, language_of
        self._kinds = frozenset(config.kinds)
        self._mailboxes = frozenset(config.public_mailboxes)
        self._treated_kinds = frozenset(kind for kind in config.kinds if config.treatment(kind) != "keep")
        self._pseudonyms = Pseudonyms(read_key(config.key_file))

    def clean(
        self, document: Document, declared_language: str | None = None, budget: SearchBudget | None = None
    ) -> None:
        """Treat what a document holds, in place, and note how much there was of each kind among its scores.

        It is a fresh document, nothing of it measured yet. `declared_language` is what its page says it is in, `budget`
        what the page may still cost (None: a page's whole). Raises TooManyLooks where that does not suffice: the
        document is not to be stored then.
        """
        budget = budget or SearchBudget()
        counts: Counter[str] = Counter()
        texts = _texts(document)
        if texts:
            self._clean_texts(document, texts, declared_language, counts, budget)
        if self._config.urls:
            self._clean_urls(document, counts)
        document.scores |= {column: float(counts[column.removeprefix("personal_")]) for column in self._config.columns}

    def _clean_texts(
        self,
        document: Document,
        texts: Sequence[_Place],
        declared_language: str | None,
        counts: Counter[str],
        budget: SearchBudget,
    ) -> None:
        declared = (declared_language,) if declared_language else ()
        configured = tuple(self._config.regions)
        whole, starts = joined([text for _, _, text in texts])
        regions = Regions(declared, host_of(document.url), configured, partial(self._language_of, whole))
        kinds = self._kinds
        public: set[_Value] | None = None
        for _ in range(MOST_ROUNDS):
            findings = by_text(find(whole, kinds, regions, self._config.special_addresses, budget), starts)
            if public is None:
                public = self._public(findings.values(), counts)
            changed = [
                self._treat(document, texts[number], [f for f in found if (f.kind, f.value) not in public], counts)
                for number, found in findings.items()
            ]
            if not any(changed):
                return
            # What stood beside a value may be one itself, now that the other is gone.
            texts, kinds = _texts(document), self._treated_kinds
            whole, starts = joined([text for _, _, text in texts])

    def _public(self, findings: Iterable[Sequence[Finding]], counts: Counter[str]) -> set[_Value]:
        """The values of a page, found text by text, that its public contacts say; they are counted."""
        public: set[_Value] = set()
        if self._mailboxes:
            for found in findings:
                emails = [f for f in found if f.kind == EMAIL]
                offices = [f for f in emails if self._is_office(f.value)]
                public |= {(f.kind, f.value) for f in offices}
                if offices and len(offices) == len(emails):
                    public |= {(f.kind, f.value) for f in found if f.kind == PHONE}
        left = [f.kind for found in findings for f in found if (f.kind, f.value) in public]
        counts.update(left)
        counts[PUBLIC_COUNT] += len(left)
        return public

    def _is_office(self, address: str) -> bool:
        return address.rpartition("@")[0] in self._mailboxes

    def _treat(self, document: Document, place: _Place, findings: Sequence[Finding], counts: Counter[str]) -> bool:
        """Treat what was found in one text; whether that changed it."""
        owner, name, text = place
        counts.update(finding.kind for finding in findings)
        treated = [finding for finding in findings if finding.kind in self._treated_kinds]
        if not treated:
            return False
        changed = replaced(text, treated, [self._stand(f.kind, f.value) for f in treated])
        if isinstance(owner, Document):
            owner.general[name] = changed
        else:
            setattr(owner, name, changed)
        self._drop(document, owner, treated)
        return True

    def _stand(self, kind: str, value: str) -> str:
        if kind == EMAIL and self._is_office(value):
            return value
        treatment = self._config.treatment(kind)
        return self._pseudonyms.of(kind, value) if treatment == "replace" else mask(kind)

    def _drop(self, document: Document, owner: Document | TextNode | ImageNode, findings: Sequence[Finding]) -> None:
        for finding in findings:
            treatment = self._config.treatment(finding.kind)
            if treatment == "drop_paragraph" and isinstance(owner, TextNode):
                owner.reason = owner.reason or REASON + finding.kind
            elif treatment == "drop_document":
                document.reason = document.reason or REASON + finding.kind

    def _clean_urls(self, document: Document, counts: Counter[str]) -> None:
        images = [node for node in document.nodes if isinstance(node, ImageNode)]
        if not may_hold("\n".join([document.url, *[image.src for image in images]])):
            return
        document.url = self.clean_url(document.url, counts)
        for image in images:
            src = self.clean_url(image.src, counts)
            if src is not image.src:
                image.reason = image.reason or REASON + "url"
                image.src, image.unformatted_src = src, self.clean_url(image.unformatted_src)

    def clean_url(self, url: str, counts: Counter[str] | None = None) -> str:
        """A URL as it may be stored: the same object where there is nothing in it."""
        if not self._config.urls:
            return url
        cleaned, found = clean_url(url, self._treated_kinds, self._stand)
        if counts is not None:
            counts.update(found)
        return cleaned


def _texts(document: Document) -> list[_Place]:
    """All texts that are stored of a document."""
    texts: list[_Place] = []
    for node in document.nodes:
        if isinstance(node, TextNode):
            texts.append((node, "text", node.text))
        else:
            if node.alt_text:
                texts.append((node, "alt_text", node.alt_text))
            if node.formatted_filename:
                texts.append((node, "formatted_filename", node.formatted_filename))
    title = document.general.get(TITLE)
    if isinstance(title, str):
        texts.append((document, TITLE, title))
    return texts
