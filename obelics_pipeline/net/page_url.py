"""When two addresses are one page: a normal form of page URLs, and its key.

The normal form follows RFC 3986, part 6.2 (case, escapes, dot segments, default port) and adds what two captures of a
page differ in on the web: the scheme, `www.`, a trailing slash, the order of parameters, and what advertisers and
sessions hang on. It is for comparing, not for asking: a server may know only one of the spellings.
"""

from __future__ import annotations

import hashlib
import re

from obelics_pipeline.net.web_host import in_url, web_host

# What is hung on a link to follow a reader, and says nothing to the page: Firefox's list of parameters that it strips
# (toolkit/components/antitracking, query-stripping.json, 2023), Google's utm_ family and the click and mail ids that
# Brave strips besides (components/query_filter). Session ids: those that the Wayback Machine's index leaves out.
_TRACKING = frozenset(
    "fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid ysclid twclid ttclid wickedid igshid igsh rb_clickid "
    "_openstat _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mc_cid mc_eid mkt_tok oly_anon_id oly_enc_id __s "
    "vero_id vero_conv ml_subscriber ml_subscriber_hash s_cid _ga _gl "
    "jsessionid phpsessid".split()
)
_TRACKING_PREFIX = "utm_"
_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)  # servlets put it behind the path (Servlet 6.0, 7.1.3)

_WEB = re.compile(r"https?:[/\\]{2}([^/\\?#]*)([^?#]*)(?:\?([^#]*))?", re.IGNORECASE)
_AROUND = "".join(map(chr, range(0x21)))  # stripped from both ends, as browsers do (WHATWG URL, 4.4)
_WITHIN = dict.fromkeys(map(ord, "\t\n\r"))  # left out anywhere (the same)
_AUTHORITY = re.compile(r"(?:[^@]*@)*([^@:\[\]]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]*))?")
_DEFAULT_PORTS = frozenset({"", "80", "443"})  # either: the two schemes are one
# An escape; or a run of what must be escaped: neither reserved nor unreserved (RFC 3986, 2.2 and 2.3), a stray "%" too.
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def page_key(url: str, exact: bool) -> bytes:
    """128 bits of a page's URL, in its normal form or, if `exact`, unchanged."""
    text = url if exact else normalise(url)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def normalise(url: str) -> str:
    """The normal form of an http(s) URL; anything else comes back as it is. Linear time, never an exception."""
    web = _WEB.match(url.strip(_AROUND).translate(_WITHIN))
    if web is None:
        return url
    host = _host(web[1])
    if host is None:
        return url
    return f"http://{host}{_path(web[2])}{_query(web[3] or '')}"


def _host(authority: str) -> str | None:
    """Host and port in lower-case ASCII, without user, `www.`, final dot and default port; None where none is meant."""
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        return None
    host, port = parts[1], (parts[2] or "").lstrip("0")
    host = in_url((web_host(host) or "").removesuffix("."))
    if not host:
        return None
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host if port in _DEFAULT_PORTS else f"{host}:{port}"


def _path(path: str) -> str:
    segments: list[str] = []
    for segment in _SESSION.sub("", _escaped(path.replace("\\", "/"))).split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    return "".join(f"/{segment}" for segment in segments).rstrip("/")


def _query(query: str) -> str:
    """The parameters by name. Those of one name keep their order: it may mean something.

    Servers read parameters by name, and links to one page give them in any order; but where one has no "=", the query
    is no form's, and stays in its order.
    """
    parameters = [p for p in _escaped(query).split("&") if p and not _follows(p)]
    if all("=" in p for p in parameters):
        parameters.sort(key=lambda p: p.partition("=")[0])
    return "?" + "&".join(parameters) if parameters else ""


def _follows(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIX)


def _escaped(text: str) -> str:
    """With just the escapes that are needed, in upper case."""
    return _ESCAPE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    if found[1] is None:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else found[0].upper()
