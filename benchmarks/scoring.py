"""What scoring by a Flamingo costs: documents per second, idle time waiting for data, memory.

    python benchmarks/scoring.py [--shape 3b|tiny] [--documents N] [--device cuda] [--dtype bfloat16]
    python benchmarks/scoring.py --similarity [--documents N] [--device cuda] [--dtype bfloat16]

`3b` is the shape of OpenFlamingo-3B (CLIP ViT-L/14, MPT-1B with a gated layer in every block: 2.56 billion parameters)
with random weights, which cost what trained ones cost; `tiny` has the same code in seconds on a CPU. Without --shape
the GPU decides. Documents have 500 to 1,500 tokens and 2 to 6 images of 640 x 480, each image another file: 1,000 and 4
on average. Nothing is downloaded.

Each row is one way to batch, with or without the second pass that hides the images (`image gain`). `waiting` is the
share of the time in which the device had nothing to do because the next block was not decoded; the first block, for
which nothing can be prepared ahead, is in it.

`--similarity` measures the similarity of images and texts instead, by a CLIP: of ViT-B/32's shape on a GPU, a tiny one
on a CPU, over the same documents.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.placement import cast
from obelics_pipeline.models.flamingo.assembly import FlamingoModel, assemble
from obelics_pipeline.models.flamingo.compat import require
from obelics_pipeline.models.flamingo.parts import vision_config
from obelics_pipeline.models.flamingo.scorer import FlamingoScorer, Scoring
from obelics_pipeline.models.similarity.packages import require as require_clip

WORDS = 50_277  # of the GPT-NeoX tokenizer that MPT-1B uses
WORDS_TINY = 500
GOAL = 40  # documents per second on one H200 in bfloat16; then 74, half of the measured matrix peak


@dataclass(frozen=True)
class Shape:
    """A Flamingo's parts: open_clip's name or config of a vision tower, and the size of an MPT."""

    vision: Mapping[str, Any] | str
    width: int
    blocks: int
    heads: int
    words: int


SHAPES = {
    # mpt-1b-redpajama-200b: 24 blocks of 2,048, 16 heads, ALiBi; the gated layers stand in each block.
    "3b": Shape("ViT-L-14-quickgelu", 2048, 24, 16, WORDS),
    "tiny": Shape(
        {
            "embed_dim": 32,
            "vision_cfg": {"image_size": 224, "patch_size": 32, "layers": 2, "width": 64, "head_width": 32},
            "text_cfg": {"context_length": 4, "vocab_size": 8, "width": 16, "heads": 2, "layers": 1},
        },
        64,
        2,
        2,
        WORDS_TINY,
    ),
}


def build(shape: Shape, device: str, dtype: str) -> FlamingoModel:
    """A Flamingo with random weights, made where it will run."""
    require()
    import torch
    from transformers import MptConfig, MptForCausalLM

    torch.manual_seed(0)
    config = MptConfig(
        d_model=shape.width, n_layers=shape.blocks, n_heads=shape.heads, vocab_size=shape.words, max_seq_len=2048
    )
    with torch.device(device):
        made: Any = MptForCausalLM(config)
        model = assemble(vision_config(shape.vision), made, tokenizer(shape.words), cross_attention_every=1)
    with torch.no_grad():
        for block in model.flamingo.lang_encoder.gated_cross_attn_layers:
            block.attn_gate.fill_(0.1)
            block.ff_gate.fill_(0.1)
    cast(model.flamingo, getattr(torch, dtype))
    model.flamingo.to(device)
    return model


def tokenizer(words: int) -> Any:
    """A token for each of the words w0, w1, …: documents then have as many tokens as we want."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    vocabulary = {"<s>": 0, "<unk>": 1} | {f"w{i}": i + 2 for i in range(words - 2)}
    made = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", unk_token="<unk>")


class Photographs:
    """JPEG files of 640 x 480 that take as long to decode as a photograph, each with bytes of its own."""

    def __init__(self, kinds: int = 32) -> None:
        from PIL import Image

        rng = np.random.default_rng(0)
        self._files = []
        for _ in range(kinds):
            coarse = Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8))
            out = io.BytesIO()
            coarse.resize((640, 480), Image.Resampling.BICUBIC).save(out, "JPEG", quality=85)
            self._files.append(out.getvalue())

    def __call__(self, image: ImageNode, /) -> bytes:
        """What follows the end of a JPEG is not decoded, and makes it another file."""
        number = int(image.src.removeprefix("image:"))
        return self._files[number % len(self._files)] + number.to_bytes(8, "big")


