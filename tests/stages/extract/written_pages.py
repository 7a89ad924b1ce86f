"""Pages as they are on the web, made up: an article within lists of links, a forum, a page of pictures."""

from __future__ import annotations

SENTENCES = (
    "The old harbour was rebuilt in the nineteenth century, when the town had outgrown its quays.",
    "Engineers from the coast dug a basin, lined it with granite, and moved the fish market to its edge.",
    "For some years the new pier stood empty, because the railway ended a mile from the water.",
    "When the line was extended at last, the first train brought coal, timber and a brass band.",
    "Today the granite can still be seen at low tide, and the band has a bench named after it.",
)
LINKS = ("News", "Sport", "Weather", "Our shop", "Contact", "Imprint", "Ferry times", "Photographs", "Jobs", "Archive")


def paragraph(number: int) -> str:
    return f"Part {number}. " + " ".join(SENTENCES[(number + i) % 5] for i in range(4))


def links(name: str) -> str:
    items = "".join(f"<li><a href='/{name}/{i}'>{name} {link}</a></li>" for i, link in enumerate(LINKS))
    return f"<div class='{name}'><ul>{items}</ul></div>"


def teaser(number: int) -> str:
    return (
        f"<div class=card><a href='/related/{number}'><img src='/thumbs/related-{number}.jpg' width=120 height=80>"
        f"<h4>Teaser {number} of another story</h4></a></div>"
    )


def page(body: str, head: str = "") -> str:
    return f"<html><head><title>Harbour</title>{head}</head><body>{body}</body></html>"


def article(text: str = "", before: str = "", after: str = "") -> str:
    """An article of eight paragraphs between lists of links and teasers; `text` stands in its middle."""
    halves = ["".join(f"<p>{paragraph(i)}</p>" for i in half) for half in (range(4), range(4, 8))]
    return (
        links("menu")
        + f"<div class=content><article class=post><h1>The harbour</h1>{before}"
        + f"<div class=entry-content>{halves[0]}{text}{halves[1]}{after}</div></article></div>"
        + "<div class=related-posts><h3>Related articles</h3>"
        + "".join(map(teaser, range(6)))
        + f"</div><div class=sidebar>{links('popular')}</div>{links('footer-links')}"
    )


def forum(posts: int = 8) -> str:
    """A thread: a user's name, picture and date, then what they say."""
    return (
        links("menu")
        + "<div class=thread><h1>Which rope for the mooring?</h1>"
        + "".join(
            f"<div class='post' id=p{i}><div class=userinfo><a href=/u/{i}><img class=avatar src='/avatars/u{i}.png' "
            f"width=60 height=60></a><b>sailor{i}</b><span class=date>3 May, 10:0{i}</span></div>"
            f"<div class=postbody><p>Answer {i}. {SENTENCES[i % 5]} {SENTENCES[(i + 1) % 5]}</p></div></div>"
            for i in range(posts)
        )
        + "</div>"
        + links("footer-links")
    )
