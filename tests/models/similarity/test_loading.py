from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.sources import FolderImages
from obelics_pipeline.models.similarity.architecture import architecture
from obelics_pipeline.models.similarity.columns import COLUMNS
from obelics_pipeline.models.similarity.loading import LoadSimilarity, load, with_weights
from tests.models.pictures.illustrated import document, png
from tests.models.similarity import tiny

TEXT = "a red bar"
PICTURE = tiny.drawing(TEXT)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clip")
    tiny.save(folder, tiny.towers())
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(saved, tmp_path / "clip"))


def loader(folder: Path, **options: Any) -> LoadSimilarity:
    values = {"model": "tiny.json", "weights": "tiny.safetensors"} | options
    values |= {name: str(folder / values[name]) for name in ("model", "weights")}
    return LoadSimilarity(**({"device": "cpu"} | values))


def cosine(make: LoadSimilarity) -> float:
    clip = make().clip
    row = clip.words.first(TEXT)
    assert row is not None
    return float(clip.image_vectors([PICTURE], 1)[0] @ clip.text_vectors([row], 1)[0])


def expected(towers: Any) -> float:
    import open_clip

    with torch.inference_mode():
        image = towers.encode_image(tiny.normalised(PICTURE[None]), normalize=True)
        text = towers.encode_text(open_clip.SimpleTokenizer(context_length=tiny.LENGTH)(TEXT), normalize=True)
    return float(image[0] @ text[0])


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_saved_model_is_loaded_as_it_was(saved: Path) -> None:
    torch.manual_seed(1234)  # nothing that is loaded may be left as it was drawn
    assert cosine(loader(saved)) == pytest.approx(expected(tiny.towers()), abs=1e-6)


@pytest.mark.parametrize("wrapped", [False, True])
def test_weights_may_be_in_torch_s_own_form(folder: Path, wrapped: bool) -> None:
    state = tiny.towers().state_dict()
    of_a_trainer = {"epoch": 1, "state_dict": {f"module.{name}": value for name, value in state.items()}}
    torch.save(of_a_trainer if wrapped else state, folder / "w.pt")
    assert cosine(loader(folder, weights="w.pt")) == cosine(loader(folder))


def test_weights_of_one_text_form_fit_a_model_of_the_other(folder: Path) -> None:
    (folder / "custom.json").write_text(json.dumps(tiny.CONFIG | {"custom_text": True}))
    assert cosine(loader(folder, model="custom.json")) == cosine(loader(folder))


@pytest.mark.parametrize(
    "vision",
    [
        {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8, "head_width": 8},
        {"image_size": 32, "timm_model_name": "resnet10t", "timm_model_pretrained": True, "timm_pool": "avg"},
    ],
)
def test_other_towers_are_loaded_too_and_run_in_bfloat16(tmp_path: Path, vision: dict[str, Any]) -> None:
    """With batch norms; and nothing is fetched, though the architecture asks for it."""
    from obelics_pipeline.models.similarity.architecture import Architecture, Preprocessing
    from obelics_pipeline.models.similarity.clip import _towers

    config = tiny.CONFIG | {"vision_cfg": vision}
    torch.manual_seed(0)
    towers = _towers(Architecture(name=None, config=config, preprocessing=Preprocessing())).eval()
    tiny.save(tmp_path, towers, config)
    assert cosine(loader(tmp_path)) == pytest.approx(expected(towers), abs=1e-5)
    assert cosine(loader(tmp_path, dtype="bfloat16")) == pytest.approx(expected(towers), abs=0.05)


def test_the_type_is_the_one_asked_for(saved: Path) -> None:
    clip = loader(saved, dtype="bfloat16")().clip
    assert {p.dtype for p in clip.towers.parameters()} == {torch.bfloat16}
    vectors = clip.image_vectors([PICTURE], 1)
    assert vectors.dtype == np.float32 and np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-6)


def test_the_sha256_is_compared_where_it_is_given(folder: Path) -> None:
    right = sha256(folder / "tiny.safetensors")
    assert cosine(loader(folder, sha256=right)) == cosine(loader(folder))
    with pytest.raises(UserError, match=rf"damaged or another file: its sha256 is {right}, {'0' * 64} is expected"):
        loader(folder, sha256="0" * 64)()


