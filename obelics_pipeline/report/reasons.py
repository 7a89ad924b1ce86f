"""The words of ledgers in words for people."""

from __future__ import annotations

_RECORDS = {
    "metadata": "a record about a record, no page",
    "request": "what the crawler sent, no page",
    "warcinfo": "the header of a file, no page",
    "revisit": "the same answer as before, stored without it",
    "not_html": "an answer that is no HTML",
    "empty_body": "an answer without content",
    "no_text": "nothing to read was found",
    "noai_header": "the site asks by an HTTP header not to be used for AI",
    "noai_meta": "the page asks by a meta element not to be used for AI",
    "tdm_reserved": "the site reserves the right to mine text and data",
    "noimageai_meta": "the page asks that its images are not used for AI",
    "damaged_member": "compressed data that cannot be read",
    "damaged_record": "a record that cannot be read",
    "truncated_tail": "the file ends within a record",
    "too_large": "larger than the config allows",
    "too_many_nodes": "more elements than the config allows",
    "too_deep": "elements nested deeper than the config allows",
    "worker_died": "a worker died while it read it",
}
_DOCUMENTS = {
    "language": "not a language to keep",
    "language_score": "the language is too uncertain",
    "no_licence": "it names no licence, and one is required",
    "licence_not_allowed": "its licence is none of those required",
    "main_content_confidence": "too uncertain what is the main content",
    "image_count": "too few or too many images",
    "no_image": "no image is left",
    "word_count": "too few or too many words",
    "character_repetition_ratio": "the same runs of characters again and again",
    "word_repetition_ratio": "the same runs of words again and again",
    "special_character_ratio": "too many signs that are no letters",
    "stopword_ratio": "too few of the small words that sentences have",
    "flagged_word_ratio": "too many words of the list of obscene words",
    "punctuation_ratio": "too few or too many marks of punctuation",
    "farm_score": "reads as a program wrote it",
    "perplexity": "unlike the text that the language model knows",
    "quality_score": "unlike the texts that are wanted",
    "duplicate_url": "another capture of the same page is kept",
    "duplicate_text": "nearly the same text is kept",
    "duplicate_image_set": "a document with the same images is kept",
    "repeated_paragraph": "the same paragraph stands on many pages of its host",
    "empty": "no visible character",
    "empty_text": "no character is left",
    "end_of_document": "a mark where pages were joined, not needed here",
}
_IMAGES = {
    "document_dropped": "nothing is wrong with it; its document is not kept",
    "image_banned_word": "a word of its address says what it is: logo, button, …",
    "image_side": "too small or too large",
    "image_rendered_side": "shown too small or too large by its page",
    "image_ratio": "too wide or too tall",
    "image_format": "not a format to keep",
    "repeated_image": "stands in the document before",
    "overused_image_url": "its address is in too many documents",
    "overused_image": "it looks the same in too many documents",
    "robots_txt": "robots.txt does not allow it",
    "robots_unavailable": "robots.txt could not be read, so nothing is allowed",
    "crawl_delay_too_long": "robots.txt asks for longer pauses than the config allows",
    "private_address": "an address of a private network: never asked",
    "too_many_pixels": "more pixels than the config allows",
    "too_many_frames": "more frames than the config allows",
    "timeout": "no answer in time",
    "too_slow": "the answer came too slowly",
    "dns": "no host by this name",
    "refused": "the host refuses connections",
    "unreachable": "the host cannot be reached",
    "reset": "the connection was cut",
    "tls": "no secure connection",
    "host_down": "the host failed too often and was not asked any more",
    "incomplete_body": "the answer ended early",
    "too_many_redirects": "sent from address to address",
    "bad_url": "no valid address",
    "not_http": "an address that is not of the web",
    "proxy_error": "the proxy gave no answer",
    "fetch_error": "an error of this program while it fetched; please report it",
    "bad_redirect": "sent to no valid address",
    "html": "a web page came instead",
    "svg": "a drawing of lines, which is not kept",
    "not_an_image": "what came is no image",
    "corrupt_image": "an image that cannot be decoded",
    "truncated_image": "an image that ends early",
    "unsupported_format": "an image of a format that is not read",
    "not_fetched": "never asked for, or its unit failed",
}
_KNOWN = _RECORDS | _DOCUMENTS | _IMAGES


def words_for(reason: str) -> str:
    """What a reason means; empty where it says so itself, or is somebody else's filter."""
    if reason in _KNOWN:
        return _KNOWN[reason]
    if reason.startswith("http_") and reason[5:].isdigit():
        return f"the server answered {reason[5:]}"
    if reason == "opt_out_unanswered":
        return "the opt-out service gave no answer about it"
    if reason.startswith("opt_out_"):
        return f"opted out, by the list or service {reason.removeprefix('opt_out_')}"
    if reason.endswith("_header"):
        return f"the site asks for it by an HTTP header: {reason.removesuffix('_header')}"
    if reason.endswith("_unit_failed"):
        return f"was in a unit that failed in the stage {reason.removesuffix('_unit_failed')}"
    if reason.startswith(("extraction_error_", "measuring_error_")):
        return "an error of this program, or of a filter; please report it"
    return ""
