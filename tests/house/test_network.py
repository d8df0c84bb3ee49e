"""Tests talk to this machine alone."""

from __future__ import annotations

import socket

import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "8.8.8.8", "2001:db8::1"])
def test_another_machine_is_refused(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as other, pytest.raises(Exception, match="tests reach no other machine"):
        other.connect((address, 80))


def test_this_machine_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as other:
        assert other.getpeername() == server.getsockname()
