"""One page, or one document, by itself: what a notebook asks for, done as a run does it."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache

from obelics_pipeline.core.config.run import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.filters.own import REGISTERED
from obelics_pipeline.stages.extract.measure import Measurer
from obelics_pipeline.stages.extract.refused import Refused
from obelics_pipeline.stages.extract.safety import safety_of
from obelics_pipeline.stages.extract.stage import page_documents
from obelics_pipeline.stages.read.page import Page


class PageRefused(Exception):
    """A page gives no document. `reason` is the one that the ledger of a run counts, such as `no_text`."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: the page gives no document ({reason})")
        self.url, self.reason = url, reason


def extract(html: str, url: str, config: RunConfig | None = None) -> list[Document]:
    """The documents of a page: texts and images in the order of the page, not yet measured by filters.

    It is one document in most cases, and several where the config cuts long pages (`extract.split`). `url` is the
    page's own: relative addresses of images are resolved against it, and the id of a document follows from it. `config`
    says how to extract, which hosts are refused and which personal data is replaced; None: the bundled `default`. No
    image is fetched. A document of `extract` names no WARC record; apart from that and its id it is what a run makes.

    Raises `PageRefused` where the page gives none: it has no text, or is one that the config refuses.

    >>> import obelics_pipeline as op
    >>> html = "<article><h1>Keeping bees</h1><p>A hive has one queen.</p><img src=hive.jpg alt='A hive'></article>"
    >>> (document,) = op.extract(html, "https://bees.example/hive", op.load_config("default"))
    >>> document.text()
    'Keeping bees\\n\\nA hive has one queen.'
    >>> [image.src for image in document.images()]
    ['https://bees.example/hive.jpg']
    >>> op.extract("<p></p>", "https://bees.example/nothing")
    Traceback (most recent call last):
    obelics_pipeline.stages.extract.single_page.PageRefused: https://bees.example/nothing: ... (no_text)
    """
    config = config or load_config("default")
    page = Page(
        url=url,
        warc_filename=url,  # for now: ids follow from it, and pages must not share one
        offset=0,
        length=0,
        ordinal=0,
        warc_date=None,
        html=html,
        charset="utf-8",
        charset_source="given",
        content_type=None,
        x_robots_tag=None,
    )
    found = page_documents(page, config, safety_of(config.model_dump_json()))
    if isinstance(found, Refused):
        raise PageRefused(url, found.reason)
    for document in found:
        document.warc_filename = ""
        document.general.pop("charset", None)  # nobody has read one
    return found


def measure(document: Document, config: RunConfig | None = None) -> Document:
    """A measured copy of a document: with its language, its scores, and reasons where a threshold drops something.

    `config` names the filters and thresholds; None: the bundled `default`. `scores` has a float, or None, for each
    filter: measuring ends at the first that drops the document, and `reason` is its name; None: the document is kept.
    A paragraph that is dropped has a reason too, and is no longer in `text()`. The document given stays as it was. Give
    one of `extract`, not one that was measured before: what was dropped there stays dropped.

    Raises `UserError` for a filter of the config that is unknown or lacks what it needs.

    >>> import obelics_pipeline as op
    >>> html = "<article><p>A hive has one queen, and she lays all the eggs.</p><img src=hive.jpg></article>"
    >>> (document,) = op.extract(html, "https://bees.example/hive")
    >>> measured = op.measure(document, op.load_config("default", ["filters.document={word_count: {min: 100}}"]))
    >>> measured.language, measured.scores["word_count"], measured.reason
    ('en', 11.0, 'word_count')
    """
    measured = deepcopy(document)
    _measurer((config or load_config("default")).model_dump_json(), REGISTERED.times).measure(measured)
    return measured


@lru_cache(maxsize=4)
def _measurer(config_json: str, _registered: int) -> Measurer:
    """The measurer of a config, kept until another filter is registered."""
    config = RunConfig.model_validate_json(config_json)
    return Measurer(config.filters, config.language, config.consent.licence)
