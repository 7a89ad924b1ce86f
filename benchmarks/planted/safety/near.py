"""Text that merely looks like personal data, and is none: it must stay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random

from benchmarks.planted.safety.prose import words
from benchmarks.planted.safety.site import Site

Make = Callable[[Random], str]


def _n(low: int, high: int) -> Make:
    return lambda r: str(r.randint(low, high))


def _form(form: str, **parts: Make) -> Make:
    """`#` is a digit, `^` one that is not 0, `{name}` what a part makes."""

    def make(random: Random) -> str:
        drawn = "".join(random.choice("0123456789" if c == "#" else "123456789") if c in "#^" else c for c in form)
        return drawn.format(**{name: part(random) for name, part in parts.items()})

    return make


def _one_of(*makes: Make) -> Make:
    return lambda random: random.choice(makes)(random)


def _said(*texts: str) -> Make:
    return lambda random: random.choice(texts)


def _isbn13(random: Random) -> str:
    body = random.choice(("978", "979")) + random.choice("0123") + "".join(random.choices("0123456789", k=8))
    check = -sum(int(d) * (1 + 2 * (n % 2)) for n, d in enumerate(body)) % 10
    return f"{body[:3]}-{body[3]}-{body[4:8]}-{body[8:]}-{check}"


def _isbn10(random: Random) -> str:
    body = "3" + "".join(random.choices("0123456789", k=8))
    check = -sum(int(d) * (10 - n) for n, d in enumerate(body)) % 11
    return f"{body[0]}-{body[1:5]}-{body[5:]}-{'X' if check == 10 else check}"


def _ean(random: Random) -> str:
    body = "40" + "".join(random.choices("0123456789", k=10))
    return body + str(-sum(int(d) * (1 + 2 * (n % 2)) for n, d in enumerate(body)) % 10)


def _hash(length: int) -> Make:
    return lambda random: hashlib.sha256(random.randbytes(8)).hexdigest()[:length]


_DAY, _MONTH, _YEAR = _n(1, 28), _n(1, 12), _n(1890, 2024)
_M2, _D2, _H, _MIN = (lambda r, a=a, b=b: f"{r.randint(a, b):02}" for a, b in ((1, 12), (1, 28), (0, 23), (0, 59)))
_HEX = "abcdef0123456789"
_NAME: Make = lambda random: words(random, 1)[0]  # noqa: E731

CLASSES: dict[str, tuple[Make, str]] = {
    "version": (_form("{a}.{b}.{c}.{d}", a=_n(1, 20), b=_n(0, 99), c=_n(0, 250), d=_n(0, 250)), "en:Version {} mends the crash of last week.|de:Version {} behebt den Absturz.|fr:La version {} corrige l'erreur.|en:Firmware {} is out."),
    "version with v": (_form("v{a}.{b}.{c}", a=_n(1, 20), b=_n(0, 99), c=_n(0, 2500)), "en:The tag {} was pushed on Friday.|de:Seit {} ist der Fehler weg.|es:Desde {} funciona."),
    "section": (_form("{a}.{b}.{c}.{d}", a=_n(1, 12), b=_n(1, 12), c=_n(1, 12), d=_n(1, 9)), "en:See section {} for the proof.|de:Siehe Abschnitt {} zum Beweis.|fr:Voir le paragraphe {} du rapport."),
    "price": (_one_of(_form("${a},###.##", a=_n(1, 999)), _form("{a}.###,## €", a=_n(1, 999)), _form("£{a}.99", a=_n(10, 9999)), _form("{a} ### ###,00 zł", a=_n(1, 99)), _form("¥{a},###,###", a=_n(1, 99))), "en:The house was sold for {} in May.|de:Das Haus wurde für {} verkauft.|pl:Dom sprzedano za {} w maju."),
    "population": (_one_of(_form("^#,###,###"), _form("^ ### ###"), _form("^#.###.###")), "en:The city had {} inhabitants then.|fr:La ville comptait {} habitants.|de:Die Stadt hatte {} Einwohner."),
    "ISBN": (_one_of(_isbn13, _isbn10, lambda r: _isbn13(r).replace("-", "")), "en:ISBN {}|en:The second edition (ISBN {}) is out of print.|de:ISBN: {}|fr:ISBN {} broché"),
    "ISSN": (_form("####-###{x}", x=_said("X", "1", "7")), "en:ISSN {}|de:Zeitschrift, ISSN {} (Print)"),
    "DOI": (_form("10.####/s#####-0##-#####-{x}", x=_said("x", "1", "w")), "en:doi:{}|en:https://doi.org/{}|de:DOI {}"),
    "PMID or arXiv": (_one_of(_form("PMID: ^#######"), _form("arXiv:2###.#####"), _form("OCLC ^########")), "en:Cited as {} in the review.|fr:Voir {} pour les détails."),
    "date, numbers": (_one_of(_form("{d}.{m}.{y}", d=_D2, m=_M2, y=_YEAR), _form("{y}-{m}-{d}", d=_D2, m=_M2, y=_YEAR), _form("{d}/{m}/{y}", d=_D2, m=_M2, y=_YEAR), _form("{d}-{m}-{y}", d=_D2, m=_M2, y=_YEAR), _form("{y}{m}{d}", d=_D2, m=_M2, y=_YEAR), _form("{y}.{m}.{d}", d=_D2, m=_M2, y=_YEAR), _form("{d} {m} {y}", d=_D2, m=_M2, y=_YEAR)), "en:It was last changed on {} by the editors.|de:Stand: {} laut Aushang.|fr:Mis à jour le {} au matin.|es:Publicado el {} en la web.|ru:Обновлено {} вечером.|ja:{} 更新"),
    "date with time": (_one_of(_form("{y}-{m}-{d} {h}:{i}:{i}", d=_D2, m=_M2, y=_YEAR, h=_H, i=_MIN), _form("{y}-{m}-{d}T{h}:{i}:{i}.###Z", d=_D2, m=_M2, y=_YEAR, h=_H, i=_MIN), _form("{d}.{m}.{y} {h}:{i}", d=_D2, m=_M2, y=_YEAR, h=_H, i=_MIN)), "en:Posted {} by admin|de:Erstellt am {} Uhr|pl:Dodano {} przez redakcję"),
    "years": (_one_of(_form("{a}-{b}", a=_n(1800, 1940), b=_n(1941, 2020)), _form("{a}–{b}", a=_n(1800, 1940), b=_n(1941, 2020)), _form("{a}, {b}, 1977, 1988", a=_n(1800, 1940), b=_n(1941, 1970))), "en:The mayors of {} are shown on the wall.|de:Die Jahrgänge {} sind vergriffen.|it:Gli anni {} furono difficili."),
    "opening hours": (_one_of(_form("{h}:{i}-{k}:{i}", h=_n(7, 9), k=_n(16, 20), i=_said("00", "30")), _form("0{h}.{i} – {k}.{i}", h=_n(7, 9), k=_n(16, 20), i=_said("00", "30")), _form("{h}h{i} à {k}h{i}", h=_n(7, 9), k=_n(16, 20), i=_said("00", "30"))), "en:Open {} on weekdays.|de:Geöffnet {} werktags.|fr:Ouvert de {} en semaine."),
    "coordinates": (_one_of(_form("53.######, 9.######"), _form("{a}°{i}′{i}″N {b}°{i}′{i}″E", a=_n(10, 80), b=_n(10, 80), i=_MIN), _form("-^#.#####, 1##.#####")), "en:The mill stands at {} on the hill.|de:Die Mühle steht bei {} am Hang.|es:El molino está en {} del valle."),
    "sport": (_one_of(_form("6-{a} 7-{b} 6-{a}", a=_n(0, 4), b=_n(5, 6)), _form("{a}:{b} ({c}:{d})", a=_n(3, 5), b=_n(0, 3), c=_n(0, 2), d=_n(0, 2)), _form("2:0#:##.##"), _form("21-1# 1#-21 21-1#"), _form("25-20 23-25 25-1# 1#-15")), "en:She won {} in the final.|de:Sie gewann {} im Finale.|fr:Elle gagne {} en finale."),
    "order number": (_one_of(_form("^##-^######-#######"), _form("^#########"), _form("4#########"), _form("0##########")), "en:Order no. {} has been shipped.|de:Bestellnummer {} wurde versandt.|fr:N° de commande {} expédiée.|es:Pedido n.º {} enviado.|nl:Bestelnummer {} is verzonden."),
    "invoice": (_one_of(_form("INV-20##-#####"), _form("20##/#####"), _form("RE-########")), "en:Invoice {} is due in May.|de:Rechnung {} ist im Mai fällig."),
    "part number": (_one_of(_form("A### ### ## ##"), _form("###-#####-##"), _form("5Q0 ### ### {x}", x=_said("B", "C")), _form("####-###-###")), "en:The spare part {} fits both models.|de:Das Ersatzteil {} passt an beide.|it:Il ricambio {} va bene per tutti."),
    "serial": (_one_of(_form("SN: {a}#######{a}##", a=_said("C0", "F1", "X9")), _form("S/N ##########"), _form("{a}##-####-####-####", a=_said("AB", "XK"))), "en:The device with {} was replaced.|de:Das Gerät mit {} wurde ersetzt."),
    "barcode": (_ean, "en:EAN {}|de:EAN-Code {} auf der Packung|fr:Code-barres {} du produit"),
    "colour": (lambda r: "#" + "".join(r.choices(_HEX, k=6)), "en:Set the border to {} and try again.|de:Die Farbe {} passt besser."),
    "hash": (_one_of(_hash(40), _hash(64), _hash(32), _hash(7), _hash(12)), "en:The commit {} broke the build.|en:sha256: {}|de:Die Prüfsumme ist {} laut Seite."),
    "UUID": (lambda r: f"{_hash(8)(r)}-{_hash(4)(r)}-4{_hash(3)(r)}-a{_hash(3)(r)}-{_hash(12)(r)}", "en:The request {} failed.|de:Vorgang {} wurde beendet."),
    "CSS and code": (_one_of(_form("margin: {a}px {b}px {a}px {b}px", a=_n(0, 40), b=_n(0, 40)), _form("rgba({a}, {b}, {a}, 0.5)", a=_n(0, 255), b=_n(0, 255)), _form("grid-area: 1 / 2 / {a} / {b}", a=_n(3, 9), b=_n(3, 9)), _form("std::vector<int>::size_type n = {a}", a=_n(1, 999)), _form("0x{a}####", a=_said("DEAD", "BEEF"))), "en:Write {} into the file.|de:Schreiben Sie {} in die Datei."),
    "handle": (_form("@{n}{a}", n=_NAME, a=_n(1, 999)), "en:Follow {} for more.|de:Folgen Sie {} für mehr.|es:Siga a {} para más."),
    "fediverse": (_form("@{n}@{m}.social", n=_NAME, m=_NAME), "en:Follow {} for more.|de:Auch als {} zu finden."),
    "repository": (_one_of(_form("git@github.com:{n}/{m}.git", n=_NAME, m=_NAME), _form("ssh root@{n}", n=_NAME), _form("{n}@2x.png", n=_NAME), _form("npm install {n}@{a}.{a}.#", n=_NAME, a=_n(1, 20)), _form("scp file.txt user@host:/tmp")), "en:Then type {} and wait.|de:Danach {} eingeben.|fr:Tapez {} puis attendez."),
    "decorator or array": (_one_of(_said("@property", "a[i]@b", "user@", "x @ y", "@media (min-width: 600px)", "P@ssw0rd", "me@home")), "en:The line with {} is wrong.|de:Die Zeile mit {} ist falsch."),
    "bible": (_one_of(_form("John {a}:{b}", a=_n(1, 21), b=_n(1, 40)), _form("Gen {a}:{b}-{c}", a=_n(1, 9), b=_n(1, 9), c=_n(10, 30)), _form("Ps 119,{a}-1{a}", a=_n(10, 50)), _form("1 Kor 13,1-13; 14,{a}", a=_n(1, 40))), "en:The sermon was about {} and peace.|de:Die Predigt ging über {} und Frieden."),
    "chess": (_one_of(_said("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4", "12. Qxf7+ Kd8 13. Rad1"), _form("rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - {a} 2", a=_n(0, 9))), "en:The game went {} from here.|de:Die Partie ging {} weiter."),
    "formula": (_one_of(_form("3.14159265358979"), _form("6.022·10^23"), _form("C₆H₁₂O₆ ({a}.## g/mol)", a=_n(100, 300)), _form("{a} + {b} = {a}.{b}", a=_n(100, 999), b=_n(1000, 9999)), _form("1.^######## × 10⁻¹⁹")), "en:One finds {} in the tables.|de:Man findet {} in den Tafeln.|ru:В таблицах стоит {} и больше."),
    "port": (_one_of(_form("localhost:####"), _form("127.0.0.1:80##"), _form("192.168.{a}.{a}", a=_n(0, 254)), _form("10.0.{a}.0/24", a=_n(0, 254)), _said("0.0.0.0", "255.255.255.0", "::1", "fe80::1")), "en:Open {} in the browser.|de:Öffnen Sie {} im Browser."),
    "legal": (_one_of(_form("Case C-###/##"), _form("§ {a} Abs. {b} Satz 1 Nr. {b}", a=_n(1, 400), b=_n(1, 9)), _form("BGBl. I S. ####"), _form("2016/679"), _form("I ZR ###/##"), _form("EP #######"), _form("US ^,###,###")), "en:The court cited {} here.|de:Das Gericht nannte {} dazu."),
    "bank sorts": (_one_of(_form("BLZ ^## ### ##"), _form("SWIFT {a}DEFFXXX", a=_said("DEUT", "COBA"))), "de:Die Bank mit {} schließt im Mai.|en:The branch with {} closes in May."),
    "flight and bus": (_one_of(_form("LH ####"), _form("BA#### / AA####"), _form("RE 7 (#####)"), _form("Gate {a}#, seats ##{a}-##{a}", a=_said("A", "B"))), "en:The connection {} was late.|de:Die Verbindung {} hatte Verspätung."),
    "film and sizes": (_one_of(_form("1920x1080"), _form("{a} x {b} x {a} mm", a=_n(100, 999), b=_n(100, 999)), _form("205/55 R16 91V"), _form("f/2.8 1/250 ISO 400 50mm"), _form("DIN EN ISO 9001:2015"), _form("ISO/IEC 27001:2022")), "en:It is marked {} at the side.|de:Darauf steht {} am Rand.|it:Sul lato si legge {} in bianco."),
    "big numbers": (_one_of(_form("^#########"), _form("^##########"), _form("^ ### ### ###"), _form("^##.###.###.###"), _form("^###############")), "en:The counter shows {} now.|de:Der Zähler steht auf {} jetzt.|fr:Le compteur affiche {} aujourd'hui."),
    "statistics": (_one_of(_form("12.3 45.6 78.9 ##.#"), _form("n = ####, p < 0.0##"), _form("##, ##, ##, ##, ##"), _form("#.# ± 0.## (95% CI #.#-^#.#)")), "en:The row reads {} there.|de:Die Zeile lautet {} dort.|es:La fila dice {} ahí."),
    "lottery and routes": (_one_of(_form("{a}-{b}-{c}-{d}-44-49", a=_n(1, 9), b=_n(10, 19), c=_n(20, 29), d=_n(30, 39)), _form("A{a}/A{b}, B{a}#", a=_n(1, 99), b=_n(1, 99)), _form("{a}/{b}/{a}", a=_n(10, 99), b=_n(10, 99))), "en:This week {} was drawn.|de:Diese Woche kam {} heraus."),
    "example address": (_said("203.0.113.7", "198.51.100.23", "2001:db8::1", "192.0.2.44"), "en:Use {} in examples.|de:In Beispielen {} schreiben."),
    "currency rates": (_one_of(_form("1.#### / 1.####"), _form("EUR/USD 1.####"), _form("BTC {a} ###.##", a=_n(10, 99))), "en:The rate was {} at noon.|de:Der Kurs war {} am Mittag."),
}  # fmt: skip


def add_near_misses(site: Site, number: int) -> None:
    """As many, in turn of each class."""
    classes = list(CLASSES.items())
    for n in range(number):
        name, (make, frames) = classes[n % len(classes)]
        language, _, frame = site.random.choice(frames.split("|")).partition(":")
        before, after = frame.split("{}")
        value = make(site.random)
        element = site.random.choice(("p", "p", "li", "td"))
        site.page(
            f"near misses of personal data: {name}",
            False,
            "text",
            value,
            language=language,
            said=(before, value, after),
            element=element,
        )
