"""The page's server answers this machine, those who know the token, and in one line what is wrong."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from obelics_pipeline.cli.main import main
from obelics_pipeline.inspect.tune.command import _listening
from obelics_pipeline.inspect.tune.server import application
from obelics_pipeline.inspect.tune.workbench import Workbench

TOKEN = "a-token"


@pytest.fixture(scope="module")
def client(sampled_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("served") / "run"
    shutil.copytree(sampled_run, folder)
    with TestClient(application(Workbench(folder, 1), TOKEN), base_url="http://127.0.0.1") as found:
        yield found


def test_the_page_and_its_answers_are_behind_the_token(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/").status_code == 200
    assert client.post(f"/{TOKEN}/api/about").json()["answer"]["documents"] > 0
    for path in ("/", "/api/about", "/other/", "/other/api/about"):
        assert client.get(path).status_code == client.post(path).status_code == 404


def test_another_host_name_gets_nothing(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    "asked",
    [
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_a_page_of_another_origin_gets_nothing_though_it_knew_the_token(
    client: TestClient, asked: dict[str, str]
) -> None:
    for answer in (client.post(f"/{TOKEN}/api/about", headers=asked), client.get(f"/{TOKEN}/image/x", headers=asked)):
        assert answer.status_code == 403
        assert answer.json() == {"error": "asked by a page of another origin"}


def test_the_page_itself_and_who_is_led_to_it_are_answered(client: TestClient) -> None:
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert client.post(f"/{TOKEN}/api/about", headers=own).status_code == 200
    led = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get(f"/{TOKEN}/", headers=led).status_code == 200
    assert client.post(f"/{TOKEN}/api/about", headers=led).status_code == 403


def test_every_answer_forbids_what_a_page_could_do_with_it(client: TestClient) -> None:
    for path in (f"/{TOKEN}/", f"/{TOKEN}/image/x", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_an_image_is_served_as_what_its_bytes_are(client: TestClient) -> None:
    dropped = client.post(f"/{TOKEN}/api/listed", json={"settings": {}, "reason": "farm_score"}).json()["answer"][0]
    found = client.post(f"/{TOKEN}/api/document", json={"doc_id": dropped["doc_id"]}).json()["answer"]
    sha256 = next(node["sha256"] for node in found["nodes"] if node["kind"] == "image")
    assert client.get(f"/{TOKEN}/image/{sha256}").headers["content-type"] in ("image/jpeg", "image/png", "image/webp")
    assert client.get(f"/{TOKEN}/image/{'0' * 64}").status_code == 404
    assert client.get(f"/{TOKEN}/image/..%2f..%2fconfig.yaml").status_code == 404


@pytest.mark.parametrize(
    ("name", "body", "status", "line"),
    [
        ("estimate", '{"settings": {"images.min_side": "wide"}}', 400, "images.min_side"),
        ("estimate", "{", 400, "not JSON"),
        ("estimate", "[]", 400, "a JSON object"),
        ("estimate", "[" * 100_000, 400, "nested too deep"),
        ("estimate", "{}", 400, "settings: Missing required argument"),
        ("histogram", '{"level": "document", "name": 3}', 400, "name"),
        ("config", '{"settings": {}}', 404, "no such question; there are about, levels, estimate"),
        ("__init__", "{}", 404, "no such question"),
        ("estimate", '{"settings": {"x": "' + "y" * 1_000_000 + '"}}', 400, "at most 1000000 bytes"),
    ],
)
def test_a_wrong_question_is_told_in_one_line(client: TestClient, name: str, body: str, status: int, line: str) -> None:
    answer = client.post(f"/{TOKEN}/api/{name}", content=body)
    assert answer.status_code == status
    assert line in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_what_is_no_run_is_told_before_anything_is_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(tmp_path / "nowhere")]) == 2
    assert "no such folder on this machine" in capsys.readouterr().err
    assert main(["tune", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_browser_that_is_told_the_address_is_not_turned_away() -> None:
    with _listening(0) as listening, socket.create_connection(listening.getsockname(), timeout=5):
        pass
