"""The models that the makers of OpenFlamingo released, by name, from huggingface.co or its cache on this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.weight_files import SUFFIXES, check
from obelics_pipeline.models.flamingo.compat import vision_name
from obelics_pipeline.models.flamingo.parts import Parts


@dataclass(frozen=True, slots=True)
class Release:
    """The language model under a released checkpoint, and how often gated layers stand between its blocks."""

    language_model: str
    cross_attention_every: int
    remote_code: bool = False  # its architecture is in its repository, not in transformers


# Language models and intervals: the table "Released OpenFlamingo models" of open_flamingo 2.0.1 and the model cards,
# which name these copies of MosaicML's models. All see through OpenAI's CLIP ViT-L/14.
RELEASES = {
    "openflamingo/OpenFlamingo-3B-vitl-mpt1b": Release("anas-awadalla/mpt-1b-redpajama-200b", 1, True),
    "openflamingo/OpenFlamingo-3B-vitl-mpt1b-langinstruct": Release(
        "anas-awadalla/mpt-1b-redpajama-200b-dolly", 1, True
    ),
    "openflamingo/OpenFlamingo-4B-vitl-rpj3b": Release("togethercomputer/RedPajama-INCITE-Base-3B-v1", 2),
    "openflamingo/OpenFlamingo-4B-vitl-rpj3b-langinstruct": Release(
        "togethercomputer/RedPajama-INCITE-Instruct-3B-v1", 2
    ),
    "openflamingo/OpenFlamingo-9B-vitl-mpt7b": Release("anas-awadalla/mpt-7b", 4),
}
VISION = vision_name("ViT-L-14", "openai")
VISION_REPOSITORY = "timm/vit_large_patch14_clip_224.openai"  # open_clip.pretrained: where it fetches these weights
VISION_FILE = "open_clip_model.safetensors"

_CONFIGURATION = ("*.json", "*.txt", "*.model")
_SHA256 = re.compile("[0-9a-f]{64}")


def fetch(name: str, trust_remote_code: bool) -> Parts:
    """The parts of a released model, downloaded where they are not in the hub's cache, each file of weights checked.

    Raises `UserError` for a name that is not released, a model that would run its repository's code where that is
    not allowed, and where the hub cannot be reached.
    """
    release = release_of(name, trust_remote_code)
    code = ("*.py",) if release.remote_code else ()
    language_model = _snapshot(release.language_model, (*_CONFIGURATION, *code, "*.safetensors"))
    if not any(language_model.glob("*.safetensors")):
        language_model = _snapshot(release.language_model, (*_CONFIGURATION, *code, "*.bin"))
    return Parts(
        vision=VISION,
        vision_weights=_snapshot(VISION_REPOSITORY, (VISION_FILE,)) / VISION_FILE,
        language_model=language_model,
        checkpoint=_snapshot(name, ("checkpoint.pt",)) / "checkpoint.pt",
        cross_attention_every=release.cross_attention_every,
        trust_remote_code=trust_remote_code,
    )


def release_of(name: str, trust_remote_code: bool) -> Release:
    """A release by its name. Raises `UserError` for another name, and where code would be run that is not allowed."""
    release = RELEASES.get(name)
    if release is None:
        raise UserError(f"Flamingo: {name} is neither a folder nor a released model ({', '.join(RELEASES)})")
    if release.remote_code and not trust_remote_code:
        raise UserError(
            f"Flamingo: {name} runs Python code from the repository {release.language_model}; set trust_remote_code "
            "to true if you trust it, or take openflamingo/OpenFlamingo-4B-vitl-rpj3b, which needs none"
        )
    return release


def _snapshot(repository: str, patterns: tuple[str, ...]) -> Path:
    """A folder with the files of a repository, those of weights checked."""
    import huggingface_hub

    try:
        folder = Path(huggingface_hub.snapshot_download(repository, allow_patterns=list(patterns)))
    except Exception as error:  # many kinds: of HTTP, of the hub, of the disk
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"Flamingo: {repository} cannot be had from huggingface.co: {reason}; give a local folder, docs/flamingo.md"
        ) from None
    for path in sorted(folder.glob("*")):
        if path.suffix in SUFFIXES:
            check_cached(path)
    return folder


def check_cached(path: Path) -> None:
    """Raises `UserError` where a file of the hub's cache is damaged: its blob is named by the sha256 that the hub says.

    Only large files are; the others (configs) are named by git and are not checked.
    """
    blob = path.resolve()
    if _SHA256.fullmatch(blob.name):
        check(blob, blob.name)
