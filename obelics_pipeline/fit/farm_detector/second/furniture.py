"""What is on a page beside its text: lists of links, labels, forms, dates, the first words of other pages."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, marked
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length

_LABELS = """\
Main navigation;Jump to main content;Log out;My profile;Settings;Toggle sidebar;Show more;Hide;Expand all;Go to page;\
First;Last;Sort by;Filter;Results per page;Add comment;Report abuse;Quote;Like;Dislike;Share link;Copy link;Download;\
Upload;Submit;Reset;Cancel;OK;Yes;No;Required;Optional;Choose a country;Select language;English;Deutsch;Français;\
Currency;USD;EUR;Basket;Your basket is empty;Free delivery;In stock;Sold out;Pre-order;Compare;Save for later;\
Trending;Editor's picks;Sponsored;Advertisement;Ad choices;Partner content;Most read;Most shared;Live;Video;Gallery;\
Podcasts;Events;Calendar;Jobs;Press;Investors;Imprint;Disclaimer;Accessibility;Report a problem;Site map;Mobile site;\
Desktop version;Dark mode;Text size;Listen;Print this page;Send to a friend;Bookmark;Top;Up;Back;Loading;Please wait;\
Error;Try again;Page not found;No results;Updated;Posted in;Written by;Tagged with;Reading time;views;comments;likes;\
followers;points;Reply;Permalink;Anonymous;Guest;Member since;Offline;Online;Password;User name;Remember me;\
Forgot your password?;Create an account;Already a member?;Unsubscribe;Your e-mail;Subscribe now;Join today""".split(";")
_SENTENCES = """\
You have no items in your basket.
Please fill in all fields and press send.
We value your privacy and that of our partners.
This page was last changed on {day} {name} {year} at {day}:{day}.
Your browser is out of date; some parts of this site may not work.
By clicking accept you allow us and {day} partners to store data on your device.
Sign in to see what your friends are reading.
There are no reviews yet, write the first one.
Content is available under a free licence unless otherwise noted.
Get {day}% off your first order when you join our list.
No part of {name} may be reproduced without written permission.
Showing {day} to {year} of {year} results for {name}.
Did you find this page helpful?
Follow {name} for more.
{year} {name} Ltd, registered in England.
{day} people found this helpful""".splitlines()
_BETWEEN = ("\n", "\n", "\n\n", " ", " | ", " » ", " - ", ", ")


def furniture(topics: Topics, random: Random) -> MarkedText:
    """A page of it."""
    texts = topics.on_one(random, 6)
    names = [random.choice(topics.names) for _ in range(8)]
    words = [random.choice(topics.usual) for _ in range(30)]

    def label() -> str:
        return random.choice(_LABELS)

    def said() -> str:
        day, year = random.randint(1, 28), random.randint(1999, 2026)
        return random.choice(_SENTENCES).format(day=day, year=year, name=random.choice(names))

    def link() -> str:
        text = " ".join(random.choice(random.choice(texts)).split()[: random.randint(2, 8)])
        return text.title() if random.random() < 0.4 else text

    def tag() -> str:
        return f"{random.choice(words)}{random.choice(('', '', f' ({random.randint(1, 300)})'))}"

    def date() -> str:
        return f"{random.randint(1, 28)}/{random.randint(1, 12)}/{random.randint(1999, 2026)}"

    def begin() -> str:
        return " ".join(random.choice(random.choice(texts)).split()[: random.randint(8, 25)]) + random.choice(
            ("...", "…", "")
        )

    kinds: tuple[Callable[[], str], ...] = (label, said, link, tag, date, begin)
    weights = [random.random() ** 2 for _ in kinds]
    repeats, left = random.random() / 3, length(random)
    made: MarkedText = []
    lines: list[str] = []
    between = random.choice(_BETWEEN)
    while left > 0:
        if random.random() < 0.1:
            between = random.choice(_BETWEEN)
        line = random.choice(lines) if lines and random.random() < repeats else random.choices(kinds, weights)[0]()
        lines.append(line)
        made += [Piece(between), *marked(line)] if made else marked(line)
        left -= line.count(" ") + 1
    return made
