"""open_flamingo's own `train.py`, unchanged, with the arguments given; on a CPU one call in it is wrapped.

    torchrun --nproc_per_node 1 run_train.py --mmc4_shards ... (as train.py)

On a CPU `DDP(model, device_ids=[device])` raises, so there the argument is left out. The losses are noted as the model
returns them, one line per call, because train.py shows none without an account at wandb.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

from trainer import train_folder  # first: it makes torchvision load, which the others import

# isort: split
import torch
from torch.nn import parallel

Real = parallel.DistributedDataParallel


class OnCpu(Real):
    """DDP without a device, and a line per loss."""

    def __init__(self, module: Any, device_ids: Any = None, **options: Any) -> None:
        if torch.cuda.is_available():
            options["device_ids"] = device_ids
        super().__init__(module, **options)

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """As its base."""
        out = super().forward(*inputs, **options)
        kind = "mmc4" if options["vision_x"].shape[1] > 1 else "laion"
        ids = options["lang_x"]
        print(f"loss {kind} {out[0].item():.6f} documents {len(ids)} tokens {ids.shape[1]}", flush=True)
        return out


parallel.DistributedDataParallel = OnCpu
folder = train_folder()
sys.path.insert(0, str(folder))
sys.argv[0] = str(folder / "train.py")
runpy.run_path(sys.argv[0], run_name="__main__")
