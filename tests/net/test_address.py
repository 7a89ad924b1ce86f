"""The predicate covers every network that is not the public internet, in every disguise."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.net.address import AllowList, is_public

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "198.20.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
]
PRIVATE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1",
    "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
    "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "::808:808", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1",
    "ff0e::1", "100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:db8::1", "3fff::1", "5f00::1", "64:ff9b:1::1",
    "2001:0:7f00:1::1", "4000::1",
]  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are_public(text: str) -> None:
    assert is_public(text)


@pytest.mark.parametrize("text", PRIVATE)
def test_everything_else_is_not(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize("text", [p for p in PUBLIC + PRIVATE if ":" not in p])
def test_an_ipv4_address_in_a_disguise_is_what_it_is_inside(text: str) -> None:
    inner = int(IPv4Address(text))
    mapped, nat64, six_to_four = 0xFFFF << 32 | inner, 0x64FF9B << 96 | inner, 0x2002 << 112 | inner << 80 | 1
    for disguise in (mapped, nat64, six_to_four):
        assert is_public(IPv6Address(disguise)) == is_public(text)


@given(st.ip_addresses())
def test_nothing_is_public_that_the_standard_library_calls_special(address: IPv4Address | IPv6Address) -> None:
    special = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    disguised = isinstance(address, IPv6Address) and (address.ipv4_mapped or address.sixtofour)
    if special and not disguised:
        assert not is_public(address)


def test_the_allow_list_permits_what_it_names_and_nothing_beside() -> None:
    allow = AllowList(["127.0.0.0/30", "127.0.0.9:8080", "Demo.Example:81", "[::1]:82", "fd00::/64"])
    assert allow.permits("x.example", ip_address("127.0.0.3"), 1)
    assert not allow.permits("x.example", ip_address("127.0.0.4"), 1)
    assert allow.permits("x.example", ip_address("127.0.0.9"), 8080)
    assert not allow.permits("x.example", ip_address("127.0.0.9"), 8081)
    assert allow.permits("demo.example", ip_address("10.0.0.1"), 81)
    assert allow.permits("::1", ip_address("::1"), 82)
    assert not allow.permits("::1", ip_address("::1"), 83)
    assert allow.permits("x.example", ip_address("fd00::5"), 443)


@pytest.mark.parametrize("entry", ["", "localhost", "localhost:", "localhost:0", "a:70000", "10.0.0.0/99", "a/b:80"])
def test_an_entry_that_cannot_be_read_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="neither a network"):
        AllowList([entry])
