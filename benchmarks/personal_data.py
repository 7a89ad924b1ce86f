"""How much personal data is found in made-up sentences of fourteen locales, and how much is taken for it that is not.

    python benchmarks/personal_data.py [--sentences N] [--seed N] [--show]

Every sentence holds one planted value, or one near miss: a version, a price, a date, an ISBN … that must stay. Numbers
are made as people write them, from digits at random, so some are of no network that exists. The sentences are judged as
texts of their language; a value counts as found where all of its letters and digits are gone from the text. The same
generator serves the tests.
"""

# ruff: noqa: E501 (tables: a line is a locale or a near miss)
from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

from stdnum import luhn, verhoeff
from stdnum.iso7064 import mod_97_10

from obelics_pipeline.core.config.personal_data import KINDS
from obelics_pipeline.policy.personal_data.find import find
from obelics_pipeline.policy.personal_data.regions import Regions

# {} is where the value stands. Half of the sentences for phones say what the number is, half do not.
SENTENCES = {
    "en_US": ["Please write to {} by Friday.", "You can reach Anna: {}", "Questions? {}.", "Our office ({}) is open daily."],
    "en_GB": ["Do get in touch on {} before noon.", "Mr Clarke, {}, replied at once.", "Ring {}", "Bookings: {} (mornings)"],
    "de_DE": ["Sie erreichen uns unter {}.", "Frau Weber, {}, hilft gern weiter.", "Anmeldung bei Herrn Roth ({})", "Tel. {}"],
    "fr_FR": ["Vous pouvez nous joindre au {} tous les jours.", "Renseignements : {}", "Mme Petit ({}) vous répondra.", "Tél. {}"],
    "es_ES": ["Puede llamar al {} por la mañana.", "Información: {}", "La señora García ({}) le atenderá.", "Tel: {}"],
    "it_IT": ["Per informazioni {} ogni giorno.", "Il signor Rossi ({}) risponde subito.", "Tel. {}", "Chiamate il {}"],
    "pt_BR": ["Ligue para {} e marque um horário.", "A senhora Silva ({}) responde.", "Telefone: {}", "Contato {}"],
    "nl_NL": ["U kunt ons bereiken op {}.", "Mevrouw de Vries ({}) helpt u verder.", "Tel. {}", "Aanmelden via {}"],
    "pl_PL": ["Proszę dzwonić pod {} codziennie.", "Pani Nowak ({}) odpowie.", "Tel. {}", "Kontakt: {}"],
    "ru_RU": ["Звоните по номеру {} каждый день.", "Иванова Мария ({}) ответит вам.", "Тел. {}", "Справки: {}"],
    "ja_JP": ["ご連絡は{}までお願いします。", "担当の田中（{}）がお答えします。", "電話：{}", "お問い合わせ {}"],
    "zh_CN": ["请联系{}，谢谢。", "王女士（{}）会回答您的问题。", "电话：{}", "预约热线 {}"],
    "hi_IN": ["कृपया {} पर संपर्क करें।", "श्रीमती शर्मा ({}) उत्तर देंगी।", "फोन: {}", "Call {} for details."],
    "ar_SA": ["يرجى الاتصال على {} صباحا.", "السيدة فاطمة ({}) سترد عليكم.", "هاتف: {}", "للتواصل {}"],
    "tr_TR": ["Bize {} numarasından ulaşabilirsiniz.", "Ayşe Hanım ({}) yanıt verecektir.", "Tel: {}", "İletişim: {}"],
}  # fmt: skip

