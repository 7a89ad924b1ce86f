"""Names that resolve to what a test says, and a certificate of loopback."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.net.keeping import Answers


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Look-ups are answered from this list, one entry each; what is left over was not looked up."""
    answers: Answers = []

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(0, 0, 0, "", (address, port)) for address in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers


@pytest.fixture(scope="package")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
    command += " -keyout key -out pem"
    subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    return folder
