"""Personal data but for phones: e-mail and IP addresses, MACs, IBANs, cards, national numbers; and the same one twice."""

from __future__ import annotations

from random import Random

from benchmarks.planted.safety.prose import words
from benchmarks.planted.safety.site import Site


def _digits(random: Random, count: int) -> str:
    return "".join(random.choices("0123456789", k=count))


def _checked(numerals: str, weights: str, modulus: int = 11) -> int:
    return sum(int(a) * int(b) for a, b in zip(numerals, weights.split(), strict=True)) % modulus


def _luhn(body: str) -> str:
    total = sum(sum(divmod(int(d) * (2 - n % 2), 10)) for n, d in enumerate(reversed(body)))
    return body + str(-total % 10)


def email(random: Random) -> str:
    """An address at a host that could be."""
    first, last, host = words(random, 3)
    ending = random.choice(("com", "org", "net", "de", "co.uk", "fr", "com.br", "io", "museum", "edu", "pl"))
    name = random.choice(
        (
            f"{first}.{last}",
            f"{first}{last}",
            f"{first}_{last}",
            f"{first[0]}.{last}",
            f"{first}{random.randint(1, 99)}",
            f"{first}+news",
            f"{first}-{last}",
        )
    )
    return random.choice((f"{name}@{host}.{ending}", f"{name}@mail.{host}.{ending}", f"{name.title()}@{host}.{ending}"))


def hidden(address: str, random: Random) -> str:
    """The same, written so that programs do not see it."""
    name, _, host = address.partition("@")
    at, dot = random.choice(
        (
            (" [at] ", " [dot] "),
            (" (at) ", " (dot) "),
            (" AT ", " DOT "),
            ("[at]", "[dot]"),
            (" at ", " dot "),
            (" (at) ", "."),
            ("[at]", "."),
        )
    )
    return name + at + host.replace(".", dot)


def ipv4(random: Random) -> str:
    """A public address."""
    return f"{random.choice((23, 46, 62, 77, 81, 91, 141, 151, 178, 185, 195, 212, 217))}." + ".".join(
        str(random.randint(1, 254)) for _ in range(3)
    )


def ipv6(random: Random) -> str:
    """A public address, in full or shortened."""
    head = random.choice(("2a00", "2a01", "2a02", "2600", "2607", "2804", "2400"))
    groups = [head, *(f"{random.randrange(1, 65536):x}" for _ in range(7))]
    return random.choice((":".join(groups), ":".join(groups[:3]) + "::" + groups[3], ":".join(groups[:4]) + "::1"))


def mac(random: Random) -> str:
    """A network card's."""
    parts = [
        f"{random.choice((0x00, 0x3C, 0x8C, 0xA4, 0xF0, 0xD8)):02x}",
        *(f"{random.randrange(256):02x}" for _ in range(5)),
    ]
    text = random.choice((":".join(parts), "-".join(parts)))
    return random.choice((text, text.upper()))


_IBANS = {"DE": "18n", "FR": "10n11c2n", "ES": "20n", "NL": "4a10n", "GB": "4a14n", "IT": "1a10n12c", "PL": "24n", "CH": "5n12c", "AT": "16n", "BE": "12n", "SE": "20n", "PT": "21n", "TR": "5n1z16c", "DK": "14n", "FI": "14n"}  # fmt: skip


def iban(country: str, random: Random) -> str:
    """With check digits (ISO 7064), in groups of four or not."""
    import re

    body = ""
    for count, sort in re.findall(r"(\d+)([nacz])", _IBANS[country]):
        signs = {"n": "0123456789", "a": "ABCDEFGHJKLMNPRSTUVWXYZ", "c": "0123456789", "z": "0"}[sort]
        body += "".join(random.choices(signs, k=int(count)))
    if country == "BE":
        body = body[:10] + f"{int(body[:10]) % 97 or 97:02}"
    rest = int("".join(str(int(sign, 36)) for sign in f"{body}{country}00")) % 97
    value = f"{country}{98 - rest:02}{body}"
    return value if random.random() < 0.3 else " ".join(value[i : i + 4] for i in range(0, len(value), 4))


def card(random: Random) -> str:
    """Of one of four networks, by Luhn's check digit."""
    if random.random() < 0.2:
        value = _luhn(random.choice(("34", "37")) + _digits(random, 12))
        return random.choice((value, f"{value[:4]} {value[4:10]} {value[10:]}"))
    value = _luhn((random.choice(("4", "51", "53", "55", "6011")) + _digits(random, 15))[:15])
    groups = [value[i : i + 4] for i in range(0, 16, 4)]
    return random.choice((" ".join(groups), "-".join(groups), value))


