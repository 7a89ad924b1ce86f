"""What a list of millions of domains costs: time per look-up and memory, side by side with other ways to hold it.

    python benchmarks/blocklists.py [--entries N] [--lookups N] [--only NAME]

Each way runs in a process of its own, so that memory is its alone: `table` is what the pipeline uses, `trie` is
marisa-trie (LOUDS, succinct), `set` a Python set of the names. Half of the look-ups are of names on the list. `host` is
the whole question of whether a host is blocked, with the domains above it; `url` a page's URL, taken apart first.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

WAYS = ("table", "trie", "set")
TOPS = ("com", "net", "org", "de", "ru", "co.uk", "fr", "info", "xyz", "com.br")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"


def names(count: int, seed: int = 1) -> Iterator[str]:
    """Made-up domains, one in four of them below another."""
    dice = random.Random(seed)
    for number in range(count):
        label = "".join(dice.choices(LETTERS[:26], k=dice.randint(4, 12)))
        below = f"{dice.choice(('www', 'blog', 'shop', 'm'))}." if number % 4 == 0 else ""
        yield f"{below}{label}{number % 997}.{dice.choice(TOPS)}"


def written(count: int, path: Path) -> None:
    """A list of so many domains."""
    with path.open("w") as file:
        file.writelines(f"{name}\n" for name in names(count))


def megabytes() -> float:
    """The most this process has held in memory, mapped files counted."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def nanoseconds(work: Callable[[str], object], values: list[str]) -> str:
    """Median and best time of a call over rounds, CPU time."""
    rounds = []
    for _ in range(7):
        begin = time.process_time()
        for value in values:
            work(value)
        rounds.append((time.process_time() - begin) / len(values) * 1e9)
    return f"{statistics.median(rounds):6.0f} ns (best {min(rounds):.0f})"


def measure(way: str, path: Path, lookups: int, entries: int) -> None:
    """One way, in this process."""
    dice = random.Random(2)
    every = max(1, entries // (lookups // 2))
    wanted = [name for number, name in enumerate(names(entries)) if number % every == 0][: lookups // 2]
    wanted += [f"not-there-{number}.example" for number in range(lookups // 2)]
    dice.shuffle(wanted)
    before = megabytes()
    begin = time.process_time()
    if way == "table":
        from obelics_pipeline.blocklists.lists import Blocklists, blocks_host, build
        from obelics_pipeline.blocklists.source import Source
        from obelics_pipeline.lists.table import Table

        file = path.with_suffix(".table")
        if not file.exists():
            build(Source(path), file, str(path))
            print(
                f"table: built in {time.process_time() - begin:.1f} s, {file.stat().st_size / 2**20:.0f} MB on disk; "
                f"at most {megabytes():.0f} MB while it was built"
            )
            return
        table = Table(file)
        opened = time.process_time() - begin
        contains: Callable[[str], object] = table.__contains__
    elif way == "trie":
        import marisa_trie

        trie = marisa_trie.Trie(path.read_text().split())
        opened, contains = time.process_time() - begin, trie.__contains__
    else:
        held = set(path.read_text().split())
        opened, contains = time.process_time() - begin, held.__contains__
    print(
        f"{way:6} look-up {nanoseconds(contains, wanted)}; ready in {opened:.2f} s; "
        f"memory {megabytes() - before:.0f} MB "
        f"(the process {megabytes():.0f} MB)"
    )
    if way == "table":
        lists = Blocklists([("made", table, ["pages"])])
        hosts = [f"www.{name}" for name in wanted]
        print(f"       host    {nanoseconds(lambda host: blocks_host(table, host), hosts)}")
        urls = [f"https://{host}/a/b.html?c=d" for host in hosts]
        print(f"       url     {nanoseconds(lambda url: lists.reason(url, 'pages'), urls)}")


def main() -> None:
    """Write the list, start a process for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=5_000_000)
    parser.add_argument("--lookups", type=int, default=200_000)
    parser.add_argument("--only", choices=WAYS)
    parser.add_argument("--in-folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_folder:
        measure(options.only, Path(options.in_folder) / "domains", options.lookups, options.entries)
        return
    with tempfile.TemporaryDirectory() as folder:
        written(options.entries, Path(folder) / "domains")
        print(f"{options.entries:,} domains, {(Path(folder) / 'domains').stat().st_size / 2**20:.0f} MB")
        for way in (options.only,) if options.only else WAYS:
            for _ in range(2 if way == "table" else 1):  # built in one process, opened in another
                subprocess.run(
                    [sys.executable, __file__, "--in-folder", folder, "--only", way, "--entries", str(options.entries),
                     "--lookups", str(options.lookups)],
                    check=True, env=dict(os.environ),
                )  # fmt: skip


if __name__ == "__main__":
    main()
