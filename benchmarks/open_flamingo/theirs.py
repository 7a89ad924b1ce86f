"""open_flamingo's own model and `train_one_epoch`, unchanged, over batches of its own loader, some steps when asked.

    theirs.py make MODELS TEXTS --width W --layers L       (a language model, its tokenizer and a vision tower)
    theirs.py run MODELS EXPORT --every N --batches N      (one line of JSON per line of input, a number of steps)

Runs in the environment of make_environment.sh; benchmarks/open_flamingo_speed.py starts it. Batches are read before
any step, so that only forward, backward, the clip and the optimiser are timed. LAION batches are of one pair.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import random
import resource
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer import data_module, train_folder  # first: it makes torchvision load, which the others import

# isort: split
import torch
from tiny_models import VISION, make
from torch import nn
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, get_constant_schedule_with_warmup


def make_models(folder: Path, texts: Path, width: int, layers: int) -> None:
    """As tiny_models.py, with a language model of another size."""
    make(folder, [texts.read_text()])
    words = GPTNeoXConfig.from_pretrained(folder / "lm").vocab_size
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 4 * width}
    config = GPTNeoXConfig(vocab_size=words, num_attention_heads=width // 64, **sizes)
    torch.manual_seed(1)
    GPTNeoXForCausalLM(config).save_pretrained(folder / "lm")


class Counted(nn.Module):
    """In the place of DDP: it has `module`, and counts what passes."""

    def __init__(self, module: Any, marks: list[int]) -> None:
        super().__init__()
        self.module, self.marks = module, torch.tensor(marks)
        self.text = self.targets = self.places = self.images = 0

    def forward(self, **given: Any) -> Any:
        """As the model, after counting text tokens, tokens that are predicted, all places, and pictures."""
        ids = given["lang_x"]
        self.text += int((~torch.isin(ids, self.marks)).sum())
        self.targets += int((given["labels"][:, 1:] != -100).sum())
        self.places += ids.numel()
        self.images += given["vision_x"].shape[0] * given["vision_x"].shape[1]
        return self.module(**given)

    def counts(self) -> dict[str, int]:
        """What has passed since it was asked last."""
        found = {"text": self.text, "targets": self.targets, "places": self.places, "images": self.images}
        self.text = self.targets = self.places = self.images = 0
        return found


class Loader:
    """Batches again and again; before each it sees whether a round is over, says so, and waits for the next."""

    def __init__(self, batches: list[Any], model: Counted | None) -> None:
        self.batches, self.model, self.num_batches = batches, model, 10**9

    def __iter__(self) -> Iterator[Any]:
        coming = itertools.cycle(self.batches)
        if self.model is None:
            yield from coming
            return
        while line := sys.stdin.readline():
            self.model.counts()
            began = time.process_time()
            for _ in range(int(line)):
                yield next(coming)
            seconds = time.process_time() - began
            print(json.dumps({"cpu": seconds, "peak": _peak(), **self.model.counts()}), flush=True)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def files(folder: Path, kind: str) -> str:
    """The tars of an export as its arguments name them."""
    last = len(list(folder.glob(f"{kind}-*.tar"))) - 1
    return f"{folder}/{kind}-{{000000..{last:06d}}}.tar"


def options(export: Path, batches: int) -> Namespace:
    """Its train.py's arguments, with its defaults where a value does not matter here."""
    per_batch = 8
    return Namespace(
        mmc4_shards=files(export / "shards", "shard"),
        laion_shards=files(export / "laion", "laion"),
        train_num_samples_mmc4=per_batch * batches,
        train_num_samples_laion=batches,
        batch_size_mmc4=per_batch,
        batch_size_laion=1,
        mmc4_textsim_threshold=30,
        mmc4_max_num_images=6,
        mmc4_min_num_images=1,
        workers=1,
        world_size=1,
        rank=0,
        seed=42,
        dataset_resampled=True,
        num_epochs=1,
        precision="fp32",
        fsdp=False,
        freeze_lm_embeddings=False,
        gradient_accumulation_steps=1,
        loss_multiplier_laion=0.2,
        loss_multiplier_mmc4=1.0,
        report_to_wandb=False,
        logging_steps=10**9,
    )


def run(models: Path, export: Path, every: int, count: int) -> None:
    """Train for as many steps as each line of input says."""
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    data = data_module()
    import train_utils
    from open_flamingo import create_model_and_transforms

    lm = str(models / "lm")
    said, sys.stdout = sys.stdout, sys.stderr
    vision = str(models / "vision.pt")
    model, processor, tokenizer = create_model_and_transforms(
        VISION, vision, lm, lm, cross_attn_every_n_layers=every, use_local_files=True
    )
    args = options(export, count)
    mmc4 = data.get_data(args, processor, tokenizer, "mmc4").dataloader
    laion = data.get_data(args, processor, tokenizer, "image_text").dataloader
    interleaved, pairs = list(itertools.islice(mmc4, count)), list(itertools.islice(laion, count))
    sys.stdout = said
    marks = [tokenizer.pad_token_id, tokenizer.eos_token_id, *tokenizer.additional_special_tokens_ids]
    counted = Counted(model, marks)
    trained = {n: p for n, p in counted.named_parameters() if p.requires_grad}
    decays = [p for n, p in trained.items() if "gated_cross_attn" in n]
    others = [p for n, p in trained.items() if "gated_cross_attn" not in n]
    groups = [{"params": decays, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-4)
    schedule = get_constant_schedule_with_warmup(optimizer, 10)
    state = {n: p for n, p in model.state_dict().items() if f"module.{n}" in trained}
    about = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "trained": sum(p.numel() for p in trained.values()),
        "weights": _size(state),
        "train_folder": str(train_folder()),
    }
    print(json.dumps(about), flush=True)
    train_utils.train_one_epoch(
        args, counted, 0, Loader(pairs, None), Loader(interleaved, counted), tokenizer, optimizer, schedule, "cpu", None
    )
    print(json.dumps({"state": _size(state) + _size(optimizer.state_dict())}), flush=True)


def _size(state: Any) -> int:
    file = io.BytesIO()
    torch.save(state, file)
    return len(file.getbuffer())


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run"])
    parser.add_argument("models", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--batches", type=int, default=8)
    given = parser.parse_args()
    if given.what == "make":
        make_models(given.models, given.second, given.width, given.layers)
    else:
        run(given.models, given.second, given.every, given.batches)


if __name__ == "__main__":
    main()
