"""X-Robots-Tag: who is addressed, and what is forbidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.fetch.opt_out import opt_out_reason

DIRECTIVES = ("noai", "noimageai", "noindex", "noimageindex")


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (["noai"], "noai_header"),
        (["NoAI"], "noai_header"),
        (["noimageai"], "noimageai_header"),
        (["noindex, noimageindex"], "noindex_header"),
        (["nofollow, noai"], "noai_header"),
        (["none"], "noindex_header"),
        (["noarchive", "noimageindex"], "noimageindex_header"),
        (["obelics-pipeline: noai"], "noai_header"),
        (["Obelics-Pipeline:noai"], "noai_header"),
        (["*: noai"], "noai_header"),
        (["otherbot: nofollow, obelics-pipeline: noai"], "noai_header"),
        (["noai, otherbot: noarchive"], "noai_header"),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noai"], "noai_header"),
        (["unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, noai"], "noai_header"),
        (["max-snippet:20, noai"], "noai_header"),
        (["otherbot: nofollow", "noai"], "noai_header"),
        ([], None),
        ([""], None),
        (["all"], None),
        (["otherbot: noai"], None),
        (["otherbot: nofollow, noai"], None),
        (["otherbot: none"], None),
        (["obelics-pipeline: all, otherbot: noai"], None),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST"], None),
        (["noaiplease", "no ai"], None),
    ],
)
def test_a_header_concerns_us_or_it_does_not(headers: list[str], reason: str | None) -> None:
    assert opt_out_reason(headers, "obelics-pipeline", DIRECTIVES) == reason


def test_the_directives_are_the_configs() -> None:
    assert opt_out_reason(["noml"], "us", DIRECTIVES) is None
    assert opt_out_reason(["noml"], "us", (*DIRECTIVES, "NoML")) == "noml_header"
    assert opt_out_reason(["noai"], "us", ()) is None


@given(st.lists(st.text(max_size=40)))
def test_no_header_is_too_odd(headers: list[str]) -> None:
    assert opt_out_reason(headers, "us", DIRECTIVES) in {None, *(f"{d}_header" for d in DIRECTIVES)}
