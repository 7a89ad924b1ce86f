"""Words before a number that say what it is, in the languages that the web is mostly written in."""

from __future__ import annotations

import re

NEAR = 32  # characters before a number in which such a word counts

PHONE = re.compile(
    r"(?:(?<![^\W\d_])(?:"
    # English, and what many languages share
    r"tel|tels|telephone|phone|phones|phone ?(?:no|number)|ph|fax|telefax|mobile|mob|cell|cellphone|call|calling|"
    r"dial|ring|sms|text (?:me|us)|whatsapp|viber|signal|telegram|hotline|helpline|toll[ -]?free|landline|contact|"
    r"reach (?:me|us|him|her|them)|my number|his number|her number|our number|voicemail|switchboard|desk|"
    # German, Dutch
    r"telefon|telefonnummer|fon|ruf|rufnummer|rufen|handy|handynummer|mobil|mobilnummer|mobiltelefon|festnetz|"
    r"durchwahl|anruf|anrufen|erreichbar|erreichen|telefonisch|telefoon|telefoonnummer|bel|bellen|mobiel|gsm|"
    r"bereikbaar|"
    # French, Spanish, Portuguese, Italian
    r"tél|téléphone|portable|appelez|appeler|joindre|numéro|télécopie|teléfono|telefono|teléfonos|móvil|movil|"
    r"celular|llame|llamar|llámenos|llama|contacto|telefone|telemóvel|ligue|ligar|fone|contato|cellulare|cell|"
    r"chiama|chiamare|chiamate|numero|recapito|"
    # Danish, Norwegian, Swedish, Finnish
    r"tlf|tlfnr|tfn|puh|puhelin|puhelinnumero|soita|"
    # Hungarian, Czech, Slovak, Romanian, Croatian
    r"hívja|hívjon|telefonszám|volejte|zavolejte|volajte|sunați|sunaţi|apelați|nazovite|"
    # Greek, Hebrew, Vietnamese
    r"τηλ|τηλέφωνο|κιν|καλέστε|טל|טלפון|נייד|חייגו|điện thoại|đt|sđt|gọi|"
    # Polish, Turkish, Indonesian
    r"telefonu|kom|komórka|komórkowy|zadzwoń|dzwoń|dzwonić|kontakt|faks|gsm|cep|cep tel|telefonu?|arayın|arayınız|"
    r"ara|iletişim|hp|telp|telepon|hubungi|"
    # Russian, Ukrainian
    r"тел|телефон|телефону|телефона|телефоны|моб|мобильный|звоните|звонить|звонок|позвоните|факс|ватсап|вотсап|"
    # Arabic, Hindi, Persian
    r"هاتف|الهاتف|تليفون|تلفون|جوال|الجوال|موبايل|محمول|اتصل|اتصلوا|للتواصل|فاكس|واتساب|"
    r"फोन|फ़ोन|मोबाइल|दूरभाष|कॉल|संपर्क"
    r")(?![^\W\d_])"
    # scripts without spaces
    r"|電話|电话|手机|手機|携帯|けいたい|連絡先|联系|聯絡|致电|热线|熱線|传真|ファックス|ＦＡＸ|ＴＥＬ|お問い合わせ|전화|휴대폰|연락처|โทร"
    r"|[☎☏✆📞📱]|(?<![^\W\d_])[TMF] ?[:.] ?$)",
    re.IGNORECASE,
)

