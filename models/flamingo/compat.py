"""What open_flamingo 2.0.1 (2023) needs beside current libraries; each function says why. Run with torch 2.13,
transformers 5.23 and open_clip 3.3."""

from __future__ import annotations

from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.torchvision_import import import_torchvision

_INSTALL = "pip install 'obelics-pipeline[flamingo]' and then: pip install --no-deps open_flamingo"


def require() -> None:
    """Raises `UserError` where a package is missing that scoring with a Flamingo needs."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UserError(f"Flamingo: no module torch; {_INSTALL} (docs/flamingo.md)") from None
    try:
        import_torchvision()
        import einops_exts  # noqa: F401
        import open_clip  # noqa: F401
        import open_flamingo  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(f"Flamingo: no module {error.name}; {_INSTALL} (docs/flamingo.md)") from None


def tokens_before_final_norm(vision: Any) -> None:
    """Give patch tokens as they were before open_clip 2.23, in front of the tower's last layer norm.

    OpenFlamingo's released models were trained on those; the pooled vector is the same either way.
    """
    vision.final_ln_after_pool = True


def vision_name(name: str, pretrained: str) -> str:
    """OpenAI's CLIP weights want QuickGELU; open_clip 3 only warns where the name does not say so."""
    return f"{name}-quickgelu" if pretrained == "openai" and not name.endswith("-quickgelu") else name


def mosaic_embeddings(language_model: Any) -> None:
    """Let MosaicML's own MPT-1B say where its embeddings are, as open_flamingo's factory does: its code does not.

    That code comes with the checkpoint (trust_remote_code) and could not be run here.
    """
    if type(language_model).__name__ != "MosaicGPT":
        return
    from open_flamingo.src.utils import extend_instance

    class Embeddings:
        def get_input_embeddings(self) -> Any:
            return self.transformer.wte  # type: ignore[attr-defined]

        def set_input_embeddings(self, new: Any) -> None:
            self.transformer.wte = new  # type: ignore[attr-defined]

    extend_instance(language_model, Embeddings)
