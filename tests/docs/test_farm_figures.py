"""What the pages say that the farm detector finds: the farms of strangers come first, those that it learned last."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_and_the_table_lead_with_farms_of_strangers_and_agree() -> None:
    table = (DOCS / "figures.md").read_text(encoding="utf-8").partition("## Generated text")[2]
    rows = re.findall(r"^\| ([^|]+?) \([\d,]+\) \| (0\.\d+)", table, re.M)
    assert [kind.split()[0] for kind, _ in rows] == ["other", "language", "kinds"]
    page = (DOCS / "content_farms.md").read_text(encoding="utf-8").partition("**What to expect:**")[2]
    strangers, models, learned = (float(share) for _, share in rows)
    told = re.findall(r"(\d+) % of", page.partition("\n\n")[0])
    assert told == [f"{share:.0%}"[:-1] for share in (strangers, models, learned)]
