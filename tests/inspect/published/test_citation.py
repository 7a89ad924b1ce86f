"""How to cite a corpus: only what is stated, and nothing that breaks the formats."""

import yaml

from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published.citation import bibtex, citation_cff

SAID = Statement("Pages {of} a \\test", "odc-by-1.0", "https://x.example/", "a@x.example", "2026-05-31")


def test_cff_has_what_is_stated() -> None:
    about = yaml.safe_load(citation_cff(SAID, "A corpus: of pages"))
    assert about == {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it as below.",
        "type": "dataset",
        "title": "Pages {of} a \\test",
        "abstract": "A corpus: of pages",
        "authors": [{"name": "The makers of Pages {of} a \\test"}],
        "keywords": ["interleaved image-text documents", "vision-language models"],
        "license": "ODC-By-1.0",
        "url": "https://x.example/",
        "date-released": "2026-05-31",
    }


def test_what_is_not_stated_or_no_spdx_identifier_is_left_out() -> None:
    about = yaml.safe_load(citation_cff(Statement("X", "other"), ""))
    assert not {"license", "url", "date-released"} & about.keys()


def test_bibtex_is_one_entry_without_braces_of_others() -> None:
    assert bibtex(SAID) == (
        "@misc{pages-of-a-test, title = {Pages of a test}, author = {The makers of Pages of a test}, year = {2026}, "
        "url = {https://x.example/}}"
    )
    assert bibtex(Statement("日本")).startswith("@misc{corpus, title = {日本}")
