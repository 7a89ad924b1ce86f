"""Which GPUs there are is read from the environment or from device files, and processes take them in turn."""

from pathlib import Path

import pytest

from obelics_pipeline.engines.gpus import gpus, of_its_own


def test_device_files_are_counted_where_nobody_says_what_is_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name in ("nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert gpus(tmp_path) == ["0", "1"]  # CUDA counts those that it sees
    assert gpus(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("named", "found"), [("", []), ("-1", []), ("2", ["2"]), ("GPU-a, 1", ["GPU-a", "1"]), ("0,-1,1", ["0"])]
)
def test_what_is_visible_is_read_as_cuda_reads_it(
    named: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert gpus() == found


def test_each_process_has_one_and_those_beyond_the_last_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert [of_its_own(number)["CUDA_VISIBLE_DEVICES"] for number in range(3)] == ["5", "7", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert of_its_own(0) == {}
