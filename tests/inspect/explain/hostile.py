"""A page that tries to get out of the file that shows it, and what to read such a file with."""

from __future__ import annotations

from html.parser import HTMLParser

URL = "http://evil.example/</title><script>x()</script>?q=\"'&lt;"
PAGE = """<!doctype html><html lang='"><script>x()</script>'>
<head><title></title></style><script>x()</script></title><base href="http://evil.example/">
<meta property="og:image" content='"><img src=http://evil.example/beacon.gif>'></head><body>
<article><h1>How &lt;script&gt;x()&lt;/script&gt; &lt;/style&gt; and "quotes" 'were' found &#x202e;gpj.exe</h1>
<p>It was a quiet morning, and &lt;img src=http://evil.example/a.gif onerror=x()&gt; nobody in the village had expected
that the river, slow in summer, would take the bridge, the mill and the road, &lt;/p&gt;&lt;/div&gt;
as the miller told us &lt;/script&gt;&lt;/style&gt;&lt;/template&gt;&lt;/details&gt; the next day.</p>
<figure><img src='http://evil.example/"onerror="x().jpg'
alt='"&gt;&lt;script&gt;x()&lt;/script&gt;' width=600 height=400>
<figcaption>${style} $script and {{ 7 * 7 }} are what they are, said the man who took the picture.</figcaption></figure>
<p>Two days later, and this is what people still tell each other, the water went back, the fields were grey, and on
the wall of the church there was a line that was higher than a man, with &lt;b onclick=x()&gt;a date&lt;/b&gt;
beside it.</p>
</article>
<script>x("</details>")</script><style>@import url(http://evil.example/x.css);</style>
<!-- --!><script>x()</script>
</body></html>"""


class Elements(HTMLParser):
    """The elements of a file with their attributes, and the text in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}  # text of scripts and styles
        self.text = ""
        self._raw: str | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else None

    def handle_endtag(self, tag: str) -> None:
        self._raw = None

    def handle_data(self, data: str) -> None:
        if self._raw:
            self.inside.setdefault(self._raw, []).append(data)
        else:
            self.text += data
