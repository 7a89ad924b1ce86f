"""Words, numbers and marks of a text, in any language whose words are parted by blanks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# How a text was stored is no trace of its writer: one mark for all that mean the same, and Russian without the dots of
# its ё, which few write.
_MARKS = {"«": '"', "»": '"', "„": '"', "‹": "'", "›": "'", "ʼ": "'", "ё": "е", "Ё": "Е"}
# `don't`, `l'homme` and `dell'anno` are two words, of which the first ends with its apostrophe.
_TOKEN = re.compile(r"[^\W\d_]+(?:'(?=[^\W\d_]))?|\d+(?:[.,]\d+)*|[^\w\s]")


def plain_marks(form: str) -> str:
    """The same with the marks that `tokens_of` tells apart; letters and their accents are one character each."""
    form = unicodedata.normalize("NFC", form)
    for mark, plain in _MARKS.items():
        form = form.replace(mark, plain)  # most are not there, which a search tells sooner than `translate`
    return form


def tokens_of(form: str) -> Sequence[str]:
    """Those of a text in the form that is judged."""
    return _TOKEN.findall(plain_marks(form))
