"""The detector that the package ships."""

from pathlib import Path

from obelics_pipeline.fit.coherence_detector.command import LEARNED
from obelics_pipeline.models.coherence_detector.detector import all_bundled, load

# A text of our own, and sentences and words of several.
WRITTEN = (
    "The old ferry had carried people over the river for sixty years. It was slow, and in winter it often did not run "
    "at all. So the town decided to build a bridge. The first plan was too dear, and nobody liked the second one. In "
    "the end an engineer from the coast drew a small bridge of wood and steel. It was opened on a cold morning in "
    "March, and the mayor walked across it first. The ferryman came too, because he wanted to see it. He said that it "
    "was a good bridge. Then he went home and sold his boat. His son now keeps a small shop beside the bridge, where "
    "he sells tea to the people who cross it. They talk about the ferry as if it had been a better time."
)


def test_it_is_small_and_tells_what_made_it() -> None:
    path = Path(str(all_bundled()["en"]))
    assert path.stat().st_size < 1_500_000
    about = load(str(path)).about
    assert set(about["recall"]) == set(about["families"]) == set(LEARNED)
    assert not set(about["recall_left_out"]) & set(LEARNED)
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in (*about["trusted"], *about["unusual"]))


def test_stuffed_text_is_told_from_a_text_that_was_written() -> None:
    detector = load(str(all_bundled()["en"]))
    stuffed = (
        "Looking for cheap garden chairs in Leeds? Our cheap garden chairs are the best garden chairs in Leeds. " * 8
    )
    written, repeated = detector.score(WRITTEN), detector.score(stuffed)
    assert written is not None and repeated is not None
    assert written < 0.5 < 0.95 < repeated
