"""Why an image is not there: the words that stand in ledgers, and what follows from each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.forgotten import FORGOTTEN

KNOWN_ABUSE = "known_abuse"  # on a hash list: image_safety.known_abuse
FACES = "faces"  # the function of image_safety.faces says so
NOT_IN_ROW = "not_in_row"  # the image that came with a row is not there any more
OPT_OUT_SUFFIX = "_header"  # X-Robots-Tag: noai -> noai_header

# A rule of the config, or the site's wish, decided; everything else is a failure of the network or of the bytes.
DROPPED = frozenset(
    {"robots_txt", "ai_txt", "tdm_reserved", "private_address", "forbidden_port", "too_large", "too_many_pixels"}
    | {"too_many_frames", KNOWN_ABUSE, FACES, FORGOTTEN}
)

# Worth another try within the same unit, after the host has had a pause.
TRY_AGAIN = frozenset({"timeout", "reset", "incomplete_body", "http_408", "http_425", "http_429"})

# May succeed in a later run: `retryable` in the results.
RETRYABLE = TRY_AGAIN | {
    "dns", "refused", "unreachable", "tls", "proxy_error", "not_http",
    "robots_unavailable", "host_down", "crawl_delay_too_long",
}  # fmt: skip
# The other failures: what was answered, what it was not, and what could not be made of it.
LASTING = frozenset({
    "bad_content_encoding", "bad_redirect", "bad_url", "corrupt_image", "empty_body", "faces_failed", "fetch_error",
    "html", "metadata_unreadable", "not_an_image", NOT_IN_ROW, "reencode_failed", "svg", "too_many_redirects",
    "truncated_image", "unsupported_format",
})  # fmt: skip
ALL_RETRYABLE = "retryable"  # in place of a reason: all that may pass by themselves
_STATUS = re.compile(r"http_[1-9]\d\d")


def is_server_error(reason: str) -> bool:
    """Whether the reason is a 5xx answer."""
    return len(reason) == 8 and reason.startswith("http_5")


def is_retryable(reason: str) -> bool:
    """Whether a later run may succeed."""
    return reason in RETRYABLE or is_server_error(reason)


def try_again(reason: str) -> bool:
    """Whether another try within the same unit is worth a request."""
    return reason in TRY_AGAIN or is_server_error(reason)


def is_dropped(reason: str) -> bool:
    """Whether a rule dropped the image, rather than a failure."""
    return reason in DROPPED or reason.endswith(OPT_OUT_SUFFIX)


def check_reasons(names: Iterable[str], others: Collection[str] = ()) -> None:
    """Raise UserError for a name that is neither a reason for which an image fails nor one of `others`.

    Reasons of rules that drop images are refused too: such images are not fetched again, because the config decides on
    them.
    """
    valid = [ALL_RETRYABLE, *sorted(RETRYABLE | LASTING), *others]
    for name in names:
        if name in valid or _STATUS.fullmatch(name):
            continue
        is_status = _STATUS.fullmatch(f"http_{name}")
        near = [f"http_{name}"] if is_status else difflib.get_close_matches(name, valid, n=1)
        why = (
            "a rule dropped these images, so they are not fetched again"
            if is_dropped(name)
            else "not a reason for which a download fails"
        )
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UserError(
            f"--retry-failed {name[:80]}: {why}; valid are {', '.join(valid)}, and http_ with a status, such as "
            f"http_503{hint}"
        )
