"""What metas of a page forbid; a page's own meta goes before its header."""

import pytest

from obelics_pipeline.inspect.consent_again.metas import page_refusal


@pytest.mark.parametrize(
    ("head", "header", "said"),
    [
        ("<p>x", "", None),
        ('<meta name=robots content="index, noai">', "", "noai_meta"),
        ('<META NAME="Robots" CONTENT=" NoImageAI ">', "", "noimageai_meta"),
        ('<meta name=robots content="noindex">', "", None),
        ('<meta name=otherbot content="noai">', "", None),
        ('<meta name="tdm-reservation" content="1">', "", "tdm_reserved"),
        ('<meta name="tdm-reservation" content="0">', "1", None),
        ("", "1", "tdm_reserved"),
        ('<meta name="tdm-reservation" content="2">', "1", "tdm_reserved"),
        ('<meta name=robots content="noai"', "", None),  # cut within the element
    ],
)
def test_metas_and_headers(head: str, header: str, said: str | None) -> None:
    assert page_refusal(head.encode(), [("tdm-reservation", header)]) == said
