"""A similarity scorer by the names of its model and weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.placement import check_dtype, chosen_device, chosen_dtype
from obelics_pipeline.models.device.weight_files import check, read
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.similarity.architecture import Architecture, Preprocessing, architecture, published
from obelics_pipeline.models.similarity.clip import Clip, build
from obelics_pipeline.models.similarity.packages import require
from obelics_pipeline.models.similarity.scorer import SimilarityScorer


@dataclass(frozen=True, slots=True)
class LoadSimilarity:
    """Makes a `SimilarityScorer`: `load` of `beam_jobs.ScoreDocuments`, `make` of `engines.model.WithModel`.

    Two that are equal make the same scorer, so a process makes one; `images` must be picklable, and equal likewise.
    `batch`: images, or texts, that are encoded at a time. `max_images` of a document, from its beginning, are looked
    at. The other fields are those of `load`.
    """

    model: str
    weights: str
    sha256: str | None = None
    images: ImageSource = no_images
    device: str = "auto"
    dtype: str = "auto"
    batch: int = 128
    max_images: int = 64

    def __call__(self) -> SimilarityScorer:
        """Load the model. Raises `UserError` as `load` does."""
        clip = load(self.model, self.weights, self.sha256, self.device, self.dtype)
        return SimilarityScorer(clip, self.images, self.batch, self.max_images)


def load(model: str, weights: str, sha256: str | None = None, device: str = "auto", dtype: str = "auto") -> Clip:
    """A CLIP that is ready to compare.

    `model`: the name of an architecture of open_clip, or a JSON file of one (`architecture.architecture`). `weights`: a
    file (safetensors, or tensors that torch saved), or the name by which open_clip knows published ones, which are
    downloaded; `sha256` in hexadecimal is what either must have, None: not compared. `device`: "cpu", "cuda", "cuda:1",
    …; by itself the first GPU where there is one. `dtype`: one of `placement.DTYPES`; by itself bfloat16 on a GPU,
    float32 on a CPU.
    Raises `UserError` for anything that is wrong with these, and where a package, a file or the device is missing.
    """
    require()
    check_dtype(dtype)
    device = chosen_device(device)
    of, path = with_weights(architecture(model), weights)
    if sha256 is not None:
        check(path, sha256)
    return build(of, read(path), path, device, chosen_dtype(dtype, device))


def with_weights(of: Architecture, weights: str) -> tuple[Architecture, Path]:
    """The file of weights, and the architecture as these want it.

    What open_clip says of published weights goes before what it says of the architecture: how images are prepared, and
    OpenAI's activation (QuickGELU), which other weights of the same architecture do without.
    Raises `UserError` where there is neither such a file nor such a name, or the hub cannot be reached.
    """
    path = Path(weights).expanduser()
    if path.is_file():
        return of, path
    about = {} if of.name is None else published(of.name, weights)
    if not about:
        raise UserError(f"similarity: weights {weights}: no such file{_published_ones(of)}")
    from open_clip.pretrained import download_pretrained

    try:
        path = Path(download_pretrained(dict(about)))
    except Exception as error:  # many kinds: of HTTP, of the hub, of the disk
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"similarity: weights {weights} of {of.name} cannot be fetched: {reason}; name a file of them instead"
        ) from None
    config = of.config | ({"quick_gelu": True} if about.get("quick_gelu") else {})
    return of.model_copy(update={"config": config, "preprocessing": Preprocessing(**about)}), path


def _published_ones(of: Architecture) -> str:
    if of.name is None:
        return ""
    import open_clip

    tags = open_clip.list_pretrained_tags_by_model(of.name)
    return f", and open_clip publishes no such weights of {of.name} (but {', '.join(tags) or 'none'})"
