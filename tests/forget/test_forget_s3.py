"""What is forgotten in a bucket is forgotten as on a disk, object by object."""

import shutil
from pathlib import Path

import pytest
from upath import UPath

from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import finish, obelics, objects
from tests.faults.runs import tree
from tests.forget.victims import victims


@pytest.mark.slow
def test_a_bucket_ends_as_the_disk_does(s3: str, run_of_demo: Path, tmp_path: Path) -> None:
    where = new_bucket("forgetting") / "run"
    exports = shutil.ignore_patterns("exports")  # whereto other tests exported it
    here = Path(shutil.copytree(run_of_demo, tmp_path / "run", ignore=exports))
    for path in sorted(here.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            where.fs.put_file(str(path), f"{where.path}/{path.relative_to(here)}")
    one, two, *_ = victims(run_of_demo)
    (tmp_path / "urls").write_text(f"{one.url}\n{two.image.src}\n")
    (tmp_path / "key").write_text("cd" * 32 + "\n")
    arguments = ["--urls", str(tmp_path / "urls"), "--key", str(tmp_path / "key")]
    for folder in (here, where):
        code, printed = finish(obelics("forget", folder, *arguments))
        assert code == 0, printed
    there = objects(UPath(where))
    assert there == tree(here)
    code, printed = finish(obelics("validate", where))
    assert code == 0, printed
