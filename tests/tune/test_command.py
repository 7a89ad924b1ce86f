"""The command tells the page's address, serves it at once, and ends well when it is stopped."""

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def test_it_is_served_until_it_is_stopped(sampled_run: Path) -> None:
    command = [sys.executable, "-m", "obelics_pipeline", "tune", str(sampled_run), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as served:
        assert served.stdout is not None
        address = next(
            found[0] for line in served.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/\S+/", line))
        )
        with NO_PROXY.open(address, timeout=60) as page:
            assert b"obelics tune" in page.read()
        served.send_signal(signal.SIGINT)
        rest = served.stdout.read()
        assert served.wait(60) == 0, rest
        assert "Traceback" not in rest
