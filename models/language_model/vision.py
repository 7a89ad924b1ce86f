"""The images of documents as a model takes them: prepared on the CPU, encoded on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import in_halves
from obelics_pipeline.models.language_model.families import Family
from obelics_pipeline.models.language_model.layout import Span
from obelics_pipeline.models.pictures.pixels import Picture

GRID = "image_grid_thw"


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """An image: its token `ids`, and the tensors that its model encodes, of one image each."""

    ids: tuple[int, ...]
    inputs: Mapping[str, Any]


@dataclass(frozen=True)
class Vision:
    """What a model of transformers has for images. `model` is its body, `processor` an image processor.

    `before`, `place` and `after` are the ids of an image. `turns`: whether positions are of three axes (M-RoPE).
    """

    model: Any
    processor: Any
    family: Family
    before: tuple[int, ...]
    place: int
    after: tuple[int, ...]
    turns: bool

    def prepare(self, picture: Picture) -> Prepared:
        """On the CPU, and from any thread. Where the processor would make tiles of it, as one of two equal images."""
        from PIL import Image

        made = self.processor([[Image.fromarray(picture)] * (1 + self.family.tiles)], return_tensors="pt")
        one = next(self.model.parameters())
        inputs = {name: made[name][:1] if self.family.tiles else made[name] for name in made}
        inputs.pop("batch_num_images", None)
        inputs = {name: v.to(one.dtype) if v.is_floating_point() else v for name, v in inputs.items()}
        if one.is_cuda:  # a copy from pinned memory need not be waited for
            inputs = {name: v.pin_memory() for name, v in inputs.items()}
        count = self.family.count(self.model.config, inputs)
        return Prepared((*self.before, *[self.place] * count, *self.after), inputs)

    def encode(self, images: Sequence[Prepared], most: int) -> list[Any]:
        """Of each image, what stands at its places: (1 + d, places, width) on the device, d being the deeper layers
        that a family adds images to (Qwen3-VL).

        At most `most` images, all of one shape, are encoded at a time; a batch that does not fit the device's memory is
        halved.
        """
        import torch

        shapes: dict[Any, list[int]] = {}
        for i, image in enumerate(images):
            shapes.setdefault(tuple(tuple(v.shape[1:]) for v in image.inputs.values()), []).append(i)
        found: list[Any] = [None] * len(images)
        with torch.inference_mode():
            for numbers in shapes.values():
                for start in range(0, len(numbers), most):
                    batch = numbers[start : start + most]
                    for i, made in zip(
                        batch, in_halves(lambda b: self._encoded([images[i] for i in b]), batch), strict=True
                    ):
                        found[i] = made
        return found

    def _encoded(self, images: Sequence[Prepared]) -> Sequence[Any]:
        import torch

        device = next(self.model.parameters()).device
        inputs = {
            name: torch.cat([image.inputs[name].to(device, non_blocking=True) for image in images])
            for name in images[0].inputs
        }
        if self.family.tiles:  # LLaVA-OneVision: as one document of several images, which are not cut into tiles
            inputs["batch_num_images"] = [len(images) + 1]
        made = self.model.get_image_features(**inputs, return_dict=True)
        layers = [made.pooler_output, *(getattr(made, "deepstack_features", None) or [])]
        out = [torch.stack([layer[i] for layer in layers]) for i in range(len(images))]
        for image, vectors in zip(images, out, strict=True):
            places = image.ids.count(self.place)
            if vectors.shape[1] != places:
                raise UserError(
                    f"language model: {type(self.model).__name__} makes {vectors.shape[1]} vectors of an image, and "
                    f"{places} are expected; its config and preprocessor_config.json do not go together"
                )
        return out

    def positions(self, ids: Any, spans: Sequence[Span], images: Sequence[Prepared]) -> Any:
        """Of the tokens of one window: int64 (axes, tokens); with images on three axes each its own way."""
        import torch

        flat = torch.arange(len(ids))
        if not self.turns:
            return flat[None]
        if not spans:
            return flat.expand(3, -1)
        tokens = torch.from_numpy(ids)[None]
        grids = torch.cat([images[span.image].inputs[GRID] for span in spans])
        kinds = (tokens == self.place).int()
        found, _ = self.model.get_rope_index(tokens, mm_token_type_ids=kinds, image_grid_thw=grids)
        return found[:, 0]
