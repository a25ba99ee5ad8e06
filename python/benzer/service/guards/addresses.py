"""Loopback addresses, and the address that identifies a client."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address


def is_loopback(host: str) -> bool:
    """Whether a name or address can be reached only from this machine.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org", "")]
    [True, True, True, False, False, False]
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def client_of(host: str) -> str:
    """The address that identifies a client; for IPv6 its 64-bit network, because each client has one.

    >>> [client_of(host) for host in ("192.0.2.7", "2001:db8::1:7", "2001:db8::2:7", "::ffff:192.0.2.7", "")]
    ['192.0.2.7', '2001:db8::/64', '2001:db8::/64', '192.0.2.7', '']
    """
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address.packed, 64), strict=False))