def documents(count: int, words: int) -> list[Document]:
    """Documents of 500 to 1,500 words with 2 to 6 images among them, the same in every run."""
    draw = random.Random(0)
    out, image = [], 0
    for i in range(count):
        nodes: list[Node] = []
        images = draw.randint(2, 6)
        length = draw.randint(500, 1500)
        for _ in range(images):
            nodes.append(TextNode(" ".join(f"w{draw.randrange(words - 2)}" for _ in range(length // images))))
            nodes.append(ImageNode(f"image:{image}", f"image:{image}"))
            image += 1
        nodes[0], nodes[1] = nodes[1], nodes[0]  # the first image is a lead image
        out.append(Document(f"d{i}", "", "", i, 1, nodes))
    return out


class Timed(FlamingoScorer):
    """Counts the seconds in which the next block is waited for; the device has then finished the one before."""

    waited = 0.0

    def _prepared(self, blocks: Sequence[Sequence[Document]]) -> Iterator[Any]:
        ready = super()._prepared(blocks)
        while True:
            start = time.perf_counter()
            block = next(ready, None)
            self.waited += time.perf_counter() - start
            if block is None:
                return
            yield block


def measure(model: FlamingoModel, images: Photographs, scoring: Scoring, corpus: Sequence[Document]) -> dict[str, Any]:
    """Score the corpus once, after a warm-up on a part of it."""
    import torch

    gpu = model.device.type == "cuda"
    FlamingoScorer(model, images, scoring).score(corpus[: min(32, len(corpus))])
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    scorer = Timed(model, images, scoring)
    start = time.perf_counter()
    found = scorer.score(corpus)
    seconds = time.perf_counter() - start
    assert all(one["flamingo_loss"] is not None for one in found)
    peak = torch.cuda.max_memory_allocated() if gpu else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "documents/s": len(corpus) / seconds,
        "tokens/s": sum(one["flamingo_tokens"] or 0 for one in found) / seconds,
        "images/s": sum(one["images_seen"] or 0 for one in found) / seconds,
        "waiting": scorer.waited / seconds,
        "peak GB": peak / 1e9,
    }


TINY_CLIP = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 224, "patch_size": 32, "layers": 2, "width": 64, "head_width": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2},
}


def measure_similarity(device: str, dtype: str, count: int | None) -> None:
    """Compare images and texts by a CLIP with random weights, after a warm-up, and print how fast that was."""
    import open_clip
    import torch

    from obelics_pipeline.models.similarity.architecture import Architecture, Preprocessing, architecture
    from obelics_pipeline.models.similarity.clip import build as build_clip
    from obelics_pipeline.models.similarity.scorer import BLOCK, SimilarityScorer

    tiny = Architecture(name=None, config=TINY_CLIP, preprocessing=Preprocessing())
    of = architecture("ViT-B-32") if device.startswith("cuda") else tiny
    torch.manual_seed(0)
    clip = build_clip(of, open_clip.CLIP(**of.config).state_dict(), Path("random"), device, dtype)
    corpus = documents(count or (4096 if device.startswith("cuda") else 32), WORDS_TINY)
    print(f"similarity, {of.name or 'tiny'}, {dtype}, {device}: {len(corpus)} documents in blocks of {BLOCK}")
    for batch in (64, 128, 512):
        scorer = SimilarityScorer(clip, Photographs(), batch)
        scorer.score(corpus[:32])
        start = time.perf_counter()
        found = scorer.score(corpus)
        seconds = time.perf_counter() - start
        images = sum(one["similarity_images"] or 0 for one in found)
        print(
            f"batches of {batch:3}  {len(corpus) / seconds:,.3g} documents/s  {images / seconds:,.3g} images/s",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(SHAPES))
    parser.add_argument("--device")
    parser.add_argument("--dtype", choices=["bfloat16", "float16", "float32"], help="bfloat16 on a GPU")
    parser.add_argument("--documents", type=int)
    parser.add_argument("--batch-tokens", type=int, nargs="+", default=[8192, 16384, 32768])
    parser.add_argument("--block-documents", type=int, default=Scoring().block_documents)
    parser.add_argument("--threads", type=int, default=Scoring().decoding_threads)
    parser.add_argument("--similarity", action="store_true", help="of images and texts, by a CLIP, instead")
    parser.add_argument("files", nargs="*", help="not used: `make bench` gives every benchmark its WARC files")
    arguments = parser.parse_args()
    try:
        (require_clip if arguments.similarity else require)()
    except UserError as error:
        print(f"left out: {error}")
        return
    import torch

    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if arguments.similarity:
        dtype = arguments.dtype or ("bfloat16" if device.startswith("cuda") else "float32")
        return measure_similarity(device, dtype, arguments.documents)
    name = arguments.shape or ("3b" if device.startswith("cuda") else "tiny")
    shape = SHAPES[name]
    dtype = arguments.dtype or ("bfloat16" if device.startswith("cuda") else "float32")
    start = time.perf_counter()
    model = build(shape, device, dtype)
    parameters = sum(p.numel() for p in model.flamingo.parameters())
    machine = torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU"
    print(f"{name}: {parameters / 1e6:,.0f} M parameters, {dtype}, {machine}, torch {torch.__version__}", end="")
    print(f"; made in {time.perf_counter() - start:.0f} s")
    corpus = documents(arguments.documents or (1024 if name == "3b" else 32), shape.words)
    images = Photographs()
    print(f"{len(corpus)} documents in blocks of {arguments.block_documents}, {arguments.threads} decoding threads")
    for image_gain in (False, True):
        for batch_tokens in arguments.batch_tokens:
            scoring = Scoring(
                batch_tokens=batch_tokens,
                block_documents=arguments.block_documents,
                decoding_threads=arguments.threads,
                image_gain=image_gain,
            )
            found = measure(model, images, scoring, corpus)
            figures = "  ".join(f"{value:,.3g} {key}" for key, value in found.items() if key != "waiting")
            print(f"batches of {batch_tokens:6,} tokens{', image gain' if image_gain else '            '}  ", end="")
            print(f"{figures}  {found['waiting']:.1%} waiting", flush=True)
    if name == "3b":
        print(f"goal: {GOAL} documents/s, then 74; at most 5% waiting")


if __name__ == "__main__":
    main()
