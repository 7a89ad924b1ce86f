"""A folder belongs to one config and to one run at a time."""

from pathlib import Path
from random import Random

import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import FORMAT, RunFolder
from obelics_pipeline.core.storage import write_bytes
from tests.faults.failing_disk import Disk, watched


def test_a_new_folder_is_taken(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "out")
    with folder.locked():
        assert folder.differing("default", RunConfig(), force=False) == []
        folder.claim("default", RunConfig())
        assert folder.config.exists()


def test_a_folder_that_is_not_a_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    folder = RunFolder(tmp_path)
    with folder.locked(), pytest.raises(UserError, match=r"it holds thesis.tex"):
        folder.differing("default", RunConfig(), force=False)


def test_the_output_of_another_config_is_refused_unless_forced(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig())
        with pytest.raises(UserError, match="holds the output of config default, not of obelics"):
            folder.differing("obelics", RunConfig(), force=False)
        folder.differing("obelics", RunConfig(), force=True)


@pytest.mark.parametrize("noted", ['{"config": "default"}', '{"config": "default", "format": 99}'])
def test_a_folder_of_another_version_is_refused_in_one_line(tmp_path: Path, noted: str) -> None:
    (tmp_path / "run.json").write_text(noted)
    refused = rf"{tmp_path}: was written by another version .*this version reads format {FORMAT}: .* new folder$"
    with pytest.raises(UserError, match=refused):
        RunFolder(tmp_path).refuse_other_format()
    with pytest.raises(UserError, match=refused):
        RunFolder(tmp_path).differing("default", RunConfig(), force=True)


def test_a_folder_of_this_version_or_of_no_run_is_not_refused(tmp_path: Path) -> None:
    RunFolder(tmp_path).refuse_other_format()
    RunFolder(tmp_path).claim("default", RunConfig())
    RunFolder(tmp_path).refuse_other_format()


def test_a_changed_value_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig())
        changed = RunConfig.model_validate({"fetch": {"threads": 3}})
        assert folder.differing("default", changed, force=False) == ["fetch.threads: 32 -> 3"]


def test_a_folder_of_a_sample_that_becomes_one_of_everything_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig(), sample=0.1)
        assert folder.differing("default", RunConfig(), force=False, sample=0.1) == []
        assert folder.differing("default", RunConfig(), force=False) == ["--sample: 0.1 -> all"]
        folder.claim("default", RunConfig())
        assert folder.differing("default", RunConfig(), force=False, sample=0.2) == ["--sample: all -> 0.2"]


def test_another_run_to_be_added_to_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig(), against=["b", "a"])
        assert folder.differing("default", RunConfig(), force=False, against=["a", "b"]) == []
        assert folder.differing("default", RunConfig(), force=False) == ["--against: a, b -> none"]


