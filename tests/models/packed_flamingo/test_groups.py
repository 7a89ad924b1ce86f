from __future__ import annotations

import pytest

from obelics_pipeline.models.packed_flamingo.tiny import Kind
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.groups import groups


@pytest.mark.parametrize("kind", ["llama", "opt", "gpt_neox", "mpt", "gpt2"])
def test_each_layer_has_every_kind_and_each_module_is_called(kind: Kind) -> None:
    model = flamingo(kind)
    found = groups(model)
    modules = dict(model.named_modules())
    assert found.keys() <= modules.keys()
    for layer in range(2):
        kinds = {k for number, k in found.values() if number == layer}
        assert {"q", "k", "v", "o", "fc1", "fc2", "gate", "lm_q", "lm_o", "lm_fc1", "lm_fc2"} <= kinds
    assert {(0, "vision"), (2, "head"), (0, "embedding"), (0, "resampler"), (1, "resampler")} <= set(found.values())
    called = set()
    handles = [modules[name].register_forward_hook(lambda *_, name=name: called.add(name)) for name in found]
    with torch.no_grad():
        model(batch(model.vocabulary, [[[TEXTS[0], 1]]]), "loss")
    for handle in handles:
        handle.remove()
    assert called == found.keys()
