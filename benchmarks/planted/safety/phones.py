"""Phone numbers of twenty-seven countries by their numbering plans, as people write them on pages.

A plan: the country's code; area codes with the lengths of the groups behind them; how it is written at
home and from abroad. {a} the area, {s} {d} {p} {j} the rest, its groups joined by a space, a dash, a point, nothing.
"""

from __future__ import annotations

from random import Random

from benchmarks.planted.safety.site import COUNTRIES, Site

PLANS: dict[str, tuple[str, str, str, str]] = {
    "US": ("1", "212:34 415:34 312:34 206:34 617:34 305:34", "({a}) {d}|{a}-{d}|{a}.{p}|1-{a}-{d}", "+1 {a} {d}|+1 ({a}) {d}|+1-{a}-{d}"),
    "CA": ("1", "416:34 604:34 514:34 613:34", "({a}) {d}|{a}-{d}|{a} {d}", "+1 {a} {d}|+1 ({a}) {d}"),
    "GB": ("44", "20:44 161:34 121:34 1223:33 7700:33 7911:33", "0{a} {s}|(0{a}) {s}|0{a} {j}", "+44 {a} {s}|+44 (0){a} {s}|+44 (0) {a} {s}|0044 {a} {s}"),
    "AU": ("61", "2:44 3:44 7:44", "(0{a}) {s}|0{a} {s}", "+61 {a} {s}|+61 (0){a} {s}"),
    "IN": ("91", "22:44 11:44 80:44", "0{a}-{j}|0{a} {s}|(0{a}) {s}", "+91 {a} {s}|+91-{a}-{j}"),
    "ZA": ("27", "21:34 11:34 31:34", "0{a} {s}|(0{a}) {s}", "+27 {a} {s}|+27 (0){a} {s}"),
    "DE": ("49", "30:44 40:44 89:44 221:34 711:34 151:44 170:34", "0{a} {s}|0{a} {j}|0{a}/{j}|0{a} / {s}|(0{a}) {s}|0{a}-{j}", "+49 {a} {s}|+49 (0){a} {s}|+49 (0) {a} / {s}|0049 {a} {j}|+49{a}{j}"),
    "AT": ("43", "1:34 316:33 662:33 664:34", "0{a} {s}|0{a}/{s}|(0{a}) {s}", "+43 {a} {s}|+43 (0){a} {s}|+43/{a}/{s}"),
    "CH": ("41", "44:322 31:322 22:322 79:322", "0{a} {s}|0{a}/{s}", "+41 {a} {s}|+41 (0){a} {s}|0041 {a} {s}"),
    "FR": ("33", "1:2222 4:2222 5:2222 6:2222 2:2222", "0{a} {s}|0{a}.{p}|0{a}{j}|0{a}-{d}", "+33 {a} {s}|+33 (0){a} {s}|+33{a}{j}|0033 {a} {s}"),
    "BE": ("32", "2:322 3:322 9:322 475:222", "0{a} {s}|0{a}/{p}|0{a}/{s}", "+32 {a} {s}|+32 (0){a} {s}"),
    "ES": ("34", "91:322 93:322 95:322 612:33 654:222", "{a} {s}|{a}{j}", "+34 {a} {s}|(+34) {a} {s}|0034 {a} {s}"),
    "MX": ("52", "55:44 33:44 81:44", "{a} {s}|({a}) {s}|({a}) {d}", "+52 {a} {s}|+52 ({a}) {s}"),
    "AR": ("54", "11:44 351:34 341:34", "(0{a}) {d}|({a}) {d}|0{a} {d}", "+54 {a} {d}|+54 {a} {s}"),
    "IT": ("39", "02:44 06:44 055:34 347:34 333:34", "{a} {s}|{a}/{j}|{a} {j}|{a}-{j}", "+39 {a} {s}|+39 {a} {j}|(+39) {a} {j}"),
    "NL": ("31", "20:322 10:322 70:322 6:2222 30:322", "0{a}-{j}|0{a} {s}|(0{a}) {s}", "+31 {a} {s}|+31 (0){a} {s}"),
    "PL": ("48", "22:322 12:322 601:33 502:33 71:322", "{a} {s}|({a}) {s}|{a}-{d}", "+48 {a} {s}|(+48) {a} {s}|+48{a}{j}"),
    "PT": ("351", "21:322 22:322 91:322 96:322", "{a} {s}|{a}{j}", "+351 {a} {s}|(+351) {a} {s}|00351 {a} {s}"),
    "BR": ("55", "11:44 21:44 31:44 11:54 21:54", "({a}) {d}|{a} {d}|({a}){d}", "+55 {a} {d}|+55 ({a}) {d}|+55 {a} {s}"),
    "RU": ("7", "495:322 812:322 916:322 903:322", "8 ({a}) {d}|8-{a}-{d}|8 {a} {s}|({a}) {d}", "+7 ({a}) {d}|+7 {a} {s}|+7-{a}-{d}|+7{a}{j}"),
    "SE": ("46", "8:322 31:322 40:322 70:322 73:322", "0{a}-{s}|0{a} {s}|0{a}-{j}", "+46 {a} {s}|+46 (0){a}-{s}|+46{a}{j}"),
    "TR": ("90", "212:322 312:322 232:322 532:322", "0{a} {s}|0 {a} {s}|(0{a}) {s}|0 ({a}) {s}", "+90 {a} {s}|+90 ({a}) {s}"),
    "JP": ("81", "3:44 6:44 45:34 90:44 80:44", "0{a}-{d}|0{a}({g0}){g1}|(0{a}){d}", "+81 {a} {s}|+81-{a}-{d}"),
    "KR": ("82", "2:34 51:34 10:44 31:34", "0{a}-{d}|0{a}) {d}|0{a}.{p}", "+82 {a} {s}|+82-{a}-{d}"),
    "CN": ("86", "10:44 21:44 755:44 138:44 139:44", "0{a}-{j}|(0{a}) {j}", "+86 {a} {s}|+86-{a}-{j}|+86 {a} {j}"),
    "DK": ("45", "33:222 86:222 40:222 22:222", "{a} {s}|{a}{j}", "+45 {a} {s}|+45 {a}{j}"),
    "FI": ("358", "9:34 40:34 50:34", "0{a} {s}|(0{a}) {s}|0{a}-{j}", "+358 {a} {s}|+358 (0){a} {s}"),
}  # fmt: skip
_MOBILE = {"CN": ("138", "139")}  # written without a trunk prefix

