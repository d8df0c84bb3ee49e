"""No test depends on how fast the machine is: examples have no deadline. None reaches beyond this machine."""

from __future__ import annotations

import ipaddress
import sys

from hypothesis import settings

settings.register_profile("unhurried", settings.get_profile(settings.get_current_profile_name()), deadline=None)
settings.load_profile("unhurried")


class NetworkRefusedError(Exception):
    """A test tried to reach another machine. No OSError: code under test may wait and try again after one."""


def refuse_other_machines(event: str, arguments: tuple[object, ...]) -> None:
    """Of this process, threads included; programs that a test starts, and look-ups of names, are not looked at."""
    if event not in ("socket.connect", "socket.sendto"):
        return
    address = arguments[1]
    # Other families, such as the sockets of a folder, stay on this machine.
    if isinstance(address, tuple) and isinstance(address[0], str) and not is_loopback(address[0]):
        raise NetworkRefusedError(f"tests reach no other machine; this one tried {address[0]}")


def is_loopback(host: str) -> bool:
    try:
        # The unspecified address leads to this machine too.
        return host == "localhost" or (ip := ipaddress.ip_address(host)).is_loopback or ip.is_unspecified
    except ValueError:
        return False


sys.addaudithook(refuse_other_machines)