# # is a digit, ? one from 2 to 9.
PHONES = {
    "en_US": ["(?##) ?##-####", "?##-?##-####", "?##.?##.####", "+1 ?##-?##-####", "1-?##-?##-####", "+1 (?##) ?##-#### ext. ##"],
    "en_GB": ["020 7### ####", "07### ######", "+44 20 7### ####", "+44 (0)7### ######", "01### ######", "(01###) ######"],
    "de_DE": ["030 ######", "030/### ###", "+49 (0)30 ######", "0171-#######", "0049 89 ######", "(0221) ## ## ##", "+49 151 ########"],
    "fr_FR": ["06 ## ## ## ##", "01.##.##.##.##", "+33 6 ## ## ## ##", "+33 (0)1 ## ## ## ##", "06########", "04-##-##-##-##"],
    "es_ES": ["6## ## ## ##", "91 ### ## ##", "+34 6## ### ###", "6## ### ###", "9## ### ###"],
    "it_IT": ["06 ########", "333 #######", "+39 02 ########", "340 ### ####", "02/########", "+39 347 ### ####"],
    "pt_BR": ["(11) 9####-####", "(21) 3###-####", "+55 11 9####-####", "11 9####-####", "(31) 9 ####-####"],
    "nl_NL": ["06-########", "020-#######", "+31 6 ########", "06 ## ## ## ##", "010 - ### ## ##", "+31 (0)20 ### ####"],
    "pl_PL": ["6## ### ###", "+48 5## ### ###", "(22) ### ## ##", "22 ### ## ##", "+48 22 ### ## ##", "600-###-###"],
    "ru_RU": ["8 (9##) ###-##-##", "+7 9## ###-##-##", "+7 (495) ###-##-##", "8-9##-###-##-##", "8 (812) ### ## ##"],
    "ja_JP": ["03-3###-####", "090-####-####", "０６-６###-####", "+81 3-####-####", "(052)###-####", "0120-###-###"],
    "zh_CN": ["138########", "139 #### ####", "010-8#######", "+86 138 #### ####", "(021) 6### ####", "400-###-####"],
    "hi_IN": ["98### #####", "+91 98### #####", "+91-98########", "011-2#######", "098########", "+91 22 2### ####"],
    "ar_SA": ["050 ### ####", "+966 5# ### ####", "05########", "٠٥٥٤٣٢١٠٩٨", "011 4## ####", "+20 100 ### ####"],
    "tr_TR": ["0532 ### ## ##", "+90 532 ### ## ##", "(0212) ### ## ##", "0 (216) ### ## ##", "05## ### ## ##"],
}  # fmt: skip

NAMES = (
    "anna.schmidt j.doe maria_lopez tom kovacs+news li.wei first-last o.brien99 ivan.petrov sales.team m.rossi".split()
)
HOSTS = (
    "example.com mail.example.org web.de gmail.com uni-bonn.de bbc.co.uk empresa.com.br posta.com.tr firma.pl".split()
)
IDN = ["müller-söhne.de", "例え.jp", "пример.рф", "bücher.example", "españa.es"]
HIDDEN = ["{} [at] {}", "{} (at) {}", "{}[at]{}", "{} at {}", "{} {{at}} {}", "{} AT {}", "{}(@){}"]
HIDDEN_DOTS = [" [dot] ", " dot ", "[dot]", " (dot) ", " DOT "]

