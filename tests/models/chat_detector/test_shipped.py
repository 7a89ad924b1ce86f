"""The detector that the package ships."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.models.chat_detector.detector import all_bundled, all_without_model, load, load_without_model
from obelics_pipeline.models.chat_detector.reasons import told
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
    path = Path(all_bundled()["en"])
    assert path.stat().st_size < 200_000
    about = load(str(path)).about
    assert {"neither seen", "texts", "input", "trusted", "versions"} <= set(about)
    assert about["kenlm"] == {name: file_sha256(Path(SHIPPED) / name) for name in ("en.arpa.bin", "en.sp.model")}


def test_the_one_without_a_language_model_tells_them_apart_too_and_one_with_it_is_no_head() -> None:
    path = all_without_model()["en"]
    assert Path(path).stat().st_size < 200_000
    detector = load_without_model(path)
    assert detector.about["kenlm"] == {} and "kenlm" not in detector.about["versions"]
    chatty, plain = detector.score(CHATTY, None), detector.score(PLAIN, None)
    assert chatty is not None and plain is not None
    assert chatty > 0.9 and plain < 0.5
    with pytest.raises(UserError, match="needs KenLM, so give it to chat_score"):
        load_without_model(all_bundled()["en"])


def test_what_speaks_for_a_chat_model_is_named_where_it_stands() -> None:
    told_ = told(load_without_model(all_without_model()["en"]), CHATTY)
    named = [quote for about, _, quote in told_.rows if about == "word or pair that chat models use"]
    assert named and [CHATTY[begin:end].lower().replace(",", " ,") for begin, end in told_.spans] == named
    assert [about for about, _, _ in told_.rows][-2:] == ["log odds of all words and pairs", "log odds by style"]
