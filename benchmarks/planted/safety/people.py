"""Personal data: e-mail and IP addresses, phones, MACs, IBANs, cards, national numbers; and the same address twice."""

from __future__ import annotations

from random import Random

from benchmarks.planted.safety.forms import data, luhn, text
from benchmarks.planted.safety.ids import IDS, national_id
from benchmarks.planted.safety.site import COUNTRIES, Site


def add_people(site: Site, number: int) -> None:
    """So many of each kind; of national numbers some for each country."""
    random, forms, said = site.random, data("people")["forms"], data("people")["said"]
    for _ in range(number):
        for kind in ("e-mail: plain", "e-mail: hidden", "IP: version 4", "IP: version 6", "MAC", "card"):
            frames = said[kind.partition(":")[0]]
            language = random.choice(("en", "de", "fr", "es") if kind == "e-mail: hidden" else list(frames))
            value = text(random.choice(forms[kind]), random)
            if kind == "card":
                value = card(value, random)
            site.say(kind, True, random.choice(frames[language]), value, language=language)
        country = random.choice(list(forms["IBAN"]))
        frames = said["IBAN"].get(COUNTRIES[country], said["IBAN"]["en"])
        site.say(f"IBAN: {country}", True, random.choice(frames), iban(country, random), country=country)
        address = text(random.choice(forms["e-mail: plain"]), random)
        again = f" or once more to {address.upper()} instead."
        case = site.page(
            "e-mail: twice the same", True, "twice", address, language="en", said=("Write to ", address, again)
        )
        case.around = "Write to ", " or once more to "
    for country in IDS:
        for _ in range(max(2, number // 8)):
            name, value = national_id(country, random)
            frame = random.choice((f"{name}: {{}}", f"{name} {{}}"))
            site.say(f"national id: {country}", True, frame, value, country=country)


def add_phones(site: Site, number: int) -> None:
    """For each country as many of either writing."""
    said = data("phones")["said"]
    for country in data("phones")["plans"]:
        for way in ("home", "abroad"):
            for _ in range(number):
                kind = f"phone, {'national' if way == 'home' else 'international'}: {country}"
                frame = site.random.choice(said[COUNTRIES[country]])
                site.say(kind, True, frame, phone(country, way, site.random), country=country)


def phone(country: str, way: str, random: Random) -> str:
    """A number that could be somebody's, written as at `home` or as for those `abroad`."""
    plan = data("phones")["plans"][country]
    area = random.choice(list(plan["areas"]))
    lengths = plan["areas"][area]
    groups = [text("#" * int(length), random) for length in lengths]
    first = plan.get("first", {}).get(lengths, "23456789")
    groups[0] = random.choice(first) + groups[0][1:]
    if plan["code"] == "1" and groups[0].endswith("11"):
        groups[0] = groups[0][0] + "37"  # N11 are services
    form = random.choice(plan[way] if way == "abroad" or area not in plan.get("mobile", ()) else ["{a} {s}"])
    rest = {name: glue.join(groups) for name, glue in zip("sdpj", (" ", "-", ".", ""), strict=True)}
    return str(form.format(a=area, g0=groups[0], g1=groups[-1], **rest))


def iban(country: str, random: Random) -> str:
    """With check digits (ISO 13616), in groups of four or not."""
    body = text(data("people")["forms"]["IBAN"][country], random)
    if country == "BE":
        body = body[:10] + f"{int(body[:10]) % 97 or 97:02}"
    rest = int("".join(str(int(sign, 36)) for sign in f"{body}{country}00")) % 97
    return grouped(f"{country}{98 - rest:02}{body}", random.choice((" ", " ", "")))


def card(body: str, random: Random) -> str:
    """The number of a card by its first digits, as it is embossed or without gaps."""
    value = body + luhn(body)
    if len(value) == 15:
        return random.choice((value, f"{value[:4]} {value[4:10]} {value[10:]}"))
    return grouped(value, random.choice((" ", "-", "")))


def grouped(value: str, glue: str) -> str:
    """In fours."""
    return glue.join(value[i : i + 4] for i in range(0, len(value), 4))
