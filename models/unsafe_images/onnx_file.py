"""A file of ONNX as a network. It is read as data: no operators of others are registered, and no other file is read."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.unsafe_images.classifier import Outputs

MAX_BYTES = 2**31 - 1  # of one file of protobuf; larger models keep weights in other files, which are not read
OTHER_FILES = "session.model_external_initializers_file_folder_path"  # the folder that it keeps to
CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}

Channels = tuple[float, float, float]


@dataclass(frozen=True)
class Input:
    """What the file wants: the name of its input, its type, its shape (None where any number will do)."""

    name: str
    kind: Any
    shape: tuple[int | None, ...]

    @property
    def channels_last(self) -> bool:
        """Whether the shape says (n, height, width, 3)."""
        return len(self.shape) == 4 and self.shape[3] == 3 and self.shape[1] != 3

    @property
    def side(self) -> int | None:
        """Pixels of its square, where the shape has a number."""
        if len(self.shape) != 4:
            return None
        return self.shape[1 if self.channels_last else 2]


class OnnxFile:
    """A session of ONNX Runtime with one input and, of its outputs, the first."""

    def __init__(self, path: Path, sha256: str | None, device: str, threads: int, setting: str) -> None:
        """Raises UserError for a file that is missing, another than expected, or no such model.

        `setting` is where the config names it.
        """
        content = _content(path, sha256, setting)
        self._session = _session(content, path, device, threads, setting)
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or inputs[0].type not in TYPES:
            what = f"{len(inputs)} inputs" if len(inputs) != 1 else f"an input of type {inputs[0].type}"
            raise UserError(f"{setting}: {path} has {what}; it must have one of {', '.join(TYPES)}")
        shape = tuple(n if isinstance(n, int) and n > 0 else None for n in inputs[0].shape)
        self.input = Input(inputs[0].name, TYPES[inputs[0].type], shape)
        self.outputs: int | None = _last(self._session.get_outputs()[0].shape)

    def run(self, values: npt.NDArray[Any]) -> Outputs:
        """Its first output, a row for each value. A file made for a fixed number of images is given that many."""
        fixed = self.input.shape[0] if self.input.shape else None
        if fixed is None:
            return self._run(values)
        rows = []
        for start in range(0, len(values), fixed):
            part = values[start : start + fixed]
            filled = np.concatenate([part, np.repeat(part[-1:], fixed - len(part), axis=0)])
            rows.append(self._run(filled)[: len(part)])
        return np.concatenate(rows)

    def _run(self, values: npt.NDArray[Any]) -> Outputs:
        [output] = self._session.run([self._session.get_outputs()[0].name], {self.input.name: values})
        found = np.asarray(output, np.float32)
        return found.reshape(len(values), -1) if found.size and len(found) == len(values) else found


@dataclass(frozen=True)
class OnnxPixels:
    """The file as a network of pictures: colours scaled to 0 to 1, then less `mean`, by `std`."""

    file: OnnxFile
    mean: Channels
    std: Channels
    channels_last: bool

    def __call__(self, pictures: Sequence[Picture]) -> Outputs:
        """The outputs for some pictures of one size."""
        raw = np.stack(pictures)
        if self.file.input.kind is np.uint8:
            values: npt.NDArray[Any] = raw
        else:
            values = (raw.astype(np.float32) / 255 - np.array(self.mean, np.float32)) / np.array(self.std, np.float32)
        ordered = values if self.channels_last else np.ascontiguousarray(values.transpose(0, 3, 1, 2))
        return self.file.run(ordered.astype(self.file.input.kind, copy=False))


def _content(path: Path, sha256: str | None, setting: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UserError(f"{setting}.model: {path}: {size:,} bytes are too many for a file of ONNX")
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{setting}.model: {path} cannot be read: {error.strerror}") from None
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise UserError(
            f"{setting}.model: {path} is damaged or another file: its sha256 is {found}, {sha256} is "
            "expected; fetch it again"
        )
    return content


def _session(content: bytes, path: Path, device: str, threads: int, setting: str) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise UserError(f"{setting}.model: {path} needs onnxruntime; pip install 'obelics-pipeline[safety]'") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # its log would go to the terminal past ours
    on = providers(device, setting)
    try:
        with tempfile.TemporaryDirectory() as empty:  # where weights in other files are looked for, and are not
            options.add_session_config_entry(OTHER_FILES, empty)
            return onnxruntime.InferenceSession(content, options, providers=on)
    except Exception as error:  # many kinds of its own: of protobuf, of operators, of the device
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{setting}.model: {path} is no model that can be run: {reason}") from None


def providers(device: str, setting: str) -> list[Any]:
    """ONNX Runtime's words for a device. Raises UserError where this build of it has none such."""
    import onnxruntime

    kind, _, number = device.partition(":")
    there = CUDA in onnxruntime.get_available_providers()
    if kind == "cpu" or (kind == "auto" and not there):
        return [CPU]
    if kind not in ("auto", "cuda") or (number and not number.isdigit()):
        raise UserError(f"{setting}.device: {device}: valid are auto, cpu, cuda, cuda:N")
    if not there:
        raise UserError(
            f"{setting}.device: {device}: this onnxruntime is built without CUDA; install "
            "onnxruntime-gpu in its place, or set cpu"
        )
    return [(CUDA, {"device_id": int(number or 0), "use_tf32": 0}), CPU]


def _last(shape: Any) -> int | None:
    return shape[-1] if isinstance(shape, list) and len(shape) > 1 and isinstance(shape[-1], int) else None