class Harmful:
    """Unpickled, it would say so."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('code was run')",))


def test_weights_that_would_run_code_are_refused(folder: Path) -> None:
    torch.save({"visual.proj": Harmful()}, folder / "w.pt")
    with pytest.raises(UserError, match="no weights that can be read without running code") as caught:
        loader(folder, weights="w.pt")()
    assert "weights_only" not in str(caught.value)


def changed(**values: Any) -> dict[str, Any]:
    return tiny.CONFIG | {"vision_cfg": tiny.CONFIG["vision_cfg"] | values}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed(layers=1), "is of another model: it holds visual.transformer.resblocks.1"),
        (changed(layers=3), "is of another model: it lacks visual.transformer.resblocks.2"),
        (
            changed(image_size=48),
            "is of another model: .*size mismatch for visual.positional_embedding",
        ),
        (changed(colours=3), "is no architecture of open_clip: TypeError: .*colours"),
        (changed(image_size=[32, 64]), "only square images"),
        ({"embed_dim": 4}, "is no architecture of open_clip: KeyError: 'text_cfg'"),
        (tiny.CONFIG | {"text_cfg": tiny.CONFIG["text_cfg"] | {"context_length": 77}}, "size mismatch"),
    ],
)
def test_weights_and_architecture_that_do_not_fit_are_told_in_one_line(
    folder: Path, config: dict[str, Any], message: str
) -> None:
    (folder / "tiny.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=message) as caught:
        loader(folder)()
    assert "\n" not in str(caught.value)


def test_files_names_and_settings_that_do_not_exist_are_told(folder: Path) -> None:
    with pytest.raises(UserError, match=r"weights .*none\.pt: no such file$"):
        loader(folder, weights="none.pt")()
    with pytest.raises(UserError, match=r"no such file, and open_clip publishes no such .* of ViT-B-32 \(but openai,"):
        load("ViT-B-32", "none.pt")
    with pytest.raises(UserError, match=r"none\.json cannot be read"):
        loader(folder, model="none.json")()
    with pytest.raises(UserError, match="ViT-B-23 is neither an architecture of open_clip"):
        load("ViT-B-23", "openai")
    with pytest.raises(UserError, match="dtype is int8; valid are auto, float32, bfloat16, float16"):
        loader(folder, dtype="int8")()
    with pytest.raises(UserError, match=r"device abacus: .*valid are auto, cpu"):
        loader(folder, device="abacus")()


def test_where_the_hub_cannot_be_reached_a_file_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"weights openai of ViT-B-32 cannot be fetched: .*; name a file") as caught:
        load("ViT-B-32", "openai")
    assert "\n" not in str(caught.value)


def test_published_weights_say_how_they_want_to_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import open_clip.pretrained

    monkeypatch.setattr(open_clip.pretrained, "download_pretrained", lambda _about: str(tmp_path / "w.safetensors"))
    openai, path = with_weights(architecture("ViT-L-14"), "openai")
    assert openai.config["quick_gelu"] is True and path == tmp_path / "w.safetensors"
    laion, _ = with_weights(architecture("ViT-L-14"), "laion2b_s32b_b82k")
    assert "quick_gelu" not in laion.config and laion.preprocessing.mean == (0.5, 0.5, 0.5)


def test_a_missing_package_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch, saved: Path) -> None:
    monkeypatch.setitem(sys.modules, "open_clip", None)
    with pytest.raises(UserError, match=r"no module open_clip; pip install 'obelics-pipeline\[flamingo\]'"):
        loader(saved)()


def test_equal_loaders_are_equal_wherever_they_were_sent(saved: Path) -> None:
    make = loader(saved, images=FolderImages(saved), batch=4)
    sent = pickle.loads(pickle.dumps(make))
    assert sent == make and hash(sent) == hash(make) and sent != loader(saved)
    scorer = sent()
    assert (scorer.batch, scorer.max_images, scorer.images) == (4, 64, FolderImages(saved))


def test_the_settings_are_those_of_the_config() -> None:
    from obelics_pipeline.core.config.scoring import SimilarityConfig

    config = SimilarityConfig(model="ViT-B-32", weights="openai")
    made = LoadSimilarity(**config.model_dump())
    assert made == LoadSimilarity("ViT-B-32", "openai")


def test_the_transform_of_beam_gets_the_columns_and_the_similarity_of_images(saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("apache_beam")
    from obelics_pipeline.beam_jobs.elements import from_bytes, to_bytes
    from obelics_pipeline.beam_jobs.score_documents import score_group

    name = hashlib.sha256(b"image:1").hexdigest()
    (tmp_path / name).write_bytes(png(PICTURE))
    one = document(TEXT, "image:1")
    (scored,) = map(from_bytes, score_group([to_bytes(one)], loader(saved, images=FolderImages(tmp_path))()))
    assert set(scored.scores) == set(COLUMNS)
    assert scored.images()[0].similarity == scored.scores["image_text_similarity"] is not None
