"""WordNet's files give, of each word, others of the same sense and wider ones."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.second.wordnet import NOUN, VERB, Sense, Wordnet

LICENCE = "  1 This is a licence\n"
FILES = {
    "data.noun": LICENCE
    + "00000100 06 n 02 boat 0 little_ship 0 001 @ 00000200 n 0000 | a small ship\n"
    + "00000200 06 n 01 vessel 0 000 | a craft\n",
    "index.noun": LICENCE + "boat n 1 1 @ 1 1 00000100\nlittle_ship n 1 1 @ 1 0 00000100\nvessel n 1 0 1 0 00000200\n",
    "data.verb": LICENCE + "00000100 38 v 02 boat 0 Sail 0 000 01 + 02 00 | go by boat\n",
    "index.verb": LICENCE + "boat v 1 0 1 0 00000100\nsail v 1 0 1 0 00000100\n",
    "data.adj": LICENCE,
    "index.adj": LICENCE,
    "data.adv": LICENCE,
    "index.adv": LICENCE,
}


def test_words_of_the_same_sense_and_wider_ones_are_read(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    found = Wordnet.load(tmp_path)
    assert found.senses == {
        "boat": [Sense(NOUN, ["little ship"], ["vessel"]), Sense(VERB, ["Sail"], [])],
        "sail": [Sense(VERB, ["boat"], [])],
    }


def test_a_folder_without_them_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"WordNet .*: no data\.noun, index\.noun and so on of WordNet 3"):
        Wordnet.load(tmp_path)
    for name in FILES:
        (tmp_path / name).write_text("a b c\n")
    with pytest.raises(UserError, match="WordNet"):
        Wordnet.load(tmp_path)