def _date(random: Random) -> tuple[str, str, str]:
    return f"{random.randint(40, 99):02}", f"{random.randint(1, 12):02}", f"{random.randint(1, 28):02}"


def national_id(country: str, random: Random) -> tuple[str, str]:
    """What it is called there, and a number with its check digits."""
    d = _digits(random, 12)
    y, m, day = _date(random)
    if country == "US":
        return "SSN", f"{random.randint(100, 665):03}-{random.randint(11, 99)}-{random.randint(1001, 9998)}"
    if country == "GB":
        letters = random.choice(("AB", "CE", "JK", "PW", "SR", "YH"))
        return "National Insurance number", random.choice(("{} {} {} {} {}", "{}{}{}{}{}")).format(
            letters, d[:2], d[2:4], d[4:6], random.choice("ABCD")
        )
    if country == "ES":
        number = random.randint(10_000_000, 79_999_999)
        letter = "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]
        return "DNI", random.choice(
            (
                f"{number}{letter}",
                f"{number}-{letter}",
                f"{number // 1000000}.{number // 1000 % 1000:03}.{number % 1000:03}-{letter}",
            )
        )
    if country == "BR":
        body = "3" + d[:8]
        for first in (10, 11):
            body += str(-_checked(body, " ".join(str(w) for w in range(first, 1, -1))) % 11 % 10)
        return "CPF", f"{body[:3]}.{body[3:6]}.{body[6:9]}-{body[9:]}"
    if country == "PL":
        body = y + m + day + d[:4]
        return "PESEL", body + str(-_checked(body, "1 3 7 9 1 3 7 9 1 3", 10) % 10)
    if country == "NL":
        body = "1" + d[:7]
        while (check := _checked(body, "9 8 7 6 5 4 3 2")) == 10:
            body = "1" + _digits(random, 7)
        return "BSN", body + str(check)
    if country == "SE":
        value = _luhn(y + m + day + d[:3])
        return "Personnummer", random.choice((f"{value[:6]}-{value[6:]}", f"19{value[:6]}-{value[6:]}"))
    if country == "FI":
        sign = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(day + m + y + "2" + d[:2]) % 31]
        return "Henkilötunnus", f"{day}{m}{y}-2{d[:2]}{sign}"
    if country == "BE":
        check = 97 - int(y + m + day + d[:3]) % 97
        return "Numéro de registre national", f"{y}.{m}.{day}-{d[:3]}.{check:02}"
    if country == "FR":
        body = f"{random.choice('12')}{y}{m}75{int(d[:3]) % 900 + 1:03}{int(d[3:6]) % 900 + 1:03}"
        return "Numéro de sécurité sociale", random.choice(
            (
                f"{body[0]} {y} {m} 75 {body[7:10]} {body[10:]} {97 - int(body) % 97:02}",
                f"{body}{97 - int(body) % 97:02}",
            )
        )
    if country == "CN":
        body = "110105" + "19" + y + m + day + d[:3]
        return "身份证号", body + "10X98765432"[_checked(body, "7 9 10 5 8 4 2 1 6 3 7 9 10 5 8 4 2")]
    if country == "KR":
        body = y + m + day + "1" + d[:5]
        return "주민등록번호", f"{y}{m}{day}-1{d[:5]}{(11 - _checked(body, '2 3 4 5 6 7 8 9 2 3 4 5')) % 10}"
    if country == "RU":
        body = d[:9]
        check = sum(int(c) * (9 - i) for i, c in enumerate(body)) % 101 % 100
        return "СНИЛС", f"{body[:3]}-{body[3:6]}-{body[6:]} {check:02}"
    if country == "TR":
        body = "2" + d[:8]
        odd, even = sum(int(c) for c in body[::2]), sum(int(c) for c in body[1::2])
        tenth = (odd * 7 - even) % 10
        return "T.C. Kimlik No", body + str(tenth) + str((odd + even + tenth) % 10)
    if country == "ZA":
        return "ID number", _luhn(y + m + day + "5" + d[:3] + "08")
    if country == "IT":
        return "Codice fiscale", _codice_fiscale(random, y, day)
    if country == "MX":
        return "CURP", _curp(random, y, m, day)
    if country == "DK":
        return "CPR-nummer", f"{day}{m}{y}-{random.randint(1000, 3999)}"
    if country == "CA":
        value = _luhn(random.choice("1234567") + d[:7])
        return "SIN", f"{value[:3]} {value[3:6]} {value[6:]}"
    if country == "PT":
        body = "2" + d[:7]
        check = 11 - _checked(body, "9 8 7 6 5 4 3 2")
        return "NIF", body + str(check if check < 10 else 0)
    if country == "AR":
        body = "20" + str(random.randint(10_000_000, 39_999_999))
        check = (11 - _checked(body, "5 4 3 2 7 6 5 4 3 2")) % 11
        return national_id(country, random) if check == 10 else ("CUIL", f"20-{body[2:]}-{check}")
    raise ValueError(country)


