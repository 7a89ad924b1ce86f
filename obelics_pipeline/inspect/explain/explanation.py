"""All that is known of one page: its simplified tree, its documents with every score, and what a run made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import MEASURING_ERROR, Document, Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.explain.in_run import Fate, InRun
from obelics_pipeline.inspect.explain.node_rows import node_rows
from obelics_pipeline.jobs.stages import STAGES
from obelics_pipeline.policy.opt_outs.lists import NO_LISTS, OptOuts
from obelics_pipeline.stages.extract.main_content import probabilities
from obelics_pipeline.stages.extract.measure import Measurer
from obelics_pipeline.stages.extract.page import SimplifiedPage, simplify_page
from obelics_pipeline.stages.extract.refused import Refused
from obelics_pipeline.stages.extract.safety import safety_of
from obelics_pipeline.stages.extract.stage import page_documents
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.robots import RobotsCaptures
from obelics_pipeline.stages.stage import Stage


@dataclass(frozen=True)
class Explanation:
    """What extraction makes of a record today, by a config.

    `reason` says why there are no documents, None where there are; `documents` carry every score, also those after
    the first drop. `simplified` is missing for a record that is no page, or too costly, and by the reference's rules,
    which make no tree. `probability` has one value a row of its tree (see `probabilities`), None where nobody asked.
    `rows` are those of each node, over all documents. `reasons` is what filters tell of their scores, by document and
    filter. `in_run` and `fates` are what a run's folder says, `stages` are those of the run.
    """

    path: str
    record: Page | Skipped
    config: RunConfig
    reason: str | None
    documents: Sequence[Document] = ()
    simplified: SimplifiedPage | None = None
    probability: NDArray[np.float64] | None = None
    rows: Sequence[Sequence[int]] = ()
    reasons: Mapping[str, Mapping[str, Sequence[tuple[str, ...]]]] = field(default_factory=dict)
    notices: Sequence[str] = ()
    in_run: InRun | None = None
    fates: Mapping[str, Fate] = field(default_factory=dict)
    stages: Sequence[Stage] = STAGES

    def as_in_run(self, document: Document) -> bool:
        """Whether the run extracted the same document, and kept it or dropped it for the same reason."""
        extracted = self.fates.get(document.doc_id, Fate()).extracted
        if extracted is None or extracted.reason != document.reason:
            return False
        return _written(extracted) == _written(document)

    def ended(self, document: Document) -> Document:
        """A document as the run ended with it, images and all, if it is the same one; else as it is now."""
        fate = self.fates.get(document.doc_id, Fate())
        return fate.later[-1].document if fate.later and self.as_in_run(document) else document

    def nodes(self) -> list[tuple[Node, Sequence[int]]]:
        """Every node of the documents, in order, with its rows of the tree."""
        nodes = [node for document in self.documents for node in self.ended(document).nodes]
        return list(zip(nodes, self.rows or [()] * len(nodes), strict=True))


def _written(document: Document) -> list[str]:
    return [node.text if isinstance(node, TextNode) else node.src for node in document.nodes]


def explanation_of(
    path: str,
    record: Page | Skipped,
    config: RunConfig,
    opt_outs: OptOuts = NO_LISTS,
    robots: RobotsCaptures | None = None,
) -> Explanation:
    """Extract and measure a record again, unless `opt_outs` name it. `path` says where it is.

    Raises UserError for what the config misses.
    """
    measurer = Measurer(config.filters, config.language, config.consent.licence)
    if isinstance(record, Skipped):
        return Explanation(path, record, config, record.reason)
    if (listed := opt_outs.page_reason(record.url)) is not None:
        return Explanation(path, record, config, listed)
    simplified = _simplified(record, config)
    outcome = page_documents(record, config, safety_of(config.model_dump_json()), robots)
    probability = None
    if simplified is not None and config.extract.scope == "main":
        probability = probabilities(simplified.tree)
    if isinstance(outcome, Refused):
        return Explanation(path, record, config, outcome.reason, simplified=simplified, probability=probability)
    for document in outcome:
        _measure(measurer, document)
    return Explanation(
        path,
        record,
        config,
        None,
        outcome,
        simplified,
        probability,
        node_rows(simplified, config.extract) if simplified is not None else (),
        {document.doc_id: measurer.reasons(document) for document in outcome},
        measurer.notices(),
    )


def _simplified(page: Page, config: RunConfig) -> SimplifiedPage | None:
    if config.extract.rules != "default":
        return None
    try:
        return simplify_page(page.html, page.url, config.extract)
    except Exception:  # page_documents gives it as the reason
        return None


def _measure(measurer: Measurer, document: Document) -> None:
    """Measure as the extract stage does, but beyond the first drop."""
    try:
        measurer.measure(document, everything=True)
    except UserError:
        raise
    except Exception as error:  # a filter of somebody else's
        document.reason = f"{MEASURING_ERROR}_{type(error).__name__}"
