"""The report names the sites that fell, how many of their pages, and passages that these share."""

from pathlib import Path

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.report.command import report_html
from obelics_pipeline.inspect.report.opened import Opened
from obelics_pipeline.inspect.report.sites import fallen_sites
from obelics_pipeline.inspect.run_tables.documents import document_table
from tests.stages.site.farms import Corpus, config_of, judge, neighbours
from tests.stages.site.test_shares import BOUND, doorways


def opened(folder: Path, corpus: Corpus) -> Opened:
    config = config_of(**BOUND)
    judge(corpus, folder, config)
    run = RunFolder(folder)
    return Opened(str(folder), run, "default", None, config, {}, None, False, [], [], document_table(run))


def test_a_site_that_fell_is_shown_with_what_its_pages_share(tmp_path: Path) -> None:
    corpus = Corpus(1)
    neighbours(corpus)
    farm = {page.doc_id for page in doorways(corpus)}
    run = opened(tmp_path, corpus)
    [site] = fallen_sites(run)
    assert (site.site, site.dropped, site.pages) == ("doorway.example", 8, 8)
    assert site.doc_id in farm
    assert dict(zip(run.config.site.columns, site.values, strict=True))["site_skeleton_share"] == 1
    assert {(passage.what, passage.pages) for passage in site.shared} == {("skeleton", 8)}
    html = report_html(run)
    assert "doorway.example: 8 of 8 pages" in html
    assert site.shared[0].text in html


def test_where_no_site_fell_there_is_no_such_section(tmp_path: Path) -> None:
    corpus = Corpus(2)
    neighbours(corpus)
    run = opened(tmp_path, corpus)
    assert fallen_sites(run) == []
    assert "Sites that fell" not in report_html(run)
