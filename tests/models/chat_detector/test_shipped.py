"""The detector that the package ships."""

from pathlib import Path

import pytest

from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.models.chat_detector.detector import bundled, load
from obelics_pipeline.models.perplexity import SHIPPED

CHATTY = (
    "Overall, embracing a balanced routine can significantly enhance your well-being. By incorporating mindful habits "
    "into your daily life, you can foster a sense of calm and cultivate resilience. Additionally, it is important to "
    "prioritize rest, as it plays a crucial role in maintaining mental health. Remember, every journey "
    "is unique, and finding what works best for you is essential. Ultimately, small and consistent steps can lead to "
    "lasting and meaningful change."
)
PLAIN = (
    "Got there about ten past eight, the gate was shut and Dave had the key. Typical. We sat in the van and ate his "
    "sandwiches until he turned up. The pump went in by noon, no leaks, though the old flange took two of us and a "
    "hammer. Paid £40 for the part, which is daylight robbery, but the lady at Harrow's did throw in the washers. "
    "Must ring her back on Thursday about the other tap."
)


def test_it_tells_a_chat_models_way_of_writing_from_a_plain_note() -> None:
    pytest.importorskip("kenlm")
    chatty, plain = (build("chat_score").score(Text(text, "en")) for text in (CHATTY, PLAIN))
    assert chatty is not None and plain is not None
    assert chatty > 0.95 and plain < 0.5


def test_it_is_small_and_says_what_it_was_made_of_and_which_language_model_it_knows() -> None:
    path = bundled("en")
    assert path is not None and path.stat().st_size < 200_000
    about = load(str(path)).about
    assert {"neither seen", "texts", "input", "trusted", "versions"} <= set(about)
    assert about["kenlm"] == {name: file_sha256(Path(SHIPPED) / name) for name in ("en.arpa.bin", "en.sp.model")}