NEAR = [
    lambda d: f"Version {d.randint(1, 20)}.{d.randint(0, 20)}.{d.randint(0, 20)}.{d.randint(0, 99)} is out",
    lambda d: f"upgrade to v{d.randint(1, 30)}.{d.randint(0, 40)}.{d.randint(0, 200)}.{d.randint(0, 200)} today",
    lambda d: f"see section {d.randint(1, 9)}.{d.randint(1, 9)}.{d.randint(1, 9)}.{d.randint(1, 9)} of the text",
    lambda d: f"It costs ${d.randint(1, 999)},{d.randint(0, 999):03}.{d.randint(0, 99):02} plus tax",
    lambda d: f"Preis {d.randint(1, 999)}.{d.randint(0, 999):03}.{d.randint(0, 999):03},{d.randint(0, 99):02} € netto",
    lambda d: f"about {d.randint(1, 999)} {d.randint(0, 999):03} {d.randint(0, 999):03} people live there",
    lambda d: f"ISBN 978-{d.randint(0, 9)}-{d.randint(10, 99)}-{d.randint(100000, 999999)}-{d.randint(0, 9)}",
    lambda d: f"ISBN-10: {d.randint(0, 9)}-{d.randint(100, 999)}-{d.randint(10000, 99999)}-{d.randint(0, 9)}",
    lambda d: f"ISSN {d.randint(1000, 9999)}-{d.randint(1000, 9999)}",
    lambda d: f"EAN 4{d.randint(10**11, 10**12 - 1)}",
    lambda d: f"on {d.randint(1950, 2030)}-{d.randint(1, 12):02}-{d.randint(1, 28):02} at {d.randint(0, 23)}:{d.randint(0, 59):02}",
    lambda d: f"am {d.randint(1, 28):02}.{d.randint(1, 12):02}.{d.randint(1950, 2030)} um {d.randint(10, 23)}:{d.randint(0, 59):02}",
    lambda d: f"{d.randint(1, 28):02}/{d.randint(1, 12):02}/{d.randint(1950, 2030)} - {d.randint(1, 28):02}/{d.randint(1, 12):02}/{d.randint(1950, 2030)}",
    lambda d: f"open {d.randint(6, 11):02}:00-{d.randint(12, 22)}:30 and 24/7 online",
    lambda d: f"{d.uniform(-90, 90):.6f}, {d.uniform(-180, 180):.6f}",
    lambda d: f"{d.randint(0, 89)}°{d.randint(0, 59):02}'{d.randint(0, 59):02}\"N {d.randint(0, 179)}°{d.randint(0, 59):02}'{d.randint(0, 59):02}\"E",
    lambda d: f"Order no. {d.randint(10**9, 10**10 - 1)} has been shipped",
    lambda d: f"order #{d.randint(100, 999)}-{d.randint(10**6, 10**7 - 1)}-{d.randint(10**6, 10**7 - 1)}",
    lambda d: f"invoice {d.randint(2000, 2030)}-{d.randint(10000, 99999)}",
    lambda d: f"they won {d.randint(0, 9)}-{d.randint(0, 9)}, {d.randint(0, 9)}-{d.randint(0, 9)} and {d.randint(0, 9)}:{d.randint(0, 9)}",
    lambda d: f"({d.randint(1800, 1950)}–{d.randint(1951, 2020)}) was a painter",
    lambda d: f"1914-1918 and {d.randint(1930, 1939)}-1945",
    lambda d: f"color #{d.randint(0, 0xFFFFFF):06x} on #{d.randint(0, 0xFFFFFF):06X}",
    lambda d: f"follow @user_{d.randint(1, 9999)} and @name{d.randint(1, 99)}@mastodon.social",
    lambda d: f"sprite-{d.randint(1, 99)}@2x.png and icon@3x.webp",
    lambda d: f"git clone git@github.com:owner/repo-{d.randint(1, 999)}.git",
    lambda d: f"ssh://git@gitlab.com:22/group/project{d.randint(1, 99)}",
    lambda d: f"npm i left-pad@{d.randint(0, 20)}.{d.randint(0, 20)}.{d.randint(0, 99)}",
    lambda d: f"router at 192.168.{d.randint(0, 255)}.{d.randint(1, 254)} or 10.{d.randint(0, 255)}.0.{d.randint(1, 254)}",
    lambda d: f"listen on 127.0.0.1:{d.randint(1024, 65535)} and 0.0.0.0",
    lambda d: f"std::vector<int>::iterator at {d.randint(10, 23)}:{d.randint(10, 59)}:{d.randint(10, 59)}",
    lambda d: f"Chrome/{d.randint(80, 130)}.0.{d.randint(1000, 6000)}.{d.randint(10, 250)} Safari/537.36",
    lambda d: f"doi:10.{d.randint(1000, 9999)}/{d.randint(10**6, 10**7 - 1)}.{d.randint(10**6, 10**7 - 1)}",
    lambda d: f"{d.randint(1, 999)},{d.randint(0, 999):03},{d.randint(0, 999):03} views and {d.randint(100000, 999999)} likes",
    lambda d: f"part number {d.choice('ABCX')}{d.randint(10, 99)}-{d.randint(100, 999)}-{d.randint(1000, 9999)}",
    lambda d: f"SKU {d.randint(100000, 999999)}-{d.randint(100, 999)}",
    lambda d: f"id={d.randint(10**15, 10**16 - 1)}&t={d.randint(10**9, 2 * 10**9)}",
    lambda d: f"the year {d.randint(1000, 2030)} {d.randint(10, 99)} {d.randint(10, 99)} {d.randint(10, 99)} lottery",
    lambda d: f"Tracking 1Z{d.randint(10**9, 10**10 - 1)}{d.randint(10**5, 10**6 - 1)}",
    lambda d: f"look at example {d.randint(1, 99)} dot by dot, (a) first and (b) then",
    lambda d: f"{d.randint(1, 12)} x {d.randint(100, 999)} x {d.randint(1000, 9999)} mm, {d.randint(10, 99)} kg",
    lambda d: f"timestamps {d.randint(1_500_000_000, 1_900_000_000)} and {d.randint(1_500_000_000_000, 1_900_000_000_000)}",
    lambda d: f"ratio {d.random():.12f} = {d.randint(1, 99)}/{d.randint(100, 999)}",
    lambda d: f"RFC {d.randint(1000, 9999)}, port {d.randint(1000, 65535)}, ISO 8601-{d.randint(1, 2)}:{d.randint(2000, 2030)}",
]  # fmt: skip


