"""Where a model runs, and with which type of numbers."""

from __future__ import annotations

from typing import Any

from obelics_pipeline.core.errors import UserError

DTYPES = ("float32", "bfloat16", "float16")


def check_dtype(dtype: str) -> None:
    """Raises `UserError` where it is neither "auto" nor one of `DTYPES`."""
    if dtype not in (*DTYPES, "auto"):
        raise UserError(f"dtype is {dtype}; valid are auto, {', '.join(DTYPES)}")


def chosen_dtype(dtype: str, device: str) -> str:
    """What "auto" means on a device: bfloat16, but float32 on a CPU."""
    return ("float32" if device == "cpu" else "bfloat16") if dtype == "auto" else dtype


def chosen_device(device: str) -> str:
    """The device that is asked for; "auto" is the first GPU where there is one, else the CPU.

    Raises `UserError` where this machine has none such.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for CUDA
        raise UserError(f"device {device}: {str(error).splitlines()[0]}; valid are auto, cpu, cuda, cuda:N") from None
    return device


def cast(model: Any, dtype: Any) -> None:
    """Give all parameters one type, in place; buffers keep theirs, and those of a batch norm become float32.

    Rotary frequencies rounded to bfloat16 are wrong by whole turns at the end of a long document, which
    `model.to(dtype)` would do. A batch norm must have parameters of the type of its running statistics, which are a
    buffer.
    """
    import torch

    for module in model.modules():
        kind = torch.float32 if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) else dtype
        for parameter in module.parameters(recurse=False):
            parameter.data = parameter.data.to(kind)
