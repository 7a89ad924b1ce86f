"""The modules of the page fit together: what one takes from another is there, and nothing turns text into markup."""

import re
from pathlib import Path

import obelics_pipeline.inspect.tune.server as server

MODULES = {path.name: path.read_text(encoding="utf-8") for path in sorted(server.PAGE.glob("*.js"))}
EXPORT = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.M)
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";', re.M)


def test_what_is_imported_is_exported() -> None:
    assert "tune.js" in MODULES
    exported = {name: set(EXPORT.findall(text)) for name, text in MODULES.items()}
    for name, text in MODULES.items():
        for taken, source in IMPORT.findall(text):
            wanted = {part.split(" as ")[0].strip() for part in taken.split(",") if part.strip()}
            assert wanted <= exported[source], (name, source, wanted - exported[source])


def test_every_import_is_of_the_page_and_every_file_is_asked_for() -> None:
    for name, text in MODULES.items():
        lines = [line for line in text.splitlines() if line.startswith("import ")]
        assert len(lines) == len(IMPORT.findall(text)), name
    html = (server.PAGE / "index.html").read_text()
    asked = {source for text in MODULES.values() for _, source in IMPORT.findall(text)} | set(
        re.findall(r'"([\w.]+)"', html)
    )
    assert {path.name for path in Path(server.PAGE).iterdir()} - {"index.html"} <= asked


def test_nothing_turns_text_into_markup() -> None:
    for name, text in MODULES.items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            name
        )