NO_PHONE = re.compile(
    r"(?:(?<![^\W\d_])(?:"
    r"order|orders|invoice|ref|reference|isbn|issn|ean|gtin|upc|sku|asin|mpn|part|parts|model|serial|s/n|p/n|"
    r"tracking|shipment|parcel|article|item|product|id|case|ticket|account|acct|doi|patent|pmid|arxiv|lot|batch|"
    r"catalog|catalogue|cat|docket|confirmation|booking|reservation|policy|claim|vat|tax|ein|duns|registration|reg|"
    r"license|licence|version|bug|issue|pull|log|quoting|quote|pp?|pages?|vol|seite|lottery|code|bestellnummer|bestellung|bestell-nr|auftrag|auftragsnummer|rechnung|rechnungsnummer|"
    r"rechnungsnr|artikel|artikelnummer|artikel-nr|art|kundennummer|kunden-nr|aktenzeichen|az|teilenummer|"
    r"seriennummer|sendungsnummer|bestelnummer|ordernummer|factuur|factuurnummer|commande|facture|référence|réf|"
    r"article|siret|siren|pedido|factura|referencia|código|expediente|fatura|nota fiscal|protocolo|processo|código|"
    r"\w*teil|\w*teile|ricambio|ricambi|pezzo|pièce|pièces|repuesto|recambio|pieza|peça|onderdeel|część|części|"
    r"запчасть|запчасти|деталь|parça|"
    r"ordine|fattura|codice|pratica|zamówienie|zamówienia|faktura|faktury|numer zamówienia|nip|regon|krs|заказ|"
    r"заказа|артикул|счёт|счет|договор|инн|огрн|кпп|снилс|sipariş|fatura no|ürün|طلب|الطلب|فاتورة|ऑर्डर|आदेश"
    r")(?![^\W\d_])|注文|订单|訂單|発注|請求書|品番|型番|部品|零件|부품|編號|编号|单号|發票|发票|주문|№|#|§)"
    r"[^\d\n]{0,14}$",
    re.IGNORECASE,
)

VERSION = re.compile(
    r"(?<![^\W\d_])(?:v|rv|ver|vers|version|versions|versión|versão|versione|versie|wersja|wersji|версия|версии|sürüm|"
    r"release|rel|build|firmware|fw|patch|update|revision|rev|driver|sdk|api|section|sections|sec|chapter|clause|"
    r"article|abschnitt|kapitel|ziffer|punkt|§|第|版本|バージョン|oid|schema|chrome|firefox|safari|opera|edge|"
    r"mozilla|android|ios|windows|linux|kernel|java|jdk|python|php|node|npm|package|assembly|dll|app)"
    r"[^\w\n]{0,3}(?:(?:no|nr|number|is|to|from)\b[^\w\n]{0,3})?$|(?:版本|バージョン|版)[^\d\n]{0,3}$",
    re.IGNORECASE,
)

ADDRESS = re.compile(
    r"(?<![^\W\d_])(?:ip|ips|ipv4|ipv6|ip-?adresse|ip address|address|addresses|adresse|dirección|endereço|indirizzo|"
    r"адрес|adresi|host|hosts|server|servers|сервер|ping|dns|gateway|subnet|proxy|router|resolver|nameserver|ns|"
    r"client|peer|bind|listen|inet|inet6|ssh|traceroute|whois|logged|login|connect|connected|connection)"
    r"(?![^\W\d_])[^\n]{0,20}$|://$|@$|地址|アドレス|服务器",
    re.IGNORECASE,
)

CARD = re.compile(
    r"(?<![^\W\d_])(?:card|cards|visa|mastercard|maestro|amex|american express|discover|diners|jcb|unionpay|credit|"
    r"debit|cc|karte|kreditkarte|kartennummer|carte|tarjeta|cartão|carta|kaart|karta|karty|карта|карты|kart|बिल|कार्ड|"
    r"بطاقة|البطاقة)(?![^\W\d_])|カード|卡号|卡號|信用卡",
    re.IGNORECASE,
)

ACCOUNT = re.compile(r"(?<![^\W\d_])iban(?![^\W\d_])", re.IGNORECASE)  # of a country whose form is not known

HARDWARE = re.compile(r"(?<![^\W\d_])(?:mac|ethernet|hwaddr|ether|wlan|wifi|wi-fi|bssid|hardware)(?![^\W\d_])", re.I)


def before(text: str, begin: int, since: int = 0) -> str:
    """The text before a position in its line: at most `NEAR` characters, and nothing before `since`."""
    piece = text[max(begin - NEAR, since, 0) : begin]
    return piece[piece.rfind("\n") + 1 :]
