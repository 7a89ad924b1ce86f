"""A tiny model of each family that reads images, with random weights, its tokenizer and its image processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models.language_model import tiny

FAMILIES = ("idefics2", "idefics3", "smolvlm", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5", "llava_onevision")

TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
SIGLIP = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
IDEFICS = ("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>")
QWEN = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")


def tokenizer(family: str) -> Any:
    """Of 300 words and the family's marks."""
    if family.startswith("qwen"):
        return tiny.tokenizer(None, QWEN)
    return tiny.tokenizer(
        "<s>" if family != "llava_onevision" else None,
        ("<image>", "<video>") if family == "llava_onevision" else IDEFICS,
    )


def parts(family: str, words: Any) -> tuple[Any, Any]:
    """The config and the image processor."""
    import transformers as t

    text: dict[str, Any] = {**TEXT, "vocab_size": len(words), "pad_token_id": 0}
    place = words.convert_tokens_to_ids("<|image_pad|>" if family.startswith("qwen") else "<image>")
    if family == "idefics2":
        return (
            t.Idefics2Config(
                image_token_id=place,
                text_config={"model_type": "mistral", **text, "sliding_window": None},
                vision_config={**SIGLIP, "image_size": 56, "patch_size": 14},
                perceiver_config={
                    "hidden_size": 32,
                    "resampler_n_latents": 4,
                    "resampler_depth": 1,
                    "resampler_n_heads": 2,
                    "resampler_head_dim": 8,
                    "num_key_value_heads": 1,
                },
            ),
            t.Idefics2ImageProcessor(size={"longest_edge": 56, "shortest_edge": 28}, do_image_splitting=True),
        )
    if family in ("idefics3", "smolvlm"):
        config, processor = {
            "idefics3": (t.Idefics3Config, t.Idefics3ImageProcessor),
            "smolvlm": (t.SmolVLMConfig, t.SmolVLMImageProcessor),
        }[family]
        return (
            config(
                image_token_id=place,
                scale_factor=2,
                text_config={"model_type": "llama", **text},
                vision_config={**SIGLIP, "image_size": 56, "patch_size": 14},
            ),
            processor(size={"longest_edge": 112}, max_image_size={"longest_edge": 56}),
        )
    if family == "llava_onevision":
        return (
            t.LlavaOnevisionConfig(
                image_token_index=place,
                video_token_index=words.convert_tokens_to_ids("<video>"),
                text_config={"model_type": "qwen2", **text},
                vision_config={
                    "model_type": "siglip_vision_model",
                    **SIGLIP,
                    "image_size": 28,
                    "patch_size": 14,
                    "vision_use_head": False,
                },
                image_grid_pinpoints=[[28, 28], [28, 56], [56, 28], [56, 56]],
                vision_feature_layer=-1,
            ),
            t.LlavaOnevisionImageProcessor(
                size={"height": 28, "width": 28}, image_grid_pinpoints=[[28, 28], [28, 56], [56, 28], [56, 56]]
            ),
        )
    marks = {
        "image_token_id": place,
        "video_token_id": words.convert_tokens_to_ids("<|video_pad|>"),
        "vision_start_token_id": words.convert_tokens_to_ids("<|vision_start|>"),
        "vision_end_token_id": words.convert_tokens_to_ids("<|vision_end|>"),
    }
    turns = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    if family == "qwen2_vl":
        vision: dict[str, Any] = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2}
        made = t.Qwen2VLConfig(text_config={**text, "rope_parameters": turns}, vision_config=vision, **marks)
    elif family == "qwen2_5_vl":
        vision = {
            "depth": 2,
            "hidden_size": 32,
            "out_hidden_size": 32,
            "num_heads": 2,
            "intermediate_size": 48,
            "fullatt_block_indexes": [1],
            "window_size": 56,
        }
        made = t.Qwen2_5_VLConfig(text_config={**text, "rope_parameters": turns}, vision_config=vision, **marks)
    else:
        vision = {
            "depth": 2,
            "hidden_size": 32,
            "out_hidden_size": 32,
            "num_heads": 2,
            "intermediate_size": 48,
            "num_position_embeddings": 16,
            "patch_size": 14,
        }
        own = {**text, "head_dim": 8, "rope_parameters": turns}
        if family == "qwen3_vl":
            vision["deepstack_visual_indexes"] = [0, 1]
            made = t.Qwen3VLConfig(text_config=own, vision_config=vision, **marks)
        else:
            heads = {f"linear_{part}": 8 for part in ("key_head_dim", "value_head_dim")}
            heads |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
            kinds = ["linear_attention", "full_attention", "linear_attention"]
            own["rope_parameters"] = {**turns, "partial_rotary_factor": 1.0}
            made = t.Qwen3_5Config(text_config={**own, **heads, "layer_types": kinds}, vision_config=vision, **marks)
    return made, t.Qwen2VLImageProcessor(size={"shortest_edge": 28 * 28, "longest_edge": 4 * 28 * 28})


def saved(folder: Path, family: str, seed: int = 0) -> Path:
    """A folder of a tiny model, as a run's config names it."""
    import transformers as t

    words = tokenizer(family)
    config, processor = parts(family, words)
    tiny.loud(t.AutoModelForImageTextToText.from_config(config), seed).save_pretrained(folder)
    words.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def processor(family: str, folder: Path) -> Any:
    """The family's own processor of texts and images, which cuts no image into tiles."""
    import transformers as t

    words = t.AutoTokenizer.from_pretrained(folder)
    images = t.AutoImageProcessor.from_pretrained(folder, backend="torchvision")
    if hasattr(images, "do_image_splitting"):
        images.do_image_splitting = False
    if family == "idefics2":
        return t.Idefics2Processor(images, words, image_seq_len=4)
    if family in ("idefics3", "smolvlm"):  # SmolVLM's own asks for another package, and writes images the same way
        return t.Idefics3Processor(images, words, image_seq_len=4)
    made = {
        "llava_onevision": (t.LlavaOnevisionProcessor, t.LlavaOnevisionVideoProcessor),
        "qwen2_vl": (t.Qwen2VLProcessor, t.Qwen2VLVideoProcessor),
        "qwen2_5_vl": (t.Qwen2_5_VLProcessor, t.Qwen2VLVideoProcessor),
        "qwen3_vl": (t.Qwen3VLProcessor, t.Qwen3VLVideoProcessor),
        "qwen3_5": (t.Qwen3VLProcessor, t.Qwen3VLVideoProcessor),
    }[family]
    own = {"num_image_tokens": 4, "vision_feature_select_strategy": "full"} if family == "llava_onevision" else {}
    return made[0](image_processor=images, tokenizer=words, video_processor=made[1](), **own)