ID_FRAMES = {
    "en_US": "My SSN is {} since birth.", "en_GB": "National Insurance number {}", "de_DE": "Steuer-ID: {}",
    "fr_FR": "numéro de sécurité sociale {}", "es_ES": "con DNI {} y domicilio", "it_IT": "codice fiscale {}",
    "pt_BR": "portador do CPF {}", "nl_NL": "BSN: {}", "pl_PL": "PESEL {}", "ru_RU": "СНИЛС {}", "zh_CN": "身份证号{}。",
    "hi_IN": "Aadhaar: {}", "tr_TR": "TC kimlik no {}",
}  # fmt: skip


def identity(locale: str, dice: random.Random) -> str:
    """A number by which the state knows somebody, with right check digits; found by trying."""
    shapes = {
        "en_US": ("us.ssn", "%##-%#-%###"), "en_GB": ("", "AB ## ## ## C"), "de_DE": ("de.idnr", "%# ### ### ###"),
        "fr_FR": ("fr.nir", "1 85 05 78 006 084 ##"), "es_ES": ("es.dni", "########L"), "pt_BR": ("br.cpf", "###.###.###-##"),
        "nl_NL": ("nl.bsn", "%########"), "pl_PL": ("pl.pesel", "8#0%1######"), "ru_RU": ("", "112-233-445 95"),
        "it_IT": ("it.codicefiscale", "RSSMRA8#A1#F2##L"), "zh_CN": ("cn.ric", "11010519491231###L"), "tr_TR": ("tr.tckimlik", "%##########"),
    }  # fmt: skip
    if locale == "hi_IN":
        body = digits("?##########", dice)
        number = body + verhoeff.calc_check_digit(body)
        return " ".join(number[i : i + 4] for i in (0, 4, 8))
    module, shape = shapes[locale]
    while True:
        number = digits(shape.replace("%", "?"), dice)
        number = number.replace(
            "L", dice.choice("ABCDEFGHJKLMNPQRSTVWXYZ0123456789" if locale == "zh_CN" else "ABCDEFGHJKLMNPQRSTVWXYZ")
        )
        if not module or import_module(f"stdnum.{module}").is_valid(number):
            return number


@dataclass(frozen=True)
class Case:
    """A sentence, and the value that must be found in it; None for a near miss."""

    locale: str
    kind: str
    text: str
    value: str | None


def digits(pattern: str, dice: random.Random) -> str:
    """A pattern with its # and ? filled in."""
    return "".join(str(dice.randint(0, 9)) if c == "#" else str(dice.randint(2, 9)) if c == "?" else c for c in pattern)


def email(dice: random.Random) -> str:
    """An address, one in three hidden or with a host in another script."""
    name, host = dice.choice(NAMES), dice.choice(HOSTS)
    match dice.randint(0, 8):
        case 0:
            return f"{name}@{dice.choice(IDN)}"
        case 1 | 2:
            form, dot = dice.choice(HIDDEN), dice.choice(HIDDEN_DOTS)
            return form.format(name.replace("+", "-"), host.replace(".", dot))
        case 3:
            return f"{name}@{host}".upper()
        case 4:
            return f'"{name} x"@{host}'
        case _:
            return f"{name}@{host}"


def iban(dice: random.Random) -> str:
    """A German, Dutch or British account number with right check digits."""
    country, account = dice.choice(
        [
            ("DE", digits("#" * 18, dice)),
            ("NL", "ABNA" + digits("#" * 10, dice)),
            ("GB", "WEST" + digits("#" * 14, dice)),
        ]
    )
    number = country + mod_97_10.calc_check_digits(account + country) + account
    return " ".join(number[i : i + 4] for i in range(0, len(number), 4)) if dice.random() < 0.6 else number


def card(dice: random.Random) -> str:
    """A card's number with right check digit."""
    prefix, length = dice.choice([("4", 16), ("5" + dice.choice("12345"), 16), ("37", 15)])
    body = prefix + digits("#" * (length - 1 - len(prefix)), dice)
    number = body + luhn.calc_check_digit(body)
    cuts = [(0, 4), (4, 8), (8, 12), (12, 16)] if length == 16 else [(0, 4), (4, 10), (10, 15)]
    return dice.choice(["", " ", "-"]).join(number[a:b] for a, b in cuts)


