"""Headings under which a page offers something other than its content: what else to read, comments, sharing."""

from __future__ import annotations

LONGEST = 60  # characters; what is longer is a sentence that begins like one

# How such headings begin, in lower case, by language: forms that are rare as headings of content. A space at the end
# stands for the end of a word or of the heading.
_BEGINNINGS: dict[str, tuple[str, ...]] = {
    "en": (
        "related", "similar", "recommended", "more from", "more on ", "more stories", "more news", "more in ",
        "more articles", "more by ", "more like", "read more", "read next", "read also", "see also", "also on ",
        "also read", "also see", "you may ", "you might ", "trending", "popular", "most read", "most popular",
        "most viewed", "most recent", "latest", "recent posts", "recent articles", "recent comments", "recent news",
        "comment ", "comments", "leave a comment", "leave a reply", "post a comment", "join the discussion",
        "join the conversation", "responses", "replies", "trackbacks", "share ", "share:", "follow", "tag ", "tags",
        "categor", "filed under", "about the author", "newsletter", "subscribe", "sign up", "advertisement",
        "sponsored", "next article", "next post", "previous", "around the web", "up next", "editor's picks",
        "editor’s picks", "top stories", "what's next", "what’s next",
    ),
    "de": (
        "ähnliche", "weitere", "mehr zum ", "mehr zu ", "mehr aus ", "mehr von ", "das könnte", "auch interessant",
        "lesen sie", "kommentar", "schreibe einen", "schreiben sie einen", "schlagw", "kategorie", "teilen",
        "meistgelesen", "neueste", "letzte", "verwandte", "passend", "empfehl", "anzeige", "vorheriger", "nächster",
        "zum thema", "über den autor",
    ),
    "es": ("artículos", "relacionad", "te puede", "también", "más noticias", "más leíd", "más sobre", "más en ",
           "comentario", "deja un", "etiquetas", "compart"),
    "pt": ("leia mais", "leia também", "veja mais", "veja também", "notícias", "mais lid", "mais notícias", "você pode",
           "voce pode", "deixe um"),
    "fr": ("à lire", "lire aussi", "lire la suite", "sur le même", "articles liés", "articles similaires",
           "articles récents", "commentaire", "laisser un", "partager", "vous aimerez"),
    "it": ("leggi anche", "articoli correlati", "articoli recenti", "potrebbe", "commenti", "lascia un", "condividi"),
    "nl": ("lees ook", "lees meer", "gerelateerd", "reacties", "deel "),
    "pl": ("czytaj", "podobne", "zobacz", "komentarze", "udostępnij"),
    "ru": ("читайте", "похожие", "комментари", "поделиться", "ещё по теме", "также"),
    "ja": ("関連", "おすすめ", "人気", "最新", "コメント", "シェア", "カテゴリ", "タグ"),
    "zh": ("相关", "相關", "推荐", "推薦", "热门", "熱門", "评论", "評論", "分享", "更多"),
    "ko": ("관련", "댓글", "추천", "인기"),
}  # fmt: skip
_KEY = 2  # letters that every beginning has
BEGINNINGS = tuple(b for beginnings in _BEGINNINGS.values() for b in beginnings)
_BY_KEY: dict[str, tuple[str, ...]] = {}
for _beginning in BEGINNINGS:
    _BY_KEY[_beginning[:_KEY]] = (*_BY_KEY.get(_beginning[:_KEY], ()), _beginning)
BEFORE = " \t\n0123456789.:-–—•*#»«>|/+[]()\"'“”„"  # numbers and signs before the words, as in "3 Comments"


def is_section_title(text: str) -> bool:
    """Whether a text, if it is a heading, introduces something other than the content."""
    if len(text) > LONGEST:
        return False
    if not text[:1].isalpha():
        text = text.lstrip(BEFORE)
    beginnings = _BY_KEY.get(text[:_KEY].lower())
    return beginnings is not None and (text.lower() + " ").startswith(beginnings)
