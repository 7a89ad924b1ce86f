"""Print the test files and folders that mirror what changed since main, one a line; nothing when nothing did.

What changed: the differences between the merge base with `main` (or the branch that the first argument names) and the
working tree, and files that git does not know yet. docs/development.md tells which tests mirror which file.
"""

import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "obelics_pipeline"
PACKAGED = ("filters", "models", "beam_jobs", "configs")  # beside the package, linked into it
OF_CONFIGS = "tests/core/config"
OF_BUILDS = "tests/packaging/test_dependencies.py"
BUILDS = ("setup.py", "pyproject.toml", "constraints.txt", "Makefile", "docs/dependencies.md")


def changed_files(branch: str) -> list[str]:
    """Paths from the root of the repository, with `/`, deleted files too.

    Raises:
        subprocess.CalledProcessError: git does not know the branch.
    """
    base = _git("merge-base", "HEAD", branch)[0]
    return sorted({*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")})


def mirror_of(path: str) -> str | None:
    """The test file or folder that mirrors a file; None where no test mirrors it."""
    if path in BUILDS:
        return OF_BUILDS
    parts = PurePosixPath(path).parts
    if parts[0] == "configs":
        return OF_CONFIGS
    if parts[0] == "tests":
        return _of_test(PurePosixPath(path))
    if parts[0] == PACKAGE:
        parts = parts[1:]
    elif parts[0] not in (*PACKAGED, "benchmarks"):
        return None
    return _mirror(PurePosixPath("tests", *parts))


def _of_test(path: PurePosixPath) -> str | None:
    """A test is its own; the tests beside a helper use it."""
    if path.name.startswith("test_") and path.suffix == ".py":
        return str(path) if (ROOT / path).exists() else None
    return _nearest(path.parent)


def _mirror(path: PurePosixPath) -> str | None:
    """The mirror of one file; where it has none, the folder that mirrors its package."""
    test = path.with_name(f"test_{path.stem}.py")
    return str(test) if (ROOT / test).exists() else _nearest(path.parent)


def _nearest(folder: PurePosixPath) -> str | None:
    """The folder, or the first above it that exists; all tests at once are for `make test`."""
    while len(folder.parts) > 1:
        if (ROOT / folder).is_dir():
            return str(folder)
        folder = folder.parent
    return None


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def main() -> None:
    branch = sys.argv[1] if len(sys.argv) > 1 else "main"
    found = {tests for path in changed_files(branch) if (tests := mirror_of(path))}
    inside = {tests for tests in found if any(str(above) in found for above in PurePosixPath(tests).parents)}
    print(*sorted(found - inside), sep="\n", end="\n" if found else "")


if __name__ == "__main__":
    main()
