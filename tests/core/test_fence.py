"""A fence stands around one folder, while a block runs."""

import pytest
from upath import UPath

from obelics_pipeline.core.fence import fence_around, fence_of_run_level, fenced

RUN = UPath("memory://bucket/run")


class Standing:
    """A fence that lets nobody through."""

    def check(self) -> None:
        raise AssertionError

    def overwrite(self, *_: object) -> None:
        raise AssertionError


@pytest.mark.parametrize(
    ("place", "below", "run_level"),
    [
        ("memory://bucket/run/manifest.json", True, True),
        ("memory://bucket/run/shuffled/note.json", True, False),
        ("memory://bucket/run/revisions/2/manifest.json", True, True),
        ("memory://bucket/run/revisions/2/shards/manifest.json", True, False),
        ("memory://bucket/run", False, False),
        ("memory://bucket/run-2/manifest.json", False, False),
        ("memory://bucket/manifest.json", False, False),
        ("memory://other/run/manifest.json", False, False),
        ("file:///bucket/run/manifest.json", False, False),
    ],
)
def test_it_is_asked_for_what_lies_in_its_folder(place: str, below: bool, run_level: bool) -> None:
    with fenced(RUN, Standing()):
        assert (fence_around(UPath(place)) is not None) == below
        assert (fence_of_run_level(UPath(place)) is not None) == run_level


def test_the_whole_of_a_bucket_may_be_fenced() -> None:
    with fenced(UPath("memory://bucket"), Standing()):
        assert fence_of_run_level(UPath("memory://bucket/manifest.json")) is not None


def test_it_is_gone_after_an_error() -> None:
    with pytest.raises(KeyError), fenced(RUN, Standing()):
        raise KeyError
    assert fence_around(RUN / "manifest.json") is None
