from __future__ import annotations

import pytest

from tests.models.packed_flamingo.small import settings

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.resampler import Resampler


def made() -> Resampler:
    torch.manual_seed(0)
    resampler = Resampler(settings(), 24)
    with torch.no_grad():
        resampler.latents.normal_()
    return resampler.eval()


def test_features_that_are_not_real_change_nothing() -> None:
    resampler, features = made(), torch.randn(3, 10, 24)
    real = torch.arange(10) < torch.tensor([4, 10, 7])[:, None]
    other = torch.where(real[..., None], features, torch.full_like(features, 50.0))
    with torch.no_grad():
        one, two = resampler(features, real), resampler(other, real)
        assert torch.allclose(one, two, atol=1e-6)
        assert torch.allclose(one[0], resampler(features[:1, :4])[0], atol=1e-5)


def test_images_know_nothing_of_each_other() -> None:
    resampler, features = made(), torch.randn(5, 6, 24)
    order = torch.tensor([3, 0, 4, 2, 1])
    with torch.no_grad():
        together = resampler(features)
        assert torch.allclose(together[order], resampler(features[order]), atol=1e-6)
        for i in range(5):
            assert torch.allclose(together[i], resampler(features[i : i + 1])[0], atol=1e-5)


def test_any_number_of_features_gives_as_many_latents() -> None:
    assert {tuple(made()(torch.randn(2, n, 24)).shape) for n in (1, 6, 50)} == {(2, 4, 24)}
