"""What a person may write into the fetch section, and what is refused in words."""

import pytest
from pydantic import ValidationError

from obelics_pipeline.core.config.fetching import FetchingConfig


@pytest.mark.parametrize(
    "entry", ["127.0.0.1", "127.0.0.0/8", "::1", "[::1]", "localhost:8080", "[::1]:80", "demo.example:81"]
)
def test_networks_and_places_can_be_allowed(entry: str) -> None:
    assert FetchingConfig(allow_private=(entry,)).allow_private == (entry,)


@pytest.mark.parametrize(
    "entry", ["", "localhost", "10.0.0.0/99", "localhost:", "localhost:http", "http://localhost:80"]
)
def test_what_would_allow_nothing_is_refused(entry: str) -> None:
    with pytest.raises(ValidationError, match="neither a network"):
        FetchingConfig(allow_private=(entry,))


@pytest.mark.parametrize("value", ["", "  ", "a\r\nX: y", "é"])
def test_a_user_agent_fits_into_a_header(value: str) -> None:
    with pytest.raises(ValidationError, match="printable ASCII"):
        FetchingConfig(user_agent=value)


@pytest.mark.parametrize("ports", [(), (0,), (65536,), ("http",)])
def test_a_port_is_a_number_that_a_server_can_have(ports: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError, match="ports"):
        FetchingConfig(ports=ports)


def test_pixels_stay_below_the_image_librarys_own_guard() -> None:
    with pytest.raises(ValidationError):
        FetchingConfig(max_pixels=178_956_971)


def test_every_key_says_what_it_is() -> None:
    assert all(field.description for field in FetchingConfig.model_fields.values())
