"""Numbers by which states know people, by the published formats, with their check digits."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from benchmarks.planted.safety.forms import luhn, text

_BORN = "{40-99}{01-12}{01-28}"
_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_CHINESE = "7 9 10 5 8 4 2 1 6 3 7 9 10 5 8 4 2"
_CURP = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"


def _sum(body: str, weights: str) -> int:
    return sum(int(a) * int(b) for a, b in zip(body, weights.split(), strict=True))


def _none(body: str) -> str:
    return ""


def _cpf(body: str) -> str:
    for first in (10, 11):
        body += str(-sum(int(d) * (first - n) for n, d in enumerate(body)) % 11 % 10)
    return body[-2:]


def _kimlik(body: str) -> str:
    odd, even = sum(map(int, body[::2])), sum(map(int, body[1::2]))
    tenth = (odd * 7 - even) % 10
    return f"{tenth}{(odd + even + tenth) % 10}"


def _codice(body: str) -> str:
    def value(n: int, sign: str) -> int:
        place = int(sign) if sign.isdigit() else ord(sign) - 65
        return place if n % 2 else _ODD[place]

    return chr(65 + sum(value(n, sign) for n, sign in enumerate(body)) % 26)


def _weighed(weights: str, modulus: int, signs: str = "0123456789") -> Callable[[str], str]:
    """A check digit that is a weighed sum's rest."""
    return lambda body: signs[_sum(body, weights) % modulus]


def _rest(modulus: int, signs: str) -> Callable[[str], str]:
    return lambda body: signs[int(body) % modulus]


def _key(body: str) -> str:
    return f"{97 - int(body) % 97:02}"


def _curp(body: str) -> str:
    return str(-sum(_CURP.index(sign) * (18 - n) for n, sign in enumerate(body)) % 10)


# What it is called, the form without check digits, these, and how it is written: an x for each sign.
IDS: dict[str, tuple[str, str, Callable[[str], str], str]] = {
    "US": ("SSN", "{100-665}{11-99}{1001-9998}", _none, "xxx-xx-xxxx"),
    "GB": ("National Insurance number", "{AB|CE|JK|PW|SR}######{A|B|C|D}", _none, "xx xx xx xx x|xxxxxxxxx"),
    "ES": ("DNI", "{10000000-79999999}", _rest(23, "TRWAGMYFPDXBNJZSQVHLCKE"), "xxxxxxxxx|xxxxxxxx-x|xx.xxx.xxx-x"),
    "BR": ("CPF", "3########", _cpf, "xxx.xxx.xxx-xx"),
    "PL": ("PESEL", f"{_BORN}####", _weighed("9 7 3 1 9 7 3 1 9 7", 10), "x" * 11),
    "NL": ("BSN", "1#######", _weighed("9 8 7 6 5 4 3 2", 11, "0123456789?"), "x" * 9),
    "SE": ("Personnummer", f"{_BORN}###", luhn, "xxxxxx-xxxx"),
    "FI": ("Henkilötunnus", "{01-28}{01-12}{40-99}2##", _rest(31, "0123456789ABCDEFHJKLMNPRSTUVWXY"), "xxxxxx-xxxx"),
    "BE": ("Numéro de registre national", f"{_BORN}###", _key, "xx.xx.xx-xxx.xx"),
    "FR": ("N° de sécurité sociale", "{1|2}{40-99}{01-12}75{001-899}{001-899}", _key, "x xx xx xx xxx xxx xx"),
    "CN": ("身份证号", f"11010519{_BORN}###", _weighed(_CHINESE, 11, "10X98765432"), "x" * 18),
    "KR": ("주민등록번호", f"{_BORN}1#####", _weighed("2 3 4 5 6 7 8 9 2 3 4 5", 11, "10987654321"), "xxxxxx-xxxxxxx"),
    "RU": ("СНИЛС", "#########", lambda body: f"{_sum(body, '9 8 7 6 5 4 3 2 1') % 101 % 100:02}", "xxx-xxx-xxx xx"),
    "TR": ("T.C. Kimlik No", "2########", _kimlik, "x" * 11),
    "ZA": ("ID number", f"{_BORN}5###08", luhn, "x" * 13),
    "IT": ("Codice fiscale", "{letters:6}{40-99}{A|B|C|D|E|H|L|M|P|R|S|T}{01-28}{H501|F205|L219}", _codice, "x" * 16),
    "MX": ("CURP", "{GOMA|PERL|LOHE}" + _BORN + "{H|M}{DF|JC|NL}{B|C|D}{L|M|N}{R|S|T}{0-3}", _curp, "x" * 18),
    "DK": ("CPR-nummer", "{01-28}{01-12}{40-99}{1000-3999}", _none, "xxxxxx-xxxx"),
    "CA": ("SIN", "{1-7}#######", luhn, "xxx xxx xxx"),
    "PT": ("NIF", "2#######", _weighed("9 8 7 6 5 4 3 2", 11, "00987654321"), "x" * 9),
    "AR": ("CUIL", "20{10000000-39999999}", _weighed("5 4 3 2 7 6 5 4 3 2", 11, "0?987654321"), "xx-xxxxxxxx-x"),
}  # fmt: skip


def national_id(country: str, random: Random) -> tuple[str, str]:
    """What it is called there, and a number as it is written."""
    name, form, check, layouts = IDS[country]
    body = text(form, random)
    while check(body) == "?":  # no such number is given out
        body = text(form, random)
    signs = iter(body + check(body))
    return name, "".join(next(signs) if sign == "x" else sign for sign in random.choice(layouts.split("|")))
