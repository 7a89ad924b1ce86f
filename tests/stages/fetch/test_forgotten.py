"""What was removed is not asked for, not followed to, and its bytes are not kept."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.core.config.image_safety import ImageSafetyConfig
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from tests.stages.fetch.site import Site, answer, config, picture, redirect

BANNED, GOOD = picture("PNG", (40, 30)), picture("PNG", (41, 31))


class Known:
    """Some addresses and one picture were removed."""

    def url(self, url: str) -> bool:
        return "gone" in url

    def document(self, doc_id: str) -> bool:
        return False

    def sha256(self, sha256: str) -> bool:
        return sha256 == hashlib.sha256(BANNED).hexdigest()

    def content(self, data: bytes) -> bool:
        return self.sha256(hashlib.sha256(data).hexdigest())

    def text(self, text: str) -> bool:
        return False

    def image_set(self, images: Sequence[ImageNode]) -> bool:
        return False

    def name(self, doc_id: str) -> str:
        return doc_id


def test_a_forgotten_image_never_arrives(tmp_path: Path) -> None:
    pages = {
        "/gone": answer(200, GOOD),
        "/moved": redirect("/gone"),
        "/copy": answer(200, BANNED),
        "/good": answer(200, GOOD),
    }
    with Site(pages) as site:
        urls = [site.url(path) for path in pages]
        store = ImageStore(tmp_path / "store")
        ingest = Ingest(config(site), ImageSafetyConfig(), store, forgotten=Known())
        results = fetch_bucket(urls, config(site), store, {}, tmp_path / "journal", ingest)
        asked = [request.path for request in site.log]
    outcome = {result.url.rpartition("/")[2]: (result.status, result.reason) for result in results}
    dropped = ("dropped", "forgotten")
    assert outcome == {"gone": dropped, "moved": dropped, "copy": dropped, "good": ("ok", None)}
    assert "/gone" not in asked
    assert [path.name for path in (tmp_path / "store").rglob("*") if path.is_file()] == [
        hashlib.sha256(GOOD).hexdigest()
    ]
