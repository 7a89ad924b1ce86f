"""A map must be the same for the same documents, and lay out together what is alike."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import make_doc_id
from obelics_pipeline.inspect.map.make import make_map
from obelics_pipeline.inspect.map.region import describe, ids_inside, mask_of
from obelics_pipeline.inspect.map.stored import read_map
from obelics_pipeline.inspect.map.words import count_words
from obelics_pipeline.inspect.run_tables.documents import document_table

from .planted import made_document, run_folder, topic_text

pytest.importorskip("openTSNE")
pytest.importorskip("sklearn")

from obelics_pipeline.inspect.map.project import project
from obelics_pipeline.inspect.map.projected import Projected

TOPICS, EACH = 5, 60
JUNK = 4  # the topic whose documents have a score of their own


def placed(texts: list[str], threads: int = 1) -> Projected:
    return project(count_words(texts), ["en"] * len(texts), threads, lambda *_: None)


def planted() -> list[str]:
    return [topic_text(i % TOPICS, i) for i in range(TOPICS * EACH)]


def test_documents_of_one_topic_are_neighbours() -> None:
    found = placed(planted()).points
    apart = ((found[:, None] - found[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :10]
    topic = np.arange(len(found)) % TOPICS
    assert (topic[near] == topic[:, None]).mean() > 0.95


def test_threads_change_no_bit() -> None:
    one, three = placed(planted(), 1), placed(planted(), 3)
    assert one.points.tobytes() == three.points.tobytes()
    assert one.cells.tobytes() == three.cells.tobytes() and one.labels == three.labels


CODE = """
import hashlib
from tests.inspect.map.test_map import placed, planted
found = placed(planted())
print(hashlib.sha256(found.points.tobytes() + repr(found.labels).encode()).hexdigest())
"""


def test_neither_hashes_nor_threads_of_other_processes_change_it() -> None:
    def printed(seed: str) -> str:
        given = os.environ | {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": seed, "OMP_NUM_THREADS": seed}
        given |= {"PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), *sys.path]))}
        done = subprocess.run([sys.executable, "-c", CODE], env=given, capture_output=True, text=True, check=True)
        return done.stdout

    assert printed("1") == printed("2")


@pytest.mark.parametrize("texts", [[], [""], ["one"], ["one", ""], ["one", "one"], ["one two", "two three", "four"]])
def test_few_documents_have_a_place_each_if_they_have_words(texts: list[str]) -> None:
    found = placed(texts)
    assert found.points.shape == (len(texts), 2)
    assert np.isfinite(found.points[:, 0]).tolist() == [bool(text) for text in texts]
    assert ((found.cells >= 0) == np.isfinite(found.points[:, 0])).all()
    assert sum(label.documents for label in found.labels) == sum(map(bool, texts))


@pytest.mark.parametrize("text", ["word", "the same words in each of them"])
@pytest.mark.parametrize("n", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_same_texts_are_a_region_and_not_one_point(text: str, n: int) -> None:
    found = placed([text] * n)
    assert np.isfinite(found.points).all()
    assert len(np.unique(found.points, axis=0)) > 0.9 * n
    assert np.ptp(found.points, axis=0).min() > 1


def test_labels_are_words_of_the_topic_at_a_document_of_the_cell() -> None:
    texts = planted()
    found = placed(texts)
    for label in found.labels:
        within = np.flatnonzero(found.cells == label.cell)
        assert label.documents == len(within)
        assert (found.points[within] == [label.x, label.y]).all(axis=1).any()
        topics = within % TOPICS
        main_topic = int(np.bincount(topics).argmax())
        words = set(" ".join(topic_text(main_topic, i) for i in range(50)).split())
        common = set.intersection(*(set(" ".join(topic_text(t, i) for i in range(50)).split()) for t in (0, 1)))
        if (topics == main_topic).mean() > 0.9:
            assert set(label.words[:3]) <= words - common


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents = [
        made_document(i, text, 500.0 if i % TOPICS == JUNK else float(i % 90)) for i, text in enumerate(planted())
    ]
    path = tmp_path_factory.mktemp("run")
    run_folder(path, [documents[:100], [*documents[100:], made_document(999, "")]])
    return path


def test_the_command_makes_it_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", str(folder)]) == 0
    first = capsys.readouterr().out.splitlines()
    assert first[0] == "301 of 301 documents in 7 cells; 1 have no words"
    assert first[-1] == f"wrote {folder / 'map'}"
    before = (folder / "map/points.parquet").stat().st_mtime_ns
    assert main(["map", str(folder)]) == 0
    assert "was there already" in capsys.readouterr().out
    assert (folder / "map/points.parquet").stat().st_mtime_ns == before
    points = pq.read_table(folder / "map/points.parquet")
    assert points["doc_id"].to_pylist() == sorted(points["doc_id"].to_pylist())
    assert points["x"].null_count == points["y"].null_count == points["cell"].null_count == 1


def test_how_documents_are_dealt_to_files_changes_nothing(folder: Path, tmp_path: Path) -> None:
    documents = [made_document(i, text) for i, text in enumerate(planted())] + [made_document(999, "")]
    random.Random(3).shuffle(documents)
    other = make_map(run_folder(tmp_path, [documents[:7], documents[7:]])).map
    made = make_map(run_folder(folder, [])).map
    assert other.points.equals(made.points) and other.labels.equals(made.labels)


def test_it_is_made_anew_where_documents_changed(tmp_path: Path) -> None:
    texts = planted()[:40]
    documents = [made_document(i, text) for i, text in enumerate(texts)]
    folder = run_folder(tmp_path, [documents])
    assert make_map(folder).fresh and not make_map(folder).fresh
    run_folder(tmp_path, [documents, [made_document(77, topic_text(1, 77))]])
    made = make_map(folder)
    assert made.fresh and len(made.map.points) == 41
    assert make_map(folder, at_most=20).fresh
    ids = sorted(make_doc_id("a.warc", i) for i in [*range(40), 77])[:20]
    assert make_map(folder, at_most=20).map.points["doc_id"].to_pylist() == ids


def test_files_of_two_maps_are_no_map(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, [[made_document(i, text) for i, text in enumerate(planted()[:30])]])
    make_map(folder, at_most=20)
    labels = (tmp_path / "map/labels.parquet").read_bytes()
    make_map(folder, at_most=25)
    (tmp_path / "map/labels.parquet").write_bytes(labels)
    assert read_map(folder) is None


def test_a_region_of_junk_is_found_and_has_its_rule(folder: Path) -> None:
    run = run_folder(folder, [])
    made, documents = make_map(run).map, document_table(run)
    junk = {make_doc_id("a.warc", i) for i in range(TOPICS * EACH) if i % TOPICS == JUNK}
    rows = [row for row in made.points.to_pylist() if row["doc_id"] in junk]
    left, right = (float(np.quantile([row["x"] for row in rows], q)) for q in (0.02, 0.98))
    low, high = (float(np.quantile([row["y"] for row in rows], q)) for q in (0.02, 0.98))
    chosen = ids_inside(made, [(left, low), (right, low), (right, high), (left, high)])
    assert len(junk.intersection(chosen)) > 50 and len(set(chosen) - junk) < 5
    found = describe(documents, mask_of(documents, junk))
    assert (found.documents, found.kept) == (EACH, EACH)
    assert found.rules[0].f1 == 1.0 and found.rules[0].bounds[0].side == "max"
    assert 89 <= found.rules[0].bounds[0].value < 500


def test_the_schema_says_what_it_is_made_of(folder: Path) -> None:
    make_map(run_folder(folder, []))
    of = [pq.read_schema(folder / f"map/{name}.parquet").metadata[b"obelics_map"] for name in ("points", "labels")]
    assert of[0] == of[1] and len(of[0]) == 64
