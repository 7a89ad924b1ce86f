"""A file of a detector tells of which kind it is, and the package ships some of each kind."""

from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.farm_heads.kinds import KINDS, kind_of
from tests.models.chat_detector.small import detector as chat
from tests.models.coherence_detector.small import detector as coherence
from tests.models.farm_detector.small import detector as network
from tests.models.wording_detector.small import detector as wording
from tests.models.wording_detector.small import phrasing_detector as phrasing

SMALL = {"network": network, "wording": wording, "chat": chat, "coherence": coherence, "phrasing": phrasing}


@pytest.mark.parametrize("name", SMALL)
def test_a_file_is_of_the_kind_that_wrote_it(name: str, tmp_path: Path) -> None:
    SMALL[name]().save(tmp_path / "small.npz")
    assert kind_of(str(tmp_path / "small.npz")).name == name


def test_the_package_ships_a_detector_of_every_kind_and_its_file_is_of_that_kind() -> None:
    assert {kind.name for kind in KINDS} == set(SMALL)
    for kind in KINDS:
        assert ("de" if kind.name == "phrasing" else "en") in kind.bundled()
        assert {kind_of(path).name for path in kind.bundled().values()} == {kind.name}


def test_any_other_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_bytes(b"no archive")
    np.savez(tmp_path / "other.npz", numbers=np.zeros(3))
    for name in ("text.npz", "other.npz", "missing.npz"):
        with pytest.raises(UserError, match=f"^detector .*{name}: cannot be read") as refused:
            kind_of(str(tmp_path / name))
        assert "\n" not in str(refused.value)
