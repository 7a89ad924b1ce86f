"""How near training comes to what a GPU can do: share of its arithmetic peak (MFU), tokens per second, memory.

    python benchmarks/training_gpu.py [--rows 8] [--steps 20] [--attention flex_attention] [--no-compile] [--plan PLAN]
    python benchmarks/training_gpu.py --open-flamingo      (theirs beside ours, where open_flamingo can be imported)
    python benchmarks/training_gpu.py --small              (tiny, on the CPU: to see that it works)

A language model with the sizes of SmolLM2-1.7B and a vision tower with those of SigLIP-so400m, frozen, in bfloat16, of
random weights; gated layers before every fourth block and a resampler of six layers, trained, in float32 with products
in bfloat16; rows of 2,048 tokens of packed made documents, or those of a PLAN (its ids must be words of the model),
read by the loader's workers: then the wait for data is told too.

How operations are counted, and of which peak they are a share, says obelics_pipeline.training.train.operations.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from benchmarks.training_model import SMALL, SMOL, Shape, batches, flamingo, language_model, tower
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.config import LoaderConfig, OptimizerConfig
from obelics_pipeline.training.train.distributed import distribute
from obelics_pipeline.training.train.figures import figures_of
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer, make_model_and_optimizer
from obelics_pipeline.training.train.operations import Operations, peak_of
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.step import Objective
from obelics_pipeline.training.train.sums import loss_rows

WARM = 3  # steps that are not measured


def wait(device: torch.device) -> float:
    """The time, once the device has done all that it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def measured(
    model_and_optimizer: ModelAndOptimizer, coming: Iterator[Sequence[MicroBatch]], steps: int
) -> tuple[list[float], list[float], list[Sequence[MicroBatch]]]:
    """Seconds of each step, seconds that each waited for its data, and what each was of."""
    device = model_and_optimizer.processes.device
    took, waited, seen = [], [], []
    for number in range(WARM + steps):
        before = time.perf_counter()
        of_step = next(coming)
        began = wait(device)
        sums, norm = model_and_optimizer.gradient(of_step, lambda: None)
        figures_of(sums, of_step, ("made",) * len(model_and_optimizer.objective.weights), model_and_optimizer.processes)
        model_and_optimizer.set_rate(1e-4, 0.1)
        model_and_optimizer.update(norm, 1.0)
        loss_rows(of_step, sums.spans)
        if number >= WARM:
            took.append(wait(device) - began)
            waited.append(began - before)
            seen.append(of_step)
    return took, waited, seen


def from_plan(folder: Path, model: Any, processes: Processes, rows: int, workers: int) -> Iterator[Any]:
    """Steps of a plan, as `obelics train` reads them."""
    from obelics_pipeline.training.plan.plan_file import open_plan
    from obelics_pipeline.training.train.feed import Feed
    from obelics_pipeline.training.train.state.cursor import RowOrder
    from obelics_pipeline.training.train.stored_rows import RowReader

    plan = open_plan(folder)
    from obelics_pipeline.models.packed_flamingo.document_tokens import open_vocabulary

    known = open_vocabulary(Path(json.loads((folder / "plan.json").read_bytes())["tokenizer"]["path"]))
    assert known.words <= model.words, f"the plan's tokenizer has {known.words} words, the model {model.words}"
    feed = Feed(plan, RowReader(plan, known, model.vision.side), processes, rows, LoaderConfig(workers=workers))
    while True:
        for _, of_step in feed.steps(RowOrder(plan.n_rows), 0):
            yield of_step


def pinned(batch: MicroBatch, device: torch.device) -> tuple[MicroBatch]:
    """As the loader hands it over."""
    return (batch.pin_memory() if device.type == "cuda" else batch,)


