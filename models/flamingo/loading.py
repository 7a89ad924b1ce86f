"""A Flamingo by its name or its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from obelics_pipeline.models.device.placement import check_dtype, chosen_device, chosen_dtype
from obelics_pipeline.models.flamingo.assembly import FlamingoModel
from obelics_pipeline.models.flamingo.folder import read_folder
from obelics_pipeline.models.flamingo.parts import build
from obelics_pipeline.models.flamingo.released import fetch
from obelics_pipeline.models.flamingo.scorer import FlamingoScorer, Scoring
from obelics_pipeline.models.flamingo.unigram import Unigram
from obelics_pipeline.models.pictures.sources import ImageSource, no_images


def load(
    name_or_folder: str, device: str = "auto", dtype: str = "auto", trust_remote_code: bool = False
) -> FlamingoModel:
    """A model that is ready to score.

    `name_or_folder`: one of `released.RELEASES`, or a folder with a `flamingo.json`. `device`: "cpu", "cuda",
    "cuda:1", …; by itself the first GPU where there is one. `dtype`: one of `placement.DTYPES`; by itself bfloat16 on a
    GPU, float32 on a CPU. `trust_remote_code` lets a released model run the code of its repository.
    Raises `UserError` for anything that is wrong with these, and where a package, a file or the device is missing.
    """
    from obelics_pipeline.models.flamingo.compat import require

    require()
    check_dtype(dtype)
    device = chosen_device(device)
    folder = Path(name_or_folder).expanduser()
    parts = read_folder(folder, trust_remote_code) if folder.is_dir() else fetch(name_or_folder, trust_remote_code)
    return build(parts, device, chosen_dtype(dtype, device))


@dataclass(frozen=True, slots=True)
class LoadFlamingo:
    """Makes a `FlamingoScorer` in a worker: `load` of `beam_jobs.ScoreDocuments`, `make` of `engines.model.WithModel`.

    Two that are equal make the same scorer, so a process makes one; `images` must be picklable, and equal likewise.
    `unigram` is the path of token counts, see `unigram`. The other fields are those of `load`.
    """

    model: str
    images: ImageSource = no_images
    scoring: Scoring = field(default_factory=Scoring)
    unigram: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    trust_remote_code: bool = False

    def __call__(self) -> FlamingoScorer:
        """Load the model. Raises `UserError` as `load` does."""
        model = load(self.model, self.device, self.dtype, self.trust_remote_code)
        words = len(model.tokenizer)
        return FlamingoScorer(
            model, self.images, self.scoring, None if self.unigram is None else Unigram.load(self.unigram, words)
        )
