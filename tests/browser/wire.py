"""All bytes between a browser and the service: a relay that keeps both directions and changes one thing."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field

_CHUNK = 65_536
# Nothing may come packed, or it could not be read here. The same length, so that nothing else changes.
_ASKS_FOR_PACKED, _ASKS_FOR_NOTHING = b"\r\nAccept-Encoding:", b"\r\nX-Packed-Was-Not:"


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection of the browser: what it sent and what it got, to the last byte."""

    sent: bytearray = field(default_factory=bytearray, repr=False)
    got: bytearray = field(default_factory=bytearray, repr=False)


class Wire:
    """Listens on a port of its own and passes everything on to `upstream`, the port of the service as it is now.

    While `upstream` is None, connections are refused, and those that are open are cut. While `is_holding`, what the
    browser sends waits.
    """

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.connections: list[Connection] = []
        self.is_holding = False
        self._upstream: int | None = None
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def lead_to(self, upstream: int | None) -> None:
        self._upstream = upstream
        if upstream is None:
            for each in list(self._open):
                _close(each)

    def forget(self) -> None:
        """Passes over all that has travelled until now."""
        for each in self.connections:
            each.sent.clear()
            each.got.clear()

    @property
    def sent(self) -> bytes:
        return b"\n".join(bytes(each.sent) for each in self.connections)

    @property
    def got(self) -> bytes:
        return b"\n".join(bytes(each.got) for each in self.connections)

    def close(self) -> None:
        self.lead_to(None)
        _close(self._listening)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                browser, _ = self._listening.accept()
                threading.Thread(target=self._relay, args=(browser,), daemon=True).start()

    def _relay(self, browser: socket.socket) -> None:
        try:
            if self._upstream is None:
                raise ConnectionRefusedError
            service = socket.create_connection(("127.0.0.1", self._upstream))
        except OSError:
            _close(browser)
            return
        kept = Connection()
        self.connections.append(kept)
        self._open |= {browser, service}
        back = threading.Thread(target=_pass_on, args=(service, browser, kept.got), daemon=True)
        back.start()
        self._send_on(browser, service, kept.sent)
        back.join()
        self._open -= {browser, service}

    def _send_on(self, browser: socket.socket, service: socket.socket, kept: bytearray) -> None:
        """Until one side ends."""
        with contextlib.suppress(OSError):
            while data := browser.recv(_CHUNK):
                data = data.replace(_ASKS_FOR_PACKED, _ASKS_FOR_NOTHING)
                kept += data
                while self.is_holding:
                    time.sleep(0.02)
                service.sendall(data)
        _close(browser)
        _close(service)


def _pass_on(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
    """Until one side ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            kept += data
            sink.sendall(data)
    _close(source)
    _close(sink)


def _close(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
