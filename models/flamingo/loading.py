"""A Flamingo by its name or its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from models.flamingo.assembly import FlamingoModel
from models.flamingo.folder import read_folder
from models.flamingo.images import ImageSource, no_images
from models.flamingo.parts import build
from models.flamingo.released import fetch
from models.flamingo.scorer import FlamingoScorer, Scoring
from models.flamingo.unigram import Unigram
from obelics_pipeline.errors import UserError

DTYPES = ("float32", "bfloat16", "float16")


def load(
    name_or_folder: str, device: str = "auto", dtype: str = "auto", trust_remote_code: bool = False
) -> FlamingoModel:
    """A model that is ready to score.

    `name_or_folder`: one of `released.RELEASES`, or a folder with a `flamingo.json`. `device`: "cpu", "cuda",
    "cuda:1", …; by itself the first GPU where there is one. `dtype`: one of `DTYPES`; by itself bfloat16 on a GPU,
    float32 on a CPU. `trust_remote_code` lets a released model run the code of its repository.
    Raises `UserError` for anything that is wrong with these, and where a package, a file or the device is missing.
    """
    from models.flamingo.compat import require

    require()
    if dtype not in (*DTYPES, "auto"):
        raise UserError(f"Flamingo: dtype is {dtype}; valid are auto, {', '.join(DTYPES)}")
    device = _device(device)
    folder = Path(name_or_folder).expanduser()
    parts = read_folder(folder, trust_remote_code) if folder.is_dir() else fetch(name_or_folder, trust_remote_code)
    return build(parts, device, ("float32" if device == "cpu" else "bfloat16") if dtype == "auto" else dtype)


def _device(device: str) -> str:
    """The device that is asked for. Raises `UserError` where this machine has none such."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for CUDA
        raise UserError(f"Flamingo: device {device}: {str(error).splitlines()[0]}; valid are auto, cpu, cuda") from None
    return device


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
