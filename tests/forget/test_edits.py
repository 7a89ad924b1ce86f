"""What is left of counted keys once a document is forgotten."""

import pyarrow as pa

from obelics_pipeline.forget.edits import without_keys
from obelics_pipeline.stages.site.keys import PASSAGES
from obelics_pipeline.stages.site.sharing import KEYS


def test_keys_that_only_a_forgotten_document_has_go_and_shared_ones_stay() -> None:
    rows = [
        {"site": 1, "sentences": [10, 11], "skeletons": [20]},
        {"site": 2, "sentences": [11, 12], "skeletons": None},
        {"site": None, "sentences": [13], "skeletons": [20]},
    ]
    before, after = (pa.Table.from_pylist(some, PASSAGES) for some in (rows, rows[1:]))
    counted = pa.Table.from_pylist(
        [
            {"bucket": 0, "kind": kind, "key": key, "site": 1, "documents": 1, "partition": "a"}
            for kind, key in ((0, 1), (0, 2), (1, 10), (1, 11), (1, 12), (2, 20))
        ],
        KEYS,
    )
    assert without_keys(counted, before, after)["key"].to_pylist() == [2, 11, 12, 20]
    assert without_keys(counted, before, before).equals(counted)
