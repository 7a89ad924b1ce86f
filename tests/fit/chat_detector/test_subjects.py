"""The domain that a machine's text without one gets."""

from obelics_pipeline.fit.chat_detector.subjects import with_domains
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, TRUSTED, LabelledText
from obelics_pipeline.fit.chat_detector.word_weights import WordTable

BOATS, LAWS, RHYMES = "a boat and a harbour with a sail", "a court and a judge with a law", "a rhyme and a verse"
PEOPLES = [
    *[LabelledText(BOATS, PEOPLE, "sea")] * 3,
    *[LabelledText(LAWS, PEOPLE, "law")] * 9,
    LabelledText(RHYMES, PEOPLE, ""),
    LabelledText("a sail is a sail is a sail", PEOPLE, TRUSTED),
]
MACHINES = [
    LabelledText("the sail of the boat", "talker", ""),
    LabelledText("the judge of the court", "talker", ""),
    LabelledText("the judge of the court", "talker", "stories"),
]


def domains(texts: list[LabelledText]) -> list[str]:
    return [one.domain for one in with_domains(texts, WordTable.of([one.form for one in texts]))]


def test_it_is_that_of_people_who_write_about_the_same() -> None:
    assert domains(PEOPLES + MACHINES)[len(PEOPLES) :] == ["sea", "law", "stories"]


def test_peoples_texts_keep_theirs_and_where_nobody_names_one_there_is_none() -> None:
    assert domains(PEOPLES + MACHINES)[: len(PEOPLES)] == [one.domain for one in PEOPLES]
    assert domains([*PEOPLES[-2:], *MACHINES]) == ["", TRUSTED, "", "", "stories"]