def ours(given: argparse.Namespace, shape: Shape, tokens: int, device: torch.device) -> dict[str, float]:
    """Measure our steps, and print what they come to."""
    processes = Processes(0, 1, device)
    torch.manual_seed(0)
    model = flamingo(shape, str(device), "bfloat16", given.attention, given.checkpointing)
    model = distribute(model, processes, "bfloat16", given.compile)
    objective = Objective(torch.ones(1, device=device), 1e-4, True, "bfloat16")
    model_and_optimizer = make_model_and_optimizer(model, objective, processes, OptimizerConfig())
    made = [pinned(batch, device) for batch in itertools.islice(batches(shape, tokens, given.rows), 4)]
    coming = from_plan(given.plan, model, processes, given.rows, given.workers) if given.plan else itertools.cycle(made)
    took, waited, seen = measured(model_and_optimizer, coming, given.steps)
    operations = Operations(model)
    flops = statistics.mean(operations.of([b.packed for b in of_step]) for of_step in seen)
    second = statistics.median(took)
    real = statistics.mean(sum(int((b.packed.segment >= 0).sum()) for b in of_step) for of_step in seen)
    found = {
        "seconds": second,
        "tokens_per_second": real / second,
        "images": statistics.mean(sum(len(b.packed.pictures) for b in of_step) for of_step in seen),
        "memory": float(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else 0.0,
        "data_wait": statistics.mean(waited) / (statistics.mean(waited) + statistics.mean(took)),
        "flops": flops,
    }
    peak = peak_of(device)
    all_of, trained = sum(p.numel() for p in model.parameters()), sum(p.numel() for p in model_and_optimizer.parameters)
    print(
        f"obelics: {all_of / 1e9:.2f} thousand million parameters, {trained / 1e9:.2f} of them train; "
        f"{given.rows} rows of {tokens} tokens, {found['images']:.0f} images a step, {given.attention}, "
        f"{'compiled' if given.compile else 'not compiled'}"
    )
    print(
        f"{second * 1000:,.1f} ms a step, {found['tokens_per_second']:,.0f} tokens per second, "
        f"{flops / 1e12:.3f}e12 operations a step"
    )
    share = f"{100 * flops / second / peak:.1f} % of {peak / 1e12:.0f}e12" if peak else "no peak known of this device"
    print(f"{flops / second / 1e12:.3f}e12 operations per second: {share}")
    print(
        f"peak of memory {found['memory'] / 1e9:.1f} GB, waiting for data {100 * found['data_wait']:.2f} % of the time"
    )
    return found


class Tower(nn.Module):
    """A vision tower as open_clip's with `output_tokens`: what open_flamingo calls `visual`."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, pixels: torch.Tensor) -> tuple[None, torch.Tensor]:
        """Nothing, and the vectors of the patches."""
        return None, self.inner(pixel_values=pixels).last_hidden_state


class Bare(nn.Module):
    """In the place of DDP."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, **given: Any) -> Any:
        """As the model."""
        return self.module(**given)


class Listed(list[Any]):
    """A loader over a list."""

    num_batches = 0


def theirs(given: argparse.Namespace, shape: Shape, tokens: int, device: torch.device) -> dict[str, float]:
    """Measure their `train_one_epoch` over as many places of made documents of 256 tokens, six images each.

    Their weights are float32, frozen ones too, and products are in bfloat16 (`--precision amp_bf16`). Documents fill
    their 256 tokens, which favours them; one LAION pair beside each batch.
    """
    from open_flamingo.src.flamingo import Flamingo
    from open_flamingo.src.flamingo_lm import FlamingoLMMixin
    from open_flamingo.src.utils import extend_instance
    from open_flamingo.train import train_utils

    torch.manual_seed(0)
    lm = language_model(shape, "sdpa", torch.float32)
    extend_instance(lm, FlamingoLMMixin)
    lm.set_decoder_layers_attr_name("model.layers")
    lm.resize_token_embeddings(shape.words + 3)
    visual = SimpleNamespace(visual=Tower(tower(shape, torch.float32)))
    end, image = shape.words, shape.words + 1
    model = Flamingo(visual, lm, end, image, vis_dim=shape.vision_width, cross_attn_every_n_layers=shape.cross_every)
    model.requires_grad_(False)
    for part in (model.perceiver, lm.gated_cross_attn_layers, lm.get_input_embeddings()):
        part.requires_grad_(True)
    whole = Bare(model.to(device))
    optimizer = torch.optim.AdamW([p for p in whole.parameters() if p.requires_grad], lr=1e-4)
    per_batch = max(1, given.rows * tokens // 256)
    side = shape.side

    def words(n: int, length: int) -> torch.Tensor:
        ids = torch.randint(2, shape.words, (n, length))
        ids[:, [0, length // 2]] = image
        return ids

    ids = words(per_batch, 256)
    mmc4 = (torch.randn(per_batch, 6, 3, side, side), [(row[None], torch.ones_like(row)[None]) for row in ids])
    pair = words(1, 32)
    laion = (torch.randn(1, 3, side, side), (pair, torch.ones_like(pair)))
    known = {"<image>": [image], "<|endofchunk|>": [end]}

    class Tokens:
        """What `train_one_epoch` asks of a tokenizer."""

        pad_token_id, eos_token = shape.words + 2, "</s>"

        def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
            return {"input_ids": known[text]}

    args = SimpleNamespace(
        num_epochs=1,
        precision="amp_bf16" if device.type == "cuda" else "fp32",
        fsdp=False,
        freeze_lm_embeddings=False,
        gradient_accumulation_steps=1,
        loss_multiplier_laion=0.2,
        loss_multiplier_mmc4=1.0,
        rank=1,  # says nothing
        report_to_wandb=False,
        logging_steps=10**9,
    )

    def run(steps: int) -> float:
        began = wait(device)
        schedule = torch.optim.lr_scheduler.ConstantLR(optimizer)
        of_mmc4, of_laion = Listed([mmc4] * steps), Listed([laion] * steps)
        of_mmc4.num_batches = of_laion.num_batches = steps
        train_utils.train_one_epoch(
            args, whole, 0, of_laion, of_mmc4, Tokens(), optimizer, schedule, device, SimpleNamespace()
        )
        return wait(device) - began

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    run(WARM)
    second = run(given.steps) / given.steps
    memory = float(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else 0.0
    rate = (per_batch * 256 + 32) / second
    print(
        f"open_flamingo: {second * 1000:,.1f} ms a step of {per_batch} x 256 tokens, {rate:,.0f} tokens per second, "
        f"peak of memory {memory / 1e9:.1f} GB"
    )
    return {"tokens_per_second": rate, "memory": memory}


def main() -> None:
    """Print the figures of this machine's GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--attention", choices=["sdpa", "flex_attention"], default="flex_attention")
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--plan", type=Path)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--open-flamingo", action="store_true")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    shape, tokens, device = SMOL, 2048, torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if given.small:
        shape, tokens, device = SMALL, 256, torch.device("cpu")
        given.rows, given.steps, given.attention, given.compile = 2, 2, "sdpa", False
        torch.set_num_threads(1)
    elif device.type == "cpu":
        raise SystemExit("no GPU here; --small shows that it works")
    mine = ours(given, shape, tokens, device)
    if given.open_flamingo:
        if device.type == "cuda":
            torch.cuda.empty_cache()
        other = theirs(given, shape, tokens, device)
        print(f"tokens per second: {mine['tokens_per_second'] / other['tokens_per_second']:.2f} times theirs")
        if other["memory"]:
            print(f"memory: {100 * mine['memory'] / other['memory']:.0f} % of theirs")


if __name__ == "__main__":
    main()
