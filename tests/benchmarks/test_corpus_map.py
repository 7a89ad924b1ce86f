"""The benchmark of the map must see what is lost of neighbours."""

import numpy as np
import pytest

pytest.importorskip("openTSNE")
pytest.importorskip("sklearn")

from benchmarks.corpus_map import kept, made_texts, nearest_of, run, topics_of


def test_a_map_of_made_up_topics_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    topics = topics_of(400) % 4
    run(400, made_texts(topics.tolist()), topics, 1)
    last = capsys.readouterr().out.splitlines()[-1]
    assert float(last.split()[7]) > 0.9


def test_neighbours_that_are_lost_are_counted() -> None:
    line = np.arange(20, dtype=np.float32)[:, None]
    rows = np.arange(5, 15)
    near = nearest_of(rows, line, 2)
    assert (np.sort(near, axis=1) == np.stack([rows - 1, rows + 1], axis=1)).all()
    assert kept(near, near) == 1.0
    assert kept(near, np.stack([rows - 1, rows + 2], axis=1)) == 0.5
