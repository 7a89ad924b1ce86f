"""The filters of this package, by name."""

from __future__ import annotations

from collections.abc import Callable

from obelics_pipeline.filters.character_repetition_ratio import CharacterRepetitionRatio
from obelics_pipeline.filters.chat_score import ChatScore
from obelics_pipeline.filters.common_word_ratio import CommonWordRatio
from obelics_pipeline.filters.distinct_word_ratio import DistinctWordRatio
from obelics_pipeline.filters.farm_score import FarmScore
from obelics_pipeline.filters.flagged_word_ratio import FlaggedWordRatio
from obelics_pipeline.filters.image_count import ImageCount
from obelics_pipeline.filters.images_per_thousand_words import ImagesPerThousandWords
from obelics_pipeline.filters.language_score import LanguageScore
from obelics_pipeline.filters.lexical_cohesion import LexicalCohesion
from obelics_pipeline.filters.main_content_confidence import MainContentConfidence
from obelics_pipeline.filters.measuring import Filter
from obelics_pipeline.filters.page_type_probability import PageTypeProbability
from obelics_pipeline.filters.perplexity import Perplexity
from obelics_pipeline.filters.punctuation_ratio import PunctuationRatio
from obelics_pipeline.filters.quality_score import QualityScore
from obelics_pipeline.filters.spam_word_ratio import SpamWordRatio
from obelics_pipeline.filters.special_character_ratio import SpecialCharacterRatio
from obelics_pipeline.filters.stopword_ratio import StopwordRatio
from obelics_pipeline.filters.word_count import WordCount
from obelics_pipeline.filters.word_repetition_ratio import WordRepetitionRatio
from obelics_pipeline.filters.wording_score import WordingScore
from obelics_pipeline.filters.worse_than_unigram_ratio import WorseThanUnigramRatio

BUILT_IN: dict[str, Callable[..., Filter]] = {
    kind.name: kind
    for kind in (
        WordCount,
        CharacterRepetitionRatio,
        WordRepetitionRatio,
        SpecialCharacterRatio,
        StopwordRatio,
        FlaggedWordRatio,
        PunctuationRatio,
        CommonWordRatio,
        LanguageScore,
        Perplexity,
        WorseThanUnigramRatio,
        QualityScore,
        SpamWordRatio,
        ImageCount,
        MainContentConfidence,
        PageTypeProbability,
        FarmScore,
        ChatScore,
        WordingScore,
        DistinctWordRatio,
        LexicalCohesion,
        ImagesPerThousandWords,
    )
}
