"""What the score of a language model costs: operations of a document, counted by torch, and documents per second.

    python benchmarks/language_model.py                          operations and bytes of each shape; wants no GPU
    python benchmarks/language_model.py --measure Qwen2-VL-2B    documents per second, and the share of --peak they are
    python benchmarks/language_model.py --measure small          tiny, on the CPU: to see that it works

Shapes are those of published models, as their config.json says them; weights are random. A document has 750 tokens of
text and 4 images of 384 x 384 pixels. Blocks of the tower are counted as a second less a first, and taken as often as
there are; products of queries and keys are counted for all pairs, of which a causal kernel computes half.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zlib import crc32

from obelics_pipeline.models.device.torchvision_import import import_torchvision

import_torchvision()

import numpy as np
import torch
import transformers as t
from torch.utils.flop_counter import FlopCounterMode

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.models.language_model.families import FAMILIES
from obelics_pipeline.models.language_model.loading import LoadLanguageModel
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.language_model.vision import Vision

TEXT, IMAGES, SIDE = 750, 4, 384  # tokens, images, pixels
PASSES = 17  # times that `head._slice` writes or reads all logits of a token
TURNS = {"rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 1e6}
SIGLIP = {"hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16, "patch_size": 14}


@dataclass(frozen=True)
class Shape:
    """`text` and `tower` are sub-configs of transformers, `depth` the tower's key for its blocks."""

    family: str
    text: dict[str, Any]
    tower: dict[str, Any]
    depth: str = "num_hidden_layers"
    other: dict[str, Any] = field(default_factory=dict)

    def config(self, blocks: int | None = None, text_blocks: int | None = None) -> Any:
        """The config; with so many blocks where said."""
        text, tower = dict(self.text), dict(self.tower)
        text["num_hidden_layers"] = text_blocks or text["num_hidden_layers"]
        tower[self.depth] = blocks or tower[self.depth]
        return t.AutoConfig.for_model(self.family, text_config=text, vision_config=tower, **self.other)


def text(width: int, inner: int, blocks: int, heads: int, keys: int, words: int, **other: Any) -> dict[str, Any]:
    """A text model's sub-config."""
    sizes = {"hidden_size": width, "intermediate_size": inner, "num_hidden_layers": blocks}
    heads_of = {"num_attention_heads": heads, "num_key_value_heads": keys}
    return {**sizes, **heads_of, "vocab_size": words, "max_position_embeddings": 8192, **other}


