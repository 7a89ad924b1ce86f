"""What is counted in texts of a language that nobody told the program anything of."""

from functools import cache
from random import Random

from obelics_pipeline.fit.wording_detector.habits import count_phrasing
from obelics_pipeline.models.wording_detector.phrasing import Phrasing
from obelics_pipeline.models.wording_detector.vocabulary import FIRST, UNKNOWN

PLACES, THINGS, DEEDS = ("над", "под", "за", "возле"), ("домом", "лесом", "полем", "садом"), ("летит", "стоит", "горит")
OF_SEA, OF_FIELD = ("шторм", "парус", "якорь", "палуба"), ("плуг", "борозда", "колос", "жатва")


@cache
def habits() -> Phrasing:
    random = Random(1)

    def sentence(about: tuple[str, ...]) -> str:
        said = f"{random.choice(about)} {random.choice(DEEDS)} {random.choice(PLACES)} {random.choice(THINGS)}"
        return f"{said.capitalize()} , {random.choice(about)} {random.choice(about)} ."

    texts = [" ".join(sentence(random.choice((OF_SEA, OF_FIELD))) for _ in range(300)) for _ in range(4)]
    return count_phrasing(texts, 100, 60)


def number_of(word: str) -> int:
    return habits().vocabulary.words.index(word) + FIRST


def test_words_that_stand_for_each_other_are_one_set() -> None:
    sets = habits().sets
    assert len({int(sets[number_of(word)]) for word in PLACES}) == 1
    assert sets[number_of("над")] not in {-1, *(int(sets[number_of(word)]) for word in (*THINGS, *DEEDS))}


def test_shapes_that_stand_together_agree() -> None:
    agree = habits().shapes.agree[0]
    assert agree[number_of("над"), number_of("домом")] > 0
    assert agree[number_of("домом"), number_of("над")] < 0


def test_a_word_that_is_not_known_has_the_shape_of_its_ending() -> None:
    many = count_phrasing([" ".join(f"{stem}ение {stem}ость" for stem in map(str, STEMS))], 20, 20)
    row = many.shapes.read(many.read("рвение Рвение !"))
    assert row[0] >= many.shapes.shaped and row[1] == row[0] + len(many.shapes.endings) and row[2] == UNKNOWN
    own = habits().shapes.read(habits().read("над"))
    assert own.tolist() == [number_of("над")]


STEMS = [one + two for one in "бвгджз" for two in "аеиоу"]
