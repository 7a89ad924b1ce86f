"""What stands around the text of a page, and is often taken along: menus, notices, bylines, teasers of other pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import WORD, MarkedText, Piece, count_words, marked
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

MENU = """\
Home|About us|Contact|Contact us|Privacy policy|Terms of use|Terms and conditions|Sitemap|Login|Sign in|Register|\
Sign up|Subscribe|Newsletter|Search|Menu|Skip to content|Next|Previous|Older posts|Newer posts|Read more|\
Continue reading|Leave a comment|Leave a reply|Share this|Share on Facebook|Tweet|Pin it|Email|Print|Follow us|RSS|\
Categories|Archives|Tags|Recent posts|Popular posts|Related articles|You may also like|Add to cart|Checkout|\
My account|Wishlist|FAQ|Help|Support|Careers|Advertise|Cookies|Accept|Accept all cookies|Manage preferences|Close|\
Back to top|View all|Load more|Shop now|Sale|New in|Gift cards|Store locator|Track order|Returns|Shipping|\
All rights reserved|Powered by WordPress|Facebook|Twitter|Instagram|YouTube|Pinterest|LinkedIn""".split("|")

NOTICES = """\
We use cookies to improve your experience on our website.
By continuing to use this site you agree to our use of cookies.
Your email address will not be published.
Required fields are marked *
Enter your email address to subscribe to this blog and receive notifications of new posts by email.
This site uses a plugin to reduce spam.
Sign up for our newsletter and get the latest news in your inbox.
JavaScript is disabled in your browser.
All trademarks are the property of their owners.
Prices include VAT and exclude delivery.
Please enable cookies and reload the page.
You must be logged in to post a comment.
This website is for information only.
As an affiliate we may earn a commission from purchases.
Copyright © {year} {site}. All rights reserved.
Posted by {site} on {day}/{month}/{year}
{day} comments
Filed under: {site}
Be the first to review this product.""".splitlines()

BYLINES = """\
By {name}
By {name}, {site}
{name} / {hour}:{minute} am {day}/{month}/{year}
Published: {day}.{month}.{year}, {hour}:{minute}
Updated {hour}:{minute} GMT, {year}
Photo: {name}
Photo by {name}. © {year} {site}
Illustration: {name}/{site}
{name} in {year}.
Image: {title} ({name})
Author: {name} | Category: {site} | {day} Comments
{name} said on {day}/{month}/{year}:
Reply
Originally posted by {name}
Source: {site}
Tags: {word}, {title}, {site}""".splitlines()

_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z]\.)? [A-Z][a-z]+\b")
_BEGINS, _ENDS, _BETWEEN = 0.6, 0.8, 0.15  # of pages whose frame stands there; of borders of paragraphs
_SHARES = (0.05, 0.1, 0.2, 0.4)  # words of the frame, at most, for each of the text
_TEASER = 30  # words


class PageFrame:
    """The frame of one page."""

    def __init__(self, trusted: TrustedTexts, random: Random) -> None:
        self._trusted, self._random = trusted, random
        self.site = " ".join(w.capitalize() for w in random.choices(trusted.common_words, k=random.randint(1, 3)))

    def menu(self) -> str:
        """An entry, or some of them in a row."""
        some = self._random.choice((1, 1, 1, 1, 2, 4, 8))
        return self._random.choice((" / ", " | ", " ", " · ", ", ")).join(self._random.choices(MENU, k=some))

    def notice(self) -> str:
        """What a site says to everybody."""
        return self._fill(self._random.choice(NOTICES))

    def byline(self) -> str:
        """The author of a text, drawing or saying, and its date."""
        return self._fill(self._random.choice(BYLINES))

    def title(self) -> str:
        """The name of another page."""
        return title_of(self._random.choice(self._trusted.some(self._random)), self._random)

    def teaser(self) -> str:
        """Another page, and how it begins."""
        begin = " ".join(self._random.choice(self._trusted.some(self._random)).split()[:_TEASER])
        between, end = self._random.choice((": ", " – ", "\n")), self._random.choice(("", "…", " Read more"))
        return f"{self.title()}{between}{begin}{end}"

    def line(self) -> str:
        """Any of these."""
        kinds: list[Callable[[], str]] = [self.menu, self.notice, self.byline, self.title, self.teaser]
        (kind,) = self._random.choices(kinds, (4, 2, 3, 2, 1))
        line = kind()
        return line.upper() if self._random.random() < 0.1 else line

    def _fill(self, template: str) -> str:
        random = self._random
        names = _NAME.findall(" ".join(self._trusted.some(random)))
        return template.format(
            site=self.site,
            name=random.choice(names) if names else self.site,
            title=self.title() if "{title}" in template else "",
            word=random.choice(self._trusted.common_words),
            hour=random.randint(0, 23),
            minute=random.randint(10, 59),
            day=random.randint(1, 28),
            month=random.randint(1, 12),
            year=random.randint(2005, 2025),
        )


def title_of(sentence: str, random: Random) -> str:
    """Some words of a sentence."""
    words = WORD.findall(sentence) or [sentence]
    begin = random.randrange(max(1, len(words) - 3))
    title = " ".join(words[begin : begin + random.randint(1, 6)])
    return title.title() if random.random() < 0.6 else title


def framed(text: MarkedText, trusted: TrustedTexts, random: Random) -> MarkedText:
    """A text with lines of a frame before it, behind it and between its paragraphs.

    None of them bears a mark: that they do not follow from the text is how pages are, not what a program did.
    """
    frame, separator = PageFrame(trusted, random), random.choice(("\n", "\n\n"))
    left = int(random.choice(_SHARES) * sum(piece.is_word for piece in text))

    def lines(most: int) -> MarkedText:
        nonlocal left
        made: MarkedText = []
        for _ in range(random.randint(1, most)):
            line = frame.line()
            left -= count_words(line)
            if left < 0:
                break
            made += [*marked(line), Piece(separator)]
        return made

    made = lines(8) if random.random() < _BEGINS else []
    for piece in text:
        made.append(piece)
        if piece.text.endswith("\n\n") and random.random() < _BETWEEN:
            made += [*lines(2), Piece("\n\n")]
    return [*made, Piece("\n\n"), *lines(15)] if random.random() < _ENDS else made
