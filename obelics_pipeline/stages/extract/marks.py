"""Marks: what the names in class, id and role attributes say about an element, as bits."""

from __future__ import annotations

import re

# One line a meaning: the words that carry it, as parts of a name ("post-meta", "postMeta", "post_meta").
WORDS: dict[str, str] = {
    "nav": (
        "nav navi navbar navigation navbox menu menus submenu dropdown breadcrumb breadcrumbs crumb crumbs pager "
        "pagination paginator pagenav paging prevnext pagelinks toc topnav subnav sitenav mainnav mainmenu toolbar "
        "tabs tabbar jump skip skiplink menue brotkrumen"
    ),
    "share": (
        "share sharing shares sharebar sharebuttons sharethis sharedaddy addthis addtoany social socials socialmedia "
        "sociable follow follows facebook twitter tweet whatsapp pinterest linkedin instagram telegram teilen print "
        "email like likes bookmark bookmarks shariff jetpack ssba"
    ),
    "related": (
        "related relateds relatedposts recommend recommended recommendation recommendations recirc recirculation "
        "similar alsolike more morestories trending popular mostpopular mostread latest recent recents upnext "
        "readnext readmore next prev previous suggested suggestions teaser teasers promo promos linklist yarpp jp "
        "seealso aehnliche weitere empfehlung empfehlungen outbrain taboola onward"
    ),
    "comment": (
        "comment comments commentlist commentform comentarios commentaires kommentar kommentare disqus respond reply "
        "replies trackback trackbacks pingback pingbacks discussion livefyre commenting"
    ),
    "advert": (
        "ad ads adv advert adverts advertisement advertising advertorial adsense adslot adunit adbox adwrapper banner "
        "banners sponsor sponsored sponsors dfp gpt anzeige anzeigen werbung werbe publicidad publicite pub affiliate "
        "commercial"
    ),
    "byline": (
        "byline bylines author authors authorbox authorinfo bio vcard meta metadata postmeta entrymeta date dates "
        "datetime time timestamp published pubdate updated posted postdate dateline info infos source autor verfasser "
        "datum writer contributor contributors postinfo postedon readingtime minread views"
    ),
    "tags": (
        "tag tags taglist tagged tagcloud keyword keywords category categories cat cats topic topics label labels "
        "kategorie kategorien schlagworte postcategory filed"
    ),
    "side": (
        "sidebar sidebars side rail rightrail aside widget widgets widgetarea secondary tertiary right rightcol "
        "leftcol left rightcolumn leftcolumn complementary seitenleiste marginal infobox"
    ),
    "foot": (
        "footer foot footers bottom copyright copy legal imprint impressum disclaimer colophon footnav fussnote "
        "siteinfo"
    ),
    "head": "header head masthead topbar top logo brand branding siteheader headerbar hero",
    "form": (
        "form forms newsletter newsletters subscribe subscription signup signin login register registration search "
        "searchform suche input field mailinglist mailchimp optin account user password anmelden download cta donate "
        "donation contact"
    ),
    "popup": (
        "cookie cookies consent gdpr modal popup popover overlay lightbox dialog paywall notice alert notification "
        "notifications toast tooltip banner premium regwall piano announcement"
    ),
    "body": (
        "article articles articlebody articletext articlecontent body content contents contenttext contentbody "
        "maincontent main maintext entry entrycontent post posts postbody postcontent story storybody storycontent "
        "text texts txt textbody prose markdown richtext rte wysiwyg blog bodytext articlepage inhalt beitrag artikel "
        "texto contenido hentry paragraph para copytext page mw parser output section single node field fulltext "
        "detail"
    ),
    "caption": (
        "caption captions credit credits figcaption imagecaption wpcaption bildunterschrift legend copyright "
        "photographer photocredit bildnachweis"
    ),
    "picture": (
        "image images img imgs photo photos picture pictures pic pics figure bild bilder foto fotos media thumb "
        "thumbs thumbnail thumbnails illustration video videos player gallery galleries slideshow slider slides slide "
        "carousel swiper galerie embed"
    ),
    "avatar": (
        "avatar avatars gravatar profile profiles userpic headshot portrait authorimage icon icons emoji emojis "
        "smiley smilies wpsmiley badge badges flag flags logo logos sprite"
    ),
    "gallery": "gallery galleries slideshow slider slides carousel galerie lightbox mosaic",
    "title": (
        "title titles headline headlines heading subtitle subhead subheadline kicker dek standfirst lead lede intro "
        "summary excerpt abstract teasertext vorspann titel topline"
    ),
    "card": (
        "card cards tile tiles item items grid list lists listing listings result results archive index row col "
        "column columns cell loop feed stream"
    ),
    "unseen": (
        "sr visuallyhidden hidden hide screenreader assistive offscreen invisible noprint printonly editsection "
        "accessibility a11y"
    ),
    "forum": (
        "message messages thread threads topic answer answers question questions votecell quote reply postbody post "
        "postcontent messagebody signature sig postprofile"
    ),
    "product": (
        "product products price prices sku cart basket shop buy rating ratings review reviews stock warenkorb preis "
        "woocommerce"
    ),
    "review": (
        "review reviews reviewer reviewers testimonial testimonials bazaarvoice bv yotpo okendo jdgm judgeme loox "
        "trustpilot powerreviews bewertung bewertungen rezension rezensionen kundenmeinung kundenmeinungen avis "
        "opiniones recensione recensioni"
    ),
}
BITS = {name: 1 << number for number, name in enumerate(WORDS)}
VOCABULARY: dict[str, int] = {}
for _name, _words in WORDS.items():
    for _word in _words.split():
        VOCABULARY[_word] = VOCABULARY.get(_word, 0) | BITS[_name]
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
MODIFIER = "overflow"  # the part behind it says nothing: what is overflow-hidden is not hidden
_SHORT = 2  # letters; a part of no more must stand alone, for made-up names, such as jJpQhK, are full of them
_READ = 1_000  # characters of a name; more are not made by people
_known: dict[str, int] = {}
_CACHED = 50_000


def marks_of(name: str) -> int:
    """The bits of a class or id attribute."""
    name = name[:_READ]
    bits = _known.get(name)
    if bits is None:
        if len(_known) > _CACHED:
            _known.clear()
        bits = 0
        modified = False
        for part in _PARTS.finditer(name):
            word = part[0].lower()
            if not modified and (len(word) > _SHORT or _stands_alone(name, part.start(), part.end())):
                bits |= VOCABULARY.get(word, 0)
            modified = word == MODIFIER
        _known[name] = bits
    return bits


def _stands_alone(name: str, start: int, end: int) -> bool:
    around = name[max(0, start - 1) : start] + name[end : end + 1]
    return not any(character.isascii() and character.isalpha() for character in around)


def names_of(bits: int) -> list[str]:
    """The names of the marks that are set in `bits`."""
    return [name for name, bit in BITS.items() if bits & bit]