def public_v4(dice: random.Random) -> str:
    """An address that some network has."""
    return f"{dice.choice([23, 46, 77, 84, 91, 134, 185, 213])}.{dice.randint(0, 255)}.{dice.randint(0, 255)}.{dice.randint(1, 254)}"


def v6(dice: random.Random) -> str:
    """An address that some network has."""
    tail = dice.choice(["::{}", ":{}:{}:{}:{}:{}:{}"])
    return f"2a{dice.randint(0, 15):02x}:{dice.randint(1, 65535):x}" + tail.format(
        *(f"{dice.randint(1, 65535):x}" for _ in range(6))
    )


def mac(dice: random.Random) -> str:
    """The address of a card."""
    return dice.choice(":-").join(f"{dice.randint(0, 255):02x}" for _ in range(5)) and dice.choice([":", "-"]).join(
        ["a4", *(f"{dice.randint(0, 255):02x}" for _ in range(5))]
    )


def cases(sentences: int, seed: int = 1) -> Iterator[Case]:
    """As many planted sentences of each locale and kind, and as many near misses of each locale."""
    dice = random.Random(seed)
    others: dict[str, Callable[[random.Random], str]] = {
        "iban": iban, "card": card, "mac": mac, "ip": lambda d: v6(d) if d.random() < 0.4 else public_v4(d), "email": email,
    }  # fmt: skip
    for locale, frames in SENTENCES.items():
        for _ in range(sentences):
            value = digits(dice.choice(PHONES[locale]), dice)
            yield Case(locale, "phone", dice.choice(frames).format(value), value)
            for kind, make in others.items():
                value = make(dice)
                yield Case(locale, kind, dice.choice(frames).format(value), value)
            if locale in ID_FRAMES:
                value = identity(locale, dice)
                yield Case(locale, "national_id", ID_FRAMES[locale].format(value), value)
            miss = dice.choice(NEAR)(dice)
            yield Case(locale, "near miss", dice.choice(["{}", "{}.", "({})", "So, {}, as said."]).format(miss), None)


def judged(case: Case) -> tuple[bool, list[str]]:
    """Whether the planted value was found whole, and the kinds of all else that was found."""
    found = find(case.text, KINDS, Regions((case.locale.replace("_", "-"),)))
    if case.value is None:
        return False, [f.kind for f in found]
    begin = case.text.index(case.value)
    end = begin + len(case.value)
    right = any(
        f.kind == case.kind and f.begin <= _first(case.text, begin) and f.end >= _last(case.text, end) for f in found
    )
    return right, [f.kind for f in found if f.end <= begin or f.begin >= end or f.kind != case.kind]


def _first(text: str, begin: int) -> int:
    while not text[begin].isalnum():
        begin += 1
    return begin


def _last(text: str, end: int) -> int:
    while not text[end - 1].isalnum():
        end -= 1
    return end


def share(some: int, of: int) -> str:
    """A share for a table; a dash where there was nothing."""
    return f"{some / of:.3f}" if of else "-"


def width(kind: str) -> int:
    """Characters of a column."""
    return max(9, len(kind) + 2)


def main() -> None:
    """Make, judge, print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="the sentences that went wrong")
    options = parser.parse_args()
    planted: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    wrong: Counter[str] = Counter()
    misses: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case in cases(options.sentences, options.seed):
        found, others = judged(case)
        wrong.update(others)
        if case.value is None:
            misses[case.locale][0] += 1
            misses[case.locale][1] += bool(others)
        else:
            planted[case.locale, case.kind] += 1
            right[case.locale, case.kind] += found
        if options.show and (others or (case.value is not None and not found)):
            print(f"{case.locale} {case.kind}: {case.text!r} {'' if found else 'not found'} {others or ''}")
    kinds = sorted({kind for _, kind in planted})
    print(f"{'recall':8}" + "".join(f"{kind:>{width(kind)}}" for kind in kinds) + "   near misses that stayed")
    for locale in SENTENCES:
        shares = "".join(share(right[locale, kind], planted[locale, kind]).rjust(width(kind)) for kind in kinds)
        print(f"{locale:8}{shares}   {misses[locale][0] - misses[locale][1]:,} of {misses[locale][0]:,}")
    for kind in kinds:
        hits = sum(n for (_, k), n in right.items() if k == kind)
        total = sum(n for (_, k), n in planted.items() if k == kind)
        print(
            f"{kind:8} recall {hits / total:.4f}  precision {hits / max(1, hits + wrong[kind]):.4f}  ({wrong[kind]} wrong)"
        )


if __name__ == "__main__":
    main()
