"""The ledgers of a run: what a stage keeps arrives at the next, or is counted as lost with its unit."""

from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.jobs.run_ledgers import run_ledgers
from obelics_pipeline.jobs.stages import STAGES, names_of, stage_of


def ledger(noun: str, kept: int, **dropped: int) -> Ledger:
    made = Ledger(noun)
    made.keep(kept)
    for reason, n in dropped.items():
        made.drop(reason, n)
    return made


COUNTED = {
    "extract": {"records": ledger("records", 10), "documents": ledger("documents", 10, language=2)},
    "dedup": {"documents": ledger("documents", 9, word_count=1)},
    "assemble": {"documents": ledger("documents", 6, image_count=1), "images": ledger("images", 20, image_side=4)},
    "decide": {"documents": ledger("documents", 6), "images": ledger("images", 20)},
    "settled": {"documents": ledger("documents", 5, duplicate_url=1), "images": ledger("images", 18, x=2)},
}


def test_what_a_failed_unit_held_is_counted_as_failed() -> None:
    found = run_ledgers(STAGES, COUNTED, [{"stage": "assemble"}], in_tars=5)
    documents = found["documents"]
    assert (documents.entered, documents.kept) == (12, 5)
    assert documents.dropped == {"language": 2, "word_count": 1, "image_count": 1, "duplicate_url": 1}
    assert documents.failed == {"assemble_unit_failed": 2}
    assert documents.balanced()
    assert (found["images"].entered, found["images"].kept, found["images"].balanced()) == (24, 18, True)


def test_what_is_lost_without_a_failure_leaves_the_ledger_unbalanced() -> None:
    assert not run_ledgers(STAGES, COUNTED, [], in_tars=5)["documents"].balanced()
    assert not run_ledgers(STAGES, COUNTED, [{"stage": "site-sums"}], in_tars=5)["documents"].balanced()


def test_documents_that_no_tar_has_are_missed() -> None:
    counted = {name: of for name, of in COUNTED.items() if name in ("extract", "dedup")}
    failed = run_ledgers(STAGES, counted, [{"stage": "shard"}], in_tars=4)["documents"]
    assert failed.failed == {"shard_unit_failed": 5}


def test_each_stage_has_a_name_and_words_of_its_own() -> None:
    assert len(set(names_of(STAGES))) == len(STAGES)
    assert all(stage.title for stage in STAGES)
    for stage in STAGES:
        assert {stage_of(STAGES, step) for step in stage.ledgers} <= {stage.name}
