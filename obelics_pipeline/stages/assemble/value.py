"""The stage `assemble`: documents meet their images, and are decided."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from obelics_pipeline.core.commit import sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.filters.rule import build_rules, paragraph_score
from obelics_pipeline.stages.dedup.apply import OVERUSED_PHASH
from obelics_pipeline.stages.dedup.uses import PHASH, phash_key, verdicts
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.shard.assemble import image_ledger
from obelics_pipeline.stages.shard.stage import assemble_unit, assemble_units
from obelics_pipeline.stages.stage import Stage

NAME = "assemble"


def check(config: RunConfig) -> list[str]:
    """Raises UserError for unknown filters of paragraphs."""
    build_rules(config.finish.paragraph, "paragraph")
    return []


def work(job: Job) -> None:
    """Lay the answers of the fetch over the documents, and decide them."""
    folder, known = job.folder.assembled, job.forgotten_elsewhere
    units = assemble_units(job.documents.units, job.answers, job.overused, job.config, job.opt_outs, known)
    do = functools.partial(
        assemble_unit,
        folder=folder,
        document_folder=job.documents.folder,
        config=job.config,
        read_answers=functools.partial(
            _read_answers, answer_folder=job.answers.folder, overused_folder=job.overused.folder
        ),
        score=paragraph_score,
        opt_outs=job.opt_outs,
        forgotten=job.forgotten,
    )
    assembled = job.runner.map(NAME, do, units, folder)
    sweep(folder, assembled)
    job.documents = Documents(assembled, folder)


def _read_answers(
    answers: Sequence[str], overused: Sequence[str], *, answer_folder: Location, overused_folder: Location
) -> dict[str, FetchResult]:
    """The answer of the fetch stage for each URL. An image that looks like too many others counts as dropped."""
    first = verdicts([read_table(overused_folder / name) for name in overused], PHASH)
    results = (r for name in answers for r in results_from_table(read_table(answer_folder / name)))
    return {result.url: _without_overused(result, first) for result in results}


def _without_overused(result: FetchResult, first: Mapping[bytes, bytes]) -> FetchResult:
    of = first.get(phash_key(result.phash)) if result.phash is not None else None
    return result if of is None else replace(result, status="dropped", reason=OVERUSED_PHASH, duplicate_of=of.hex())


ASSEMBLE = Stage(
    name=NAME,
    title="Met their images",
    label="with images",
    work=work,
    check=check,
    documents="assembled",
    with_images=True,
    image_ledger=image_ledger,
    ledgers={NAME: ("documents", "images")},
    reasons={
        "image_count": "too few or too many images",
        "image_side": "too small or too large",
        "image_rendered_side": "shown too small or too large by its page",
        "image_ratio": "too wide or too tall",
        "image_format": "not a format to keep",
        "image_one_colour": "too much of it has one colour, or too little",
        "image_qr_codes": "too many QR codes in it, or too few",
        "image_qr_share": "too much of it is QR codes, or too little",
        "image_sharpness": "blurred, or sharper than wanted",
        "image_text_share": "too much of it is text, or too little",
        "repeated_image": "stands in the document before",
        "document_dropped": "nothing is wrong with it; its document is not kept",
        "not_fetched": "never asked for, or its unit failed",
    },
)
