"""What a run's folder tells of a document: what it lost to the corpus, and what it is a duplicate of."""

from pathlib import Path

from obelics_pipeline.document import TextNode
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.explain.in_run import fates_of
from obelics_pipeline.folder import RunFolder
from tests.dedup.planted import Maker, config_of, run_job, write_units


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
        assert fate.deduplicated is not None
        for node in fate.deduplicated.nodes:
            if isinstance(node, TextNode) and node.reason == "repeated_paragraph":
                lost[doc_id] = (node.text, node.of)
    assert {doc_id: text for doc_id, (text, _) in lost.items()} == planted.paragraphs
    [first] = {of for _, of in lost.values()}
    assert first in planted.paragraphs
