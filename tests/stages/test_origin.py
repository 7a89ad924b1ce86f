"""Where a stage of a user's own is found."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.origin import origin_of


def test_an_installed_stage_is_found_by_the_name_of_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "somebodys_stage.py").write_text("STAGE = 'theirs'\n")
    facts = tmp_path / "somebodys_stage-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-stage\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[obelics_pipeline.stages]\ntheirs = somebodys_stage:STAGE\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    origin = origin_of("theirs")
    assert (origin.module, origin.load()) == ("somebodys_stage", "theirs")
    with pytest.raises(UserError, match=r"installed: .*theirs"):
        origin_of("others")
