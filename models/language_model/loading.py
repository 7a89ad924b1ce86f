"""A language model by its name or its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.placement import cast, check_dtype, chosen_device, chosen_dtype
from obelics_pipeline.models.device.torchvision_import import import_torchvision, mend_torchvision
from obelics_pipeline.models.flamingo.assembly import positions
from obelics_pipeline.models.language_model.attention import register
from obelics_pipeline.models.language_model.families import FAMILIES, Family
from obelics_pipeline.models.language_model.files import folder_of
from obelics_pipeline.models.language_model.head import Head
from obelics_pipeline.models.language_model.layout import Marks
from obelics_pipeline.models.language_model.model import LanguageModel
from obelics_pipeline.models.language_model.probe import probed
from obelics_pipeline.models.language_model.scorer import LanguageModelScorer
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.language_model.vision import Vision
from obelics_pipeline.models.pictures.sources import ImageSource, no_images

_HELD = WeakValueDictionary[tuple[Path, str, str, bool], LanguageModel]()  # by what was asked for


@dataclass(frozen=True, slots=True)
class LoadLanguageModel:
    """Makes a `LanguageModelScorer` in a worker: `load` of `beam_jobs.ScoreDocuments`, `make` of `WithModel`.

    Two that are equal make the same scorer, so a process makes one; `images` must be picklable, and equal likewise.
    `second_model` has the model's tokenizer, and Binoculars is measured with it. The other fields are those of `load`.
    """

    model: str
    images: ImageSource = no_images
    scoring: Scoring = field(default_factory=Scoring)
    second_model: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    trust_remote_code: bool = False

    def __call__(self) -> LanguageModelScorer:
        """Load the model. Raises `UserError` as `load` does, and where the second has another tokenizer."""
        model = load(self.model, self.device, self.dtype, self.trust_remote_code)
        if self.second_model is None:
            return LanguageModelScorer(model, self.images, self.scoring)
        second = load(self.second_model, self.device, self.dtype, self.trust_remote_code)
        if second.tokenizer.get_vocab() != model.tokenizer.get_vocab():
            raise UserError(
                f"language model: {self.second_model} has another tokenizer than {self.model}; Binoculars needs two "
                "models with one tokenizer, such as a base model and its instruction-tuned twin"
            )
        return LanguageModelScorer(model, self.images, self.scoring, second)


def load(
    name_or_folder: str, device: str = "auto", dtype: str = "auto", trust_remote_code: bool = False
) -> LanguageModel:
    """A model that is ready to score; the same one, for as long as anything holds it, where the same is asked for.

    `name_or_folder`: a name of the hub, or a folder as transformers' `save_pretrained` writes it. `device`: "cpu",
    "cuda", "cuda:1", …; by itself the first GPU where there is one. `dtype`: one of `placement.DTYPES`; by itself
    bfloat16 on a GPU, float32 on a CPU. `trust_remote_code` lets a model run the code of its repository.
    Raises `UserError` for anything that is wrong with these, and where a package, a file or the device is missing.
    """
    require()
    check_dtype(dtype)
    device = chosen_device(device)
    folder = folder_of(name_or_folder, trust_remote_code)
    asked = (folder.resolve(), device, chosen_dtype(dtype, device), trust_remote_code)
    model = _HELD.get(asked)
    if model is None:
        model = _HELD[asked] = _loaded(*asked)
    return model


def require() -> None:
    """Raises `UserError` where a package is missing."""
    try:
        import torch  # noqa: F401

        mend_torchvision()
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"language model: no module {error.name}; pip install 'obelics-pipeline[language-model]', torch for this "
            "machine first (docs/gpu.md)"
        ) from None


def _loaded(folder: Path, device: str, dtype: str, trust_remote_code: bool) -> LanguageModel:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer
    from transformers.utils import logging

    from obelics_pipeline.models.packed_flamingo.language_model import logit_cap, logit_scale

    logging.disable_progress_bar()  # of a worker, in the middle of a run's own display
    kind: Any = getattr(torch, dtype)
    options = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    try:
        config = AutoConfig.from_pretrained(folder, **options)
        family = FAMILIES.get(config.model_type)
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        model, told = (AutoModelForCausalLM if family is None else AutoModelForImageTextToText).from_pretrained(
            folder, dtype=kind, weights_only=True, output_loading_info=True, **options
        )
        vision = None if family is None else _vision(folder, model, tokenizer, family)
    except UserError:
        raise
    except Exception as error:  # of many kinds: a missing file, JSON, another version
        reason = " ".join(str(error).split())[:300]
        raise UserError(
            f"language model: transformers cannot read {folder} as a causal language model, nor as one of the families "
            f"that read images ({', '.join(FAMILIES)}): {reason}"
        ) from None
    if told["missing_keys"]:  # transformers would only warn, and draw them at random
        raise UserError(f"language model: {folder} lacks {min(told['missing_keys'])}; fetch it again")
    cast(model, kind)
    model.requires_grad_(False).eval().to(device)
    register()
    made = LanguageModel(
        text=model.base_model if vision is None else _text(vision.model),
        embed=model.get_input_embeddings(),
        head=Head(model.get_output_embeddings(), logit_scale(model.config), logit_cap(model.config)),
        tokenizer=tokenizer,
        marks=_marks(tokenizer, vision),
        positions=positions(model.config.get_text_config()),
        packs=False,
        vision=vision,
    )
    return probed(made, model)


def _text(body: Any) -> Any:
    """The part of a model's body that reads embedded tokens."""
    return body.language_model if hasattr(body, "language_model") else body.text_model


def _vision(folder: Path, model: Any, tokenizer: Any, family: Family) -> Vision:
    from transformers import AutoImageProcessor

    try:
        import_torchvision()
    except ImportError:  # Pillow would do the same in four times the time, and with other pixels
        raise UserError(
            f"language model: no module torchvision, with which images are prepared for {folder}; pip install "
            "torchvision, that of your torch (docs/gpu.md)"
        ) from None
    processor = AutoImageProcessor.from_pretrained(folder, local_files_only=True, backend="torchvision")
    if hasattr(processor, "do_image_splitting"):
        processor.do_image_splitting = False
    before, after = (tuple(tokenizer.convert_tokens_to_ids(list(names))) for names in (family.before, family.after))
    if None in (*before, *after) or tokenizer.unk_token_id in (*before, *after):
        raise UserError(
            f"language model: the tokenizer of {folder} lacks {', '.join((*family.before, *family.after))}, around "
            "images; fetch it again"
        )
    turns = hasattr(model.model, "get_rope_index")
    return Vision(model.model, processor, family, before, model.config.image_token_id, after, turns)


def _marks(tokenizer: Any, vision: Vision | None) -> Marks:
    special = [token for token in tokenizer.added_tokens_decoder.values() if token.special]
    literals = tuple(sorted({*tokenizer.all_special_tokens, *(token.content for token in special)}))
    if vision is None:
        return Marks(tokenizer.bos_token_id, literals)
    shared = None if vision.family.shared is None else tokenizer.convert_tokens_to_ids(vision.family.shared)
    return Marks(tokenizer.bos_token_id, literals, frozenset({*vision.before, vision.place, *vision.after}), shared)
