"""The detectors that the package ships."""

from pathlib import Path

import pytest

from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit.wording_detector.farms import FORMS
from obelics_pipeline.fit.wording_detector.recipes import PHRASING, WORDING
from obelics_pipeline.models.wording_detector.detector import all_bundled, all_of_phrasing, load

# A text of our own, and what a dictionary makes of it, word by word.
WRITTEN = (
    "In the morning she took the bus to the other side of the river, because she wanted to see the house in which her "
    "mother had been born. There was nobody at home, but a neighbour told her that the family had moved to the coast "
    "some years ago. She thanked him for his help, wrote down the name of the town and went back to the station. On "
    "the way she thought of what her mother would say about it."
)
TRANSLATED = (
    "At the morning has she one bus by the other side from the river taken, because she the house see wanted, at whom "
    "her mother born been is. It was nobody to house, but one neighbour said it that a family for some years on the "
    "coast drawn is. She thanked he to his help, wrote a name from the town up and went by the station back. At a way "
    "thought she on that, what its mother there over say became."
)
# Texts of our own, in which every second word changes places with the next.
GERMAN = (
    "Am Morgen nahm sie den Bus zur anderen Seite des Flusses, weil sie das Haus sehen wollte, in dem ihre Mutter "
    "geboren worden war. Niemand war zu Hause, aber ein Nachbar sagte ihr, dass die Familie vor einigen Jahren an die "
    "Küste gezogen sei. Sie dankte ihm für seine Hilfe, schrieb den Namen der Stadt auf und ging zurück zum Bahnhof. "
    "Auf dem Weg dachte sie daran, was ihre Mutter dazu sagen würde."
)


PORTUGUESE = (
    "De manhã ela tomou o autocarro para o outro lado do rio, porque queria ver a casa em que a sua mãe tinha nascido. "
    "Não havia ninguém em casa, mas um vizinho disse-lhe que a família se mudara para a costa há alguns anos. Ela "
    "agradeceu a ajuda, escreveu o nome da cidade e voltou para a estação. No caminho pensou no que a sua mãe diria."
)
ITALIAN = (
    "La mattina prese l'autobus per l'altra riva del fiume, perché voleva vedere la casa in cui era nata sua madre. In "
    "casa non c'era nessuno, ma un vicino le disse che la famiglia si era trasferita sulla costa qualche anno prima. "
    "Lei lo ringraziò per l'aiuto, annotò il nome della città e tornò alla stazione. Per strada pensava a quello che "
    "ne avrebbe detto sua madre."
)
RUSSIAN = (
    "Утром она поехала на автобусе на другой берег реки, потому что хотела увидеть дом, в котором родилась её мать. "
    "Дома никого не было, но сосед сказал ей, что семья уехала к морю несколько лет назад. Она поблагодарила его за "
    "помощь, записала название города и вернулась на станцию. По дороге она думала о том, что скажет об этом её мать, "
    "и смотрела в окно на поля, которые начинались сразу за мостом."
)


def swapped(text: str) -> str:
    words = text.split()
    return " ".join(word for place in range(0, len(words), 2) for word in words[place : place + 2][::-1])


def test_that_of_english_is_small_and_tells_what_made_it() -> None:
    path = Path(all_bundled()["en"])
    assert path.stat().st_size < 600_000
    about = load(str(path)).about
    assert set(about["recall"]) == set(about["families"]) == set(WORDING.learned)
    assert not set(about["recall_left_out"]) & set(WORDING.learned)
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in (*about["trusted"], *about["unusual"]))


@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "pt", "ru"])
def test_each_of_phrasing_is_small_and_tells_what_made_it(language: str) -> None:
    path = Path(all_of_phrasing()[language])
    assert path.stat().st_size < 1_500_000
    about = load(str(path)).about
    assert set(about["recall"]) == {*about["families"], FORMS} and set(about["families"]) <= set(PHRASING.learned)
    assert not set(about["recall_left_out"]) & set(PHRASING.learned)
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in (*about["trusted"], *about["unusual"]))


def test_a_text_translated_word_by_word_is_told_from_one_that_was_written() -> None:
    measuring = build("wording_score")
    written, translated = (measuring.score(Text(text, "en")) for text in (WRITTEN, TRANSLATED))
    assert written is not None and translated is not None
    assert written < 0.5 and translated > 0.95


@pytest.mark.parametrize(
    ("language", "text", "most"),
    [("de", GERMAN, 0.5), ("it", ITALIAN, 0.5), ("pt", PORTUGUESE, 0.5), ("ru", RUSSIAN, 0.7)],
)
def test_words_that_changed_places_raise_the_score(language: str, text: str, most: float) -> None:
    detector = load(all_of_phrasing()[language])
    written, moved = detector.score(text), detector.score(swapped(text))
    assert written is not None and moved is not None
    assert written < most and moved > 0.95


def test_farm_score_names_the_german_words_that_changed_places() -> None:
    score = build("farm_score")
    rows = list(score.reasons(Text(swapped(GERMAN) * 2, "de")))  # type: ignore[attr-defined]
    assert rows[0][0] == "head phrasing"
    named = {(about, said.split(", in ")[0]) for about, _, said in rows[1:]}
    assert ("pair of words that people do not write", "für ihm") in named
    assert ("words that do not agree", "zu ein") in named
    assert "word of grammar that does not fit" in dict(named)
    assert score.spans(Text(swapped(GERMAN) * 2, "de"))  # type: ignore[attr-defined]


def test_farm_score_reads_german_by_it() -> None:
    score = build("farm_score")
    written, moved = (score.score(Text(text * 2, "de")) for text in (GERMAN, swapped(GERMAN)))
    assert written is not None and moved is not None
    assert written < 0.95 < moved
