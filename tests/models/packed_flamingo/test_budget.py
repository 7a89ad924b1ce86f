from __future__ import annotations

import pytest

from tests.models.packed_flamingo.small import flamingo

pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.budget import budget


def test_parts_add_up_to_all_parameters() -> None:
    model = flamingo(unfreeze=("vision.*norm*",))
    *parts, everything = budget(model)
    assert everything.parameters == sum(p.numel() for p in model.parameters()) == sum(r.parameters for r in parts)
    assert everything.trainable == sum(p.numel() for p in model.trainable().values()) == sum(r.trainable for r in parts)
    by_name = {row.part: row for row in parts}
    assert by_name["language model"].trainable == 0
    assert 0 < by_name["vision"].trainable < by_name["vision"].parameters
    assert by_name["added tokens"].trainable == by_name["added tokens"].parameters == 2 * 3 * 32
