"""A stage of one's own: measure the share of words in capitals, and drop pages that shout.

In the config of a run:

    stages:
      - use: examples/shouting.py:SHOUTING
        after: site
"""

from obelics_pipeline import Document, document_stage

MOST = 0.3  # of the words; a page of headlines has fewer
LETTERS = 2  # "I" and "A" are no shouting


def judge(document: Document) -> str | None:
    """Why the document is dropped; None where it stays."""
    words = [word for word in document.text().split() if sum(map(str.isalpha, word)) >= LETTERS]
    share = sum(map(str.isupper, words)) / len(words) if words else 0.0
    document.scores["upper_case_share"] = share
    return "shouting" if share > MOST else None


SHOUTING = document_stage(
    name="shouting",
    title="Less the pages that shout",
    judge=judge,
    columns=["upper_case_share"],
    reasons={"shouting": "most of its words are in capitals"},
)
