"""Made sites are the same for a seed, and the weights that are fitted on evidence tell farms from honest sites."""

import random

import numpy as np

from benchmarks.made_sites import PAGES, SITES, Texts, doorway, dream, farms, honest, html_of, record
from benchmarks.site_verdict import features, fit


def texts(seed: int, number: int = 4500) -> Texts:
    dice = random.Random(seed)
    words = [f"{dice.choice('bcdfg')}{dice.choice('aeiou')}{n}ing" for n in range(500)]
    made = [" ".join(" ".join(dice.choices(words, k=15)) + "." for _ in range(14)) for _ in range(number)]
    return Texts(made, dice)


def test_every_family_has_its_sites_and_a_seed_gives_the_same_again() -> None:
    sites, again = ([*farms(made), *honest(made)] for made in (texts(1), texts(1)))
    assert sites == again
    assert sum(site.is_farm for site in sites) == 6 * SITES + 3 * SITES + 2 * SITES + 2
    assert len({site.host for site in sites}) == len(sites)
    assert {len(site.pages) for site in sites if site.family in ("doorway", "stitched", "author")} == {PAGES}


def test_pages_of_a_farm_differ() -> None:
    for make in (doorway, dream):
        pages = make(texts(2))
        assert len({str(page) for page in pages}) == PAGES


def test_a_page_is_a_record_of_a_warc_file() -> None:
    import gzip

    told = gzip.decompress(record("https://a.example/1", html_of(["One & two."]))).decode()
    assert "WARC-Target-URI: https://a.example/1\r\n" in told
    assert "<p>One &amp; two.</p>" in told


def test_the_weights_of_what_tells_farms_are_positive_and_of_what_does_not_none() -> None:
    names = ("borrowed_share", "skeleton_share", "skeleton_share_elsewhere")
    dice = np.random.default_rng(3)

    def page(label: int) -> dict[str, object]:
        shares = dict.fromkeys(names, 0.0) | {"skeleton_share": 0.9 if label else 0.1}
        return {
            "label": label,
            "site_documents": 30.0,
            "farm_score_in_site": float(dice.random()),
            "site_farm_score_mean": 0.2,
            **shares,
            **{f"site_{name}": share for name, share in shares.items()},
        }

    pages = [page(n % 2) for n in range(200)]
    odds, mean, borrowed, skeleton, elsewhere, nothing = fit(features(pages), np.array([p["label"] for p in pages]))
    assert skeleton > 5
    assert nothing < -2
    assert (mean, borrowed, elsewhere) == (0, 0, 0)
    assert odds < 1