def test_secrets_are_neither_written_nor_compared(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    secret = {"s3": {"key": "AKIAPLANTED", "secret": "planted-1", "client_kwargs": {"region_name": "eu-1"}}}
    config = RunConfig.model_validate({"reading": {"storage_options": secret}})
    del secret["s3"]["secret"]
    with folder.locked():
        folder.claim("default", config)
        written = folder.config.read_text()
        assert "region_name: eu-1" in written
        assert "planted" not in written.lower()
        assert folder.differing("default", config, force=False) == []
        less = RunConfig.model_validate({"reading": {"storage_options": secret}})
        assert folder.differing("default", less, force=False) == []


def test_a_config_with_secrets_from_before_is_compared_without_them(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.claim("default", RunConfig())
    text = folder.config.read_text()
    assert "storage_options: {}" in text
    folder.config.write_text(text.replace("storage_options: {}", "storage_options: {s3: {secret: planted-1}}"))
    assert folder.differing("default", RunConfig(), force=False) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
@pytest.mark.parametrize("name", ["run.json", "inputs.json"])
def test_a_damaged_note_is_one_line_that_says_what_to_do(tmp_path: Path, name: str, damage: bytes) -> None:
    folder = RunFolder(tmp_path)
    folder.claim("default", RunConfig())
    folder.note_inputs({"a": "1"})
    (tmp_path / name).write_bytes(damage)
    with pytest.raises(UserError, match=rf"{name}: is damaged .*; remove it") as raised:
        folder.differing("default", RunConfig(), force=False)
        folder.changed_inputs({"a": "1"})
    assert "\n" not in str(raised.value)


def test_a_damaged_config_is_one_difference(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.claim("default", RunConfig())
    folder.config.write_bytes(b"\xff: [")
    (line,) = folder.differing("default", RunConfig(), force=False)
    assert "config.yaml: damaged" in line


def test_two_runs_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).locked(),
        pytest.raises(UserError, match="another run is working there"),
        RunFolder(tmp_path).locked(),
    ):
        pass


def test_a_replaced_input_is_noticed_until_the_new_state_is_noted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.changed_inputs({"a": "1", "b": "1"}) == set()
    folder.note_inputs({"a": "1", "b": "1"})
    assert folder.changed_inputs({"a": "2", "b": "1"}) == {"a"}
    assert folder.changed_inputs({"a": "2", "b": "1"}) == {"a"}
    folder.note_inputs({"a": "2", "b": "1"})
    assert folder.changed_inputs({"a": "2", "b": "1", "c": "1"}) == set()
    assert folder.differing_inputs({"a": "3", "c": "1"}) == [
        "--input: 1 new (c)",
        "--input: 1 no longer named (b)",
        "--input: 1 replaced (a)",
    ]


def test_the_output_of_other_input_is_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.note_inputs({"a": "1"})
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


def test_another_code_of_a_stage_is_told(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig(), code={"extract": "1", "shard": "1"})
        same = folder.differing("default", RunConfig(), force=False, code={"extract": "1", "shard": "1"})
        other = folder.differing("default", RunConfig(), force=False, code={"extract": "2", "shard": "1"})
        folder.claim("default", RunConfig())  # as a version did that noted none
        unknown = folder.differing("default", RunConfig(), force=False, code={"extract": "1"})
    told = "code of extract: another version of this package, a library or Python"
    assert (same, other, unknown) == ([], [told], [told])


@pytest.mark.parametrize("name", ["run.json", "inputs.json"])
def test_a_bit_that_flips_in_a_note_is_told(tmp_path: Path, name: str) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked():
        folder.claim("default", RunConfig())
        folder.note_inputs({"a.warc": "1"})
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data.replace(b"default", b"defaumt").replace(b"a.warc", b"b.warc"))
    with pytest.raises(UserError, match=rf"{name}: is damaged"):
        folder.differing("default", RunConfig(), force=False)
        folder.differing_inputs({"a.warc": "1"})


def test_an_output_below_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written to"), RunFolder(tmp_path / "file" / "out").locked():
        pass


def test_a_power_cut_takes_no_tar_of_a_validated_run(tmp_path: Path) -> None:
    folder, disk = RunFolder(tmp_path), Disk(tmp_path)
    with watched(disk):
        names = "shard-000000.tar", "manifests/shard-000000.json", "index/shard-000000.parquet"
        for path in (folder.shards / name for name in names):
            write_bytes(path, b"rows")
        write_bytes(folder.manifest, b"{}")
        folder.sync_results()
        folder.mark_validated()
    assert [line for seed in range(10) for line in disk.cut_power(Random(seed))] == []
    assert folder.is_validated()


def test_a_folder_in_which_a_run_was_killed_at_once_is_no_strangers(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.events.touch()
    assert folder.differing("default", RunConfig(), force=False) == []
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(UserError, match=r"it holds thesis\.txt"):
        folder.differing("default", RunConfig(), force=False)


def test_a_damaged_note_that_a_run_is_validated_is_none(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.manifest.write_bytes(b"{}")
    folder.mark_validated()
    folder.validated.write_bytes(b"\xe6" + folder.validated.read_bytes()[1:])
    assert not folder.is_validated()
