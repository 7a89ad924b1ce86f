"""A folder belongs to one config and to one run at a time."""

from pathlib import Path

import pytest

from obelics_pipeline.config import RunConfig
from obelics_pipeline.errors import UserError
from obelics_pipeline.folder import RunFolder


def test_a_new_folder_is_taken(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "out")
    with folder.locked():
        assert folder.claim("default", RunConfig(), force=False) == []
        assert folder.config.exists()


def test_a_folder_that_is_not_a_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    folder = RunFolder(tmp_path)
    with folder.locked(), pytest.raises(UserError, match=r"it holds thesis.tex"):
        folder.claim("default", RunConfig(), force=False)


def test_the_output_of_another_config_is_refused_unless_forced(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig(), force=False)
        with pytest.raises(UserError, match="holds the output of config default, not of obelics"):
            folder.claim("obelics", RunConfig(), force=False)
        folder.claim("obelics", RunConfig(), force=True)


def test_a_changed_value_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig(), force=False)
        changed = RunConfig.model_validate({"fetch": {"threads": 3}})
        assert folder.claim("default", changed, force=False) == ["fetch.threads: 32 -> 3"]


def test_a_folder_of_a_sample_that_becomes_one_of_everything_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        assert folder.claim("default", RunConfig(), force=False, sample=0.1) == []
        assert folder.claim("default", RunConfig(), force=False, sample=0.1) == []
        assert folder.claim("default", RunConfig(), force=False) == ["--sample: 0.1 -> all"]
        assert folder.claim("default", RunConfig(), force=False, sample=0.2) == ["--sample: all -> 0.2"]


def test_two_runs_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).locked(),
        pytest.raises(UserError, match="another run is working there"),
        RunFolder(tmp_path).locked(),
    ):
        pass


def test_a_replaced_input_is_noticed_once(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.changed_inputs({"a": "1", "b": "1"}) == set()
    assert folder.changed_inputs({"a": "2", "b": "1"}) == {"a"}
    assert folder.changed_inputs({"a": "2", "b": "1", "c": "1"}) == set()
    assert folder.changed_inputs({"c": "2"}) == {"c"}


def test_the_output_of_other_input_is_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.changed_inputs({"a": "1"})
    with pytest.raises(UserError, match="holds the output of other input"):
        folder.refuse_other_input(["b"])
    folder.refuse_other_input(["a", "b"])


def test_a_manifest_counts_as_validated_only_while_it_is_the_one_that_was(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert not folder.is_validated()
    folder.manifest.write_text("one")
    folder.mark_validated()
    assert folder.is_validated()
    folder.manifest.write_text("two")
    assert not folder.is_validated()


def test_an_output_below_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written to"), RunFolder(tmp_path / "file" / "out").locked():
        pass
