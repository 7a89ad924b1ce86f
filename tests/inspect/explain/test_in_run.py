"""What a run's folder tells of a document: what it lost to the corpus, and what it is a duplicate of."""

from pathlib import Path

from obelics_pipeline.core.commit import unit_names
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.inspect.explain.explanation import Explanation
from obelics_pipeline.inspect.explain.facts import facts_of_document
from obelics_pipeline.inspect.explain.in_run import InRun, fates_of
from obelics_pipeline.stages.read.page import Skipped
from tests.stages.dedup.planted import Maker, config_of, run_job, write_units
from tests.stages.site.farms import Corpus, judge, neighbours, run
from tests.stages.site.farms import config_of as site_config
from tests.stages.site.test_shares import doorways


def test_a_document_is_told_what_it_duplicates_and_where_its_paragraph_is_first(tmp_path: Path) -> None:
    maker = Maker(3)
    maker.clean(2)
    maker.near_copies(3, changed=2)
    maker.boilerplate(4)
    planted, folder = maker.planted, RunFolder(tmp_path)
    [unit] = write_units(planted.documents, folder.extract, 100)
    with LocalEngine(1, tmp_path, 60) as engine:
        run_job(engine, tmp_path, [unit], config_of())
    fates = fates_of(folder, unit.unit, [document.doc_id for document in planted.documents])
    assert {doc_id: fate.duplicate for doc_id, fate in fates.items() if fate.duplicate} == planted.duplicates
    assert {doc_id for doc_id, fate in fates.items() if fate.shard is None} == planted.duplicates.keys()
    lost = {}
    for doc_id, fate in fates.items():
        assert fate.extracted is not None
        deduplicated = fate.after("dedup")
        assert deduplicated is not None
        for node in deduplicated.nodes:
            if isinstance(node, TextNode) and node.reason == "repeated_paragraph":
                lost[doc_id] = (node.text, node.duplicate_of)
    assert {doc_id: text for doc_id, (text, _) in lost.items()} == planted.paragraphs
    [first] = {of for _, of in lost.values()}
    assert first in planted.paragraphs


def test_a_document_is_told_what_its_site_says(tmp_path: Path) -> None:
    corpus, config = Corpus(3), site_config(site={"document": {"site_documents": {"max": 2}}})
    pages = [corpus.page(f"https://large.example/{i}", 0.9) for i in range(3)]
    run(corpus, tmp_path, config)
    folder = RunFolder(tmp_path)
    [unit] = unit_names(folder.extract)
    fates = fates_of(folder, unit, [page.doc_id for page in pages])
    record = Skipped("x", False, 0, 1)
    explanation = Explanation("x", record, config, None, pages, fates=fates)
    _, scores = facts_of_document(explanation, pages[0])
    told = {row[0]: row[1:] for row in scores.rows}
    assert told["site_documents"] == ("3", "<= 2", "DROPS")
    assert told["farm_score_in_site"][1:] == ("no bound", "ok")
    fate, _ = facts_of_document(Explanation("x", record, config, None, pages, in_run=seen(unit), fates=fates), pages[0])
    assert ("on its site", "dropped: site_documents") in fate.rows


def test_a_document_is_told_what_it_shares(tmp_path: Path) -> None:
    corpus = Corpus(4)
    neighbours(corpus)
    pages = doorways(corpus)
    judge(corpus, tmp_path, site_config())
    folder = RunFolder(tmp_path)
    [unit] = unit_names(folder.extract)
    fates = fates_of(folder, unit, [page.doc_id for page in pages])
    explanation = Explanation("x", Skipped("x", False, 0, 1), site_config(), None, pages, fates=fates)
    shared = next(
        facts for facts in facts_of_document(explanation, pages[0]) if facts.title == "shared with other pages"
    )
    assert {row[:2] for row in shared.rows} == {("skeleton", "8 pages of its site, 1 sites")}


def seen(unit: str) -> InRun:
    return InRun(unit, None, "made.warc.gz", 0, 1, "kept", None)
