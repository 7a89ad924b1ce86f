"""How many threads a CPU computes with."""

from __future__ import annotations


def use_threads(number: int) -> None:
    """Let torch compute with this many in this process. How it splits a sum depends on them, so they are never its own
    choice where two machines must agree."""
    import torch

    torch.set_num_threads(number)