# A word that says that it is one, then none: {} the number.
_SAID = {
    "en": ("Call us on {} before noon.", "Phone: {}", "You can reach the office at {} on weekdays.", "Fax: {}"),
    "de": ("Rufen Sie uns an: {}", "Tel.: {}", "Sie erreichen das Büro unter {} werktags.", "Fax {}"),
    "fr": ("Appelez-nous au {} le matin.", "Tél. : {}", "Le bureau répond au {} en semaine."),
    "es": ("Llámenos al {} por la mañana.", "Teléfono: {}", "La oficina atiende en el {} entre semana."),
    "it": ("Chiamateci al {} la mattina.", "Tel. {}", "L'ufficio risponde al {} nei giorni feriali."),
    "nl": ("Bel ons op {} in de ochtend.", "Telefoon: {}", "Het kantoor is bereikbaar op {} op werkdagen."),
    "pl": ("Zadzwoń pod numer {} rano.", "tel. {}", "Biuro jest czynne pod {} w dni robocze."),
    "pt": ("Ligue para {} de manhã.", "Telefone: {}", "O escritório atende no {} nos dias úteis."),
    "ru": ("Звоните нам: {} по утрам.", "Тел.: {}", "Контора отвечает по {} в будни."),
    "sv": ("Ring oss på {} före lunch.", "Tel: {}", "Kontoret nås på {} på vardagar."),
    "tr": ("Bizi {} numarasından arayın.", "Tel: {}", "Ofise hafta içi {} üzerinden ulaşılır."),
    "da": ("Ring til os på {} om morgenen.", "Tlf. {}", "Kontoret træffes på {} på hverdage."),
    "fi": ("Soita meille {} aamulla.", "Puh. {}", "Toimisto vastaa arkisin {} numerossa."),
    "ja": ("お電話は {} までどうぞ。", "電話:{}", "お問い合わせ {} 平日のみ。", "TEL {}"),
    "ko": ("{} 로 전화해 주세요.", "전화: {}", "사무실 {} 평일에만 받습니다."),
    "zh": ("请拨打 {} 联系我们。", "电话:{}", "办公室 {} 工作日开放。"),
}


def number(country: str, abroad: bool, random: Random) -> str:
    """A number that could be somebody's, written as at home or as for those abroad."""
    code, areas, home, there = PLANS[country]
    area, lengths = random.choice(areas.split()).split(":")
    groups = ["".join(random.choices("0123456789", k=int(length))) for length in lengths]
    first = "9" if (country, lengths) == ("BR", "54") else random.choice("2345" if country == "BR" else "23456789")
    if code == "1" and groups[0][-2:] == "11":
        groups[0] = groups[0][0] + "37"  # N11 are services
    groups[0] = first + groups[0][1:]
    form = random.choice((there if abroad else home).split("|"))
    if not abroad and area in _MOBILE.get(country, ()):
        form = "{a} {s}"
    glued = {"s": " ", "d": "-", "p": ".", "j": ""}
    rest = {name: glue.join(groups) for name, glue in glued.items()}
    return form.format(a=area, g0=groups[0], g1=groups[-1], **rest)


def add_phones(site: Site, number_of: int) -> None:
    """For each country as many of either writing."""
    for country in PLANS:
        for abroad in (False, True):
            for _ in range(number_of):
                value = number(country, abroad, site.random)
                before, after = site.random.choice(_SAID[COUNTRIES[country]]).split("{}")
                kind = f"phone, {'international' if abroad else 'national'}: {country}"
                element = site.random.choice(("p", "p", "li", "td"))
                said = (before, value, after)
                site.page(kind, True, "text", value, country=country, said=said, element=element)