def _codice_fiscale(random: Random, year: str, day: str) -> str:
    body = "".join(random.choices("BCDFGLMNPRSTV", k=6)) + year + random.choice("ABCDEHLMPRST") + day
    body += random.choice(("H501", "F205", "L219", "D612"))
    odd = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23), strict=True))  # fmt: skip
    total = sum(odd[c] if n % 2 == 0 else (int(c) if c.isdigit() else ord(c) - 65) for n, c in enumerate(body))
    return body + chr(65 + total % 26)


def _curp(random: Random, year: str, month: str, day: str) -> str:
    body = (
        random.choice(("GOMA", "PERL", "LOHE", "RAMJ"))
        + year
        + month
        + day
        + random.choice("HM")
        + random.choice(("DF", "JC", "NL"))
        + "".join(random.choices("BCDFGLMNPRSTV", k=3))
        + random.choice("0123")
    )
    signs = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    return body + str(-sum(signs.index(c) * (18 - n) for n, c in enumerate(body)) % 10)


IDS = (
    "US",
    "GB",
    "ES",
    "BR",
    "PL",
    "NL",
    "SE",
    "FI",
    "BE",
    "FR",
    "CN",
    "KR",
    "RU",
    "TR",
    "ZA",
    "IT",
    "MX",
    "DK",
    "CA",
    "PT",
    "AR",
)
_MAIL = {
    "en": "Write to {} with questions.|Contact: {}", "de": "Schreiben Sie an {} bei Fragen.|E-Mail: {}",
    "fr": "Écrivez à {} pour toute question.|Courriel : {}", "es": "Escriba a {} con sus dudas.|Correo: {}",
    "it": "Scrivete a {} per domande.|E-mail: {}", "nl": "Mail naar {} met vragen.|E-mail: {}",
    "pl": "Pytania proszę słać na {} do piątku.|e-mail: {}", "pt": "Escreva para {} com dúvidas.|E-mail: {}",
    "ru": "Пишите на {} по всем вопросам.|Почта: {}", "sv": "Skriv till {} med frågor.|E-post: {}",
    "tr": "Sorular için {} adresine yazın.|E-posta: {}", "da": "Skriv til {} med spørgsmål.|E-mail: {}",
    "fi": "Kirjoita osoitteeseen {} kysymyksistä.|Sähköposti: {}", "ja": "ご質問は{}までお送りください。|メール:{}",
    "ko": "질문은 {} 으로 보내 주세요.|이메일: {}", "zh": "有问题请写信到{}联系我们。|邮箱:{}",
}  # fmt: skip


def add_people(site: Site, number: int) -> None:
    """So many of each kind; of national numbers for each country."""
    random = site.random

    def plant(kind: str, value: str, frames: str, **about: str) -> None:
        before, after = random.choice(frames.split("|")).split("{}")
        element = random.choice(("p", "p", "li", "td"))
        site.page(kind, True, "text", value, said=(before, value, after), element=element, **about)

    for _ in range(number):
        language = random.choice(list(_MAIL))
        plant("e-mail: plain", email(random), _MAIL[language], language=language)
        language = random.choice(("en", "de", "fr", "es"))
        plant("e-mail: hidden", hidden(email(random), random), _MAIL[language], language=language)
        plant(
            "IP: version 4",
            ipv4(random),
            "The edit came from {} last night.|Server: {}|Blocked client {} after ten tries.|Der Zugriff kam von {} heute.",
        )
        plant(
            "IP: version 6",
            ipv6(random),
            "The edit came from {} last night.|Server: {}|Blocked client {} after ten tries.",
        )
        plant(
            "MAC",
            mac(random),
            "The printer is {} in the list.|MAC: {}|Gerät {} wurde gesperrt.|Device {} was seen twice.",
        )
        country = random.choice(list(_IBANS))
        plant(
            f"IBAN: {country}",
            iban(country, random),
            "IBAN: {}|Please transfer the sum to {} by May.|Konto {} bei der Sparkasse",
            country=country,
        )
        plant(
            "card",
            card(random),
            "Card: {}|He paid with {} and forgot it.|Kreditkarte {} gültig bis Mai|The number {} was leaked.",
        )
        address = email(random)
        again = f" or once more to {address.upper()} instead."
        case = site.page(
            "e-mail: twice the same", True, "twice", address, language="en", said=("Write to ", address, again)
        )
        case.around = "Write to ", " or once more to "
    for country in IDS:
        for _ in range(max(2, number // 8)):
            name, value = national_id(country, random)
            plant(f"national id: {country}", value, f"{name}: {{}}|{name} {{}}", country=country)
