"""The packages that a CLIP needs."""

from __future__ import annotations

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.torchvision_import import import_torchvision


def require() -> None:
    """Raises `UserError` where a package is missing."""
    try:
        import torch  # noqa: F401

        import_torchvision()
        import open_clip  # noqa: F401
        import PIL  # noqa: F401
        import safetensors  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"similarity: no module {error.name}; pip install 'obelics-pipeline[flamingo]', torch for this machine "
            "first (docs/similarity.md)"
        ) from None