TIED = {"tie_word_embeddings": True}
SHAPES = {
    "SmolVLM2-2.2B": Shape(
        "smolvlm",
        text(2048, 8192, 24, 32, 32, 49280, model_type="llama"),
        {**SIGLIP, "num_hidden_layers": 27, "image_size": 384},
        other={"scale_factor": 3},
    ),
    "Qwen2-VL-2B": Shape(
        "qwen2_vl",
        text(1536, 8960, 28, 12, 2, 151936, rope_parameters=TURNS, **TIED),
        {"depth": 32, "embed_dim": 1280, "hidden_size": 1536, "num_heads": 16, "mlp_ratio": 4},
        "depth",
        TIED,
    ),
    "Qwen2.5-VL-3B": Shape(
        "qwen2_5_vl",
        text(2048, 11008, 36, 16, 2, 151936, rope_parameters=TURNS, **TIED),
        {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": 2048},
        "depth",
        TIED,
    ),
    "LLaVA-OneVision-0.5B": Shape(
        "llava_onevision",
        text(896, 4864, 24, 14, 2, 152000, model_type="qwen2", **TIED),
        {"model_type": "siglip_vision_model", **SIGLIP, "num_hidden_layers": 26, "image_size": 384}
        | {"vision_use_head": False},
        other={"vision_feature_layer": -1, **TIED},
    ),
}
SMALL = Shape(
    "qwen2_vl",
    text(64, 128, 2, 4, 2, 400, rope_parameters={**TURNS, "mrope_section": [2, 3, 3]}),
    {"depth": 2, "embed_dim": 64, "hidden_size": 64, "num_heads": 4, "mlp_ratio": 2},
    "depth",
)


def processor(family: str) -> Any:
    """The family's image processor, with what it has by itself."""
    made = {
        "smolvlm": t.SmolVLMImageProcessor,
        "llava_onevision": t.LlavaOnevisionImageProcessor,
    }.get(family, t.Qwen2VLImageProcessor)()
    if family == "smolvlm":
        made.size, made.max_image_size = {"longest_edge": 4 * SIDE}, {"longest_edge": SIDE}
        made.do_image_splitting = False
    return made


def operations(do: Callable[[], object]) -> int:
    """Of what is done, by torch's own count."""
    with FlopCounterMode(display=False) as counter:
        do()
    return int(counter.get_total_flops())


def of_image(shape: Shape) -> tuple[float, int]:
    """Operations that the tower takes for an image, and its tokens in the sequence."""
    noise = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    found = []
    for blocks in (1, 2):
        config = shape.config(blocks, text_blocks=1)
        config.get_text_config().vocab_size = 512
        # torch counts its CPU's fused attention as nothing
        body = t.AutoModelForImageTextToText.from_config(config, attn_implementation="eager").eval().model
        vision = Vision(body, processor(shape.family), FAMILIES[shape.family], (), 0, (), turns=False)
        made = vision.prepare(noise)
        found.append(operations(lambda vision=vision, made=made: vision.encode([made], 1)))  # type: ignore[misc]
    one, two = found
    return one + (shape.tower[shape.depth] - 1) * (two - one), len(made.ids)


def of_text(shape: Shape) -> tuple[float, int, int]:
    """Operations of a token in the blocks; parameters of the head; all parameters."""
    # it asks for numbers, of which the meta device has none
    with patch.object(t.masking_utils, "find_packed_sequence_indices", return_value=None), torch.device("meta"):
        model = t.AutoModelForImageTextToText.from_config(shape.config(), attn_implementation="sdpa").eval()
        body = getattr(model.model, "language_model", None) or model.model.text_model
        tokens = torch.empty(1, TEXT, shape.text["hidden_size"])
        places = torch.arange(TEXT)[None]
        each = operations(lambda: body(inputs_embeds=tokens, position_ids=places, use_cache=False)) / TEXT
    head = model.get_output_embeddings().weight.numel()
    return each, head, sum(p.numel() for p in model.parameters())


def count() -> None:
    """Print a table."""
    heads = ("", "parameters, B", "tokens of an image", "TFLOP of an image", "GFLOP of a token", "of its head")
    print("|", " | ".join((*heads, "TFLOP of a document", "with image gain", "MB the head moves for a token")), "|")
    for name, shape in SHAPES.items():
        image, tokens = of_image(shape)
        each, head, parameters = of_text(shape)
        words = TEXT * (each + 2 * head)
        whole = words + IMAGES * (image + tokens * each)
        moved = PASSES * 4 * shape.text["vocab_size"]
        print(
            f"| {name} | {parameters / 1e9:.2f} | {tokens} | {image / 1e12:.2f} | {each / 1e9:.2f} "
            f"| {2 * head / 1e9:.2f} | {whole / 1e12:.2f} | {(whole + words) / 1e12:.2f} | {moved / 1e6:.1f} |",
            flush=True,
        )


def documents(count: int) -> Iterator[Document]:
    """Of made words, each with its own images, whose names say how they look."""
    words = "the tide is high and a market hall opens its doors to those who wait for bread".split()
    random = np.random.default_rng(0)
    for d in range(count):
        nodes: list[Any] = []
        for i in range(IMAGES):
            nodes.append(TextNode(" ".join(random.choice(words, TEXT // IMAGES))))
            nodes.append(ImageNode(f"{d}-{i}", f"{d}-{i}"))
        yield Document(str(d), "https://a.example/", "a", 0, 1, nodes)


def picture(image: ImageNode, /) -> bytes:
    """A JPEG of 800 x 600 pixels, made once."""
    return _jpeg(crc32(image.src.encode()))


@cache
def _jpeg(seed: int) -> bytes:
    from PIL import Image

    out, random = BytesIO(), np.random.default_rng(seed)
    rough = Image.fromarray(random.integers(0, 256, (15, 20, 3), dtype=np.uint8))
    rough.resize((800, 600)).save(out, "JPEG")
    return out.getvalue()


def save(shape: Shape, folder: Path) -> None:
    """A model of random weights, with a tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted(
        {word for d in documents(4) for node in d.nodes if isinstance(node, TextNode) for word in node.text.split()}
    )
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["?", *words])}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    family = FAMILIES[shape.family]
    made = t.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    place = "<|image_pad|>" if shape.family.startswith("qwen") else "<image>"
    made.add_special_tokens({"additional_special_tokens": [*dict.fromkeys([*family.before, place, *family.after])]})
    config = shape.config()
    config.image_token_id = made.convert_tokens_to_ids(place)
    torch.manual_seed(0)
    t.AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
    made.save_pretrained(folder)
    processor(shape.family).save_pretrained(folder)


def measure(shape: Shape, number: int, peak: float) -> None:
    """Print documents per second of a second run, with the image gain and without."""
    made = list(documents(number))
    with tempfile.TemporaryDirectory() as folder:
        save(shape, Path(folder))
        for gain in (False, True):
            scorer = LoadLanguageModel(folder, picture, Scoring(image_gain=gain))()
            done = operations(lambda scorer=scorer: scorer.score(made[:8])) / min(8, number)  # type: ignore[misc]
            scorer.score(made)
            began = time.perf_counter()
            scorer.score(made)
            rate = number / (time.perf_counter() - began)
            print(
                f"image gain {'on' if gain else 'off'}: {rate:.1f} documents/s on {scorer.model.device}, "
                f"{done / 1e12:.3f} TFLOP each, {rate * done / peak:.1%} of {peak / 1e12:.0f} TFLOP/s"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", choices=[*SHAPES, "small"])
    parser.add_argument("--documents", type=int, default=512)
    parser.add_argument("--peak", type=float, default=989e12, help="of an H100 SXM: dense bfloat16, its data sheet")
    given = parser.parse_args()
    if given.measure is None:
        count()
    else:
        measure(SHAPES.get(given.measure, SMALL), given.documents, given.peak)
