"""Megatron-Energon prepares the folder by its own command, and its loader gives texts and pictures in their order."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from obelics_pipeline.inspect.exported.command import export_files
from obelics_pipeline.inspect.exported.energon_folder import ENERGON
from tests.inspect.exported.documents import of_shards


@pytest.fixture(scope="module")
def folder(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("energon") / "out"
    export_files(small_run, folder, ENERGON, shards=2, workers=1)
    return folder


def test_the_data_set_is_described_as_crude_and_a_cooker_lies_beside(folder: Path) -> None:
    assert yaml.safe_load((folder / ".nv-meta/dataset.yaml").read_text("utf-8"))["__class__"] == "CrudeWebdataset"
    compile((folder / "cooker.py").read_text("utf-8"), "cooker.py", "exec")


@pytest.fixture(scope="module")
def prepared(folder: Path) -> Path:
    """The folder after the command that the export prints, without the name of the program."""
    pytest.importorskip("torch")
    pytest.importorskip("megatron.energon")
    arguments = ENERGON.opens(folder).split()[1:]
    program = [sys.executable, "-m", "megatron.energon.cli.main", *arguments, "--num-workers", "1"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def cooker_of(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("cooker", folder / "cooker.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loaded(folder: Path, encoder: Any) -> Iterator[Any]:
    from megatron.energon import WorkerConfig, get_loader, get_train_dataset

    dataset = get_train_dataset(
        folder,
        worker_config=WorkerConfig(rank=0, world_size=1, num_workers=0),
        batch_size=None,
        shuffle_buffer_size=None,
        max_samples_per_sequence=None,
        task_encoder=encoder,
        repeat=False,
    )
    return iter(get_loader(dataset))


def test_energon_finds_texts_and_picture_bytes_of_the_shards(small_run: Path, prepared: Path) -> None:
    from megatron.energon import Cooker, DefaultTaskEncoder, TextSample, basic_sample_keys, stateless

    cooker = cooker_of(prepared)
    bytes_of = {}

    @stateless
    def cook(sample: dict[str, Any]) -> TextSample:
        bytes_of[sample["json"]["doc_id"]] = cooker.sequence_of(sample)
        return TextSample(**basic_sample_keys(sample), text=sample["json"]["doc_id"])

    class Encoder(DefaultTaskEncoder):  # type: ignore[misc]
        cookers = [Cooker(cook, has_subflavors={"layout": "obelics-interleaved"})]

    found = {sample.text: bytes_of[sample.text] for sample in loaded(prepared, Encoder())}
    assert found == {
        document.doc_id: [
            text or picture for text, picture in zip(document.texts, document.pictures, strict=True) if text or picture
        ]
        for document in of_shards(small_run)
    }


def test_the_cooker_gives_texts_and_tensors_in_the_order_of_the_page(small_run: Path, prepared: Path) -> None:
    cooker = cooker_of(prepared)
    found = {
        sample.__key__.rsplit("/", 1)[-1]: sample.sequence for sample in loaded(prepared, cooker.InterleavedEncoder())
    }
    assert len(found) == 12
    for document in of_shards(small_run):
        expected = [
            text or cooker.tensor_of(picture)
            for text, picture in zip(document.texts, document.pictures, strict=True)
            if text or picture
        ]
        sequence = found[document.doc_id]
        assert [part if isinstance(part, str) else part.tolist() for part in sequence] == [
            part if isinstance(part, str) else part.tolist() for part in expected
        ]
