"""The frame of pages without the page: menus, notices and teasers, as scrapers take them for text."""

from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import WORD, MarkedText, Piece, count_words, marked
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

SEPARATORS = ("\n", "\n", "\n\n", " | ", " ", " › ")
PROSE = (0.0, 0.05, 0.15)  # share of whole sentences between

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


def boilerplate(trusted: TrustedTexts, random: Random) -> MarkedText:
    """Lines of menus, notices and titles, many of them again and again."""
    prose = trusted.some(random)
    titles = [_title(random.choice(prose), random) for _ in range(random.randint(3, 20))]
    site = " ".join(word.capitalize() for word in random.choices(trusted.common_words, k=random.randint(1, 3)))
    separator, share, again = random.choice(SEPARATORS), random.choice(PROSE), random.random() / 4
    lines: list[str] = []
    words = random.choice(LENGTHS)
    while words > 0:
        kind = random.random()
        if lines and kind < again:
            line = random.choice(lines)
        elif kind < 0.45:
            line = random.choice(MENU)
        elif kind < 0.7:
            line = _notice(site, random)
        else:
            line = random.choice(titles if kind < 1 - share else prose)
        lines.append(line.upper() if random.random() < 0.1 else line)
        words -= max(1, count_words(line))
    made: MarkedText = []
    for line in lines:
        made += [Piece(separator)] if made else []
        made += marked(line)
    return made


def _notice(site: str, random: Random) -> str:
    return random.choice(NOTICES).format(
        site=site, day=random.randint(1, 28), month=random.randint(1, 12), year=random.randint(2005, 2025)
    )


def _title(sentence: str, random: Random) -> str:
    words = WORD.findall(sentence) or [sentence]
    begin = random.randrange(max(1, len(words) - 3))
    title = " ".join(words[begin : begin + random.randint(1, 6)])
    return title.title() if random.random() < 0.6 else title
