"""A fake of Vault's engine `transit` on loopback: the documented requests and replies, and nothing else of Vault."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

TOKEN = "hvs.of-the-tests-alone"


@dataclass(slots=True)
class FakeVault:
    """Keys of the type aes256-gcm96, each with its versions. `status`: the only answer, if it is set."""

    keys: dict[str, list[bytes]] = field(default_factory=lambda: {"arog": [os.urandom(32)], "other": [os.urandom(32)]})
    status: int | None = None
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    url: str = ""

    def rotate(self, key: str) -> None:
        self.keys[key].append(os.urandom(32))

    def kms(self, key: str = "arog") -> str:
        """The value of AROG_KMS for a key."""
        return f"vault:{self.url}/transit/{key}"

    def reply(self, path: str, token: str | None, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append((path, body))
        if self.status is not None:
            return self.status, {"errors": ["Vault is sealed"]}
        if token != TOKEN:
            return 403, {"errors": ["permission denied"]}
        verb, key = path.removeprefix("/v1/transit/").split("/")
        if key not in self.keys:
            return 404, {"errors": []} if verb == "encrypt" else {"errors": ["encryption key not found"]}
        bound = base64.b64decode(body.get("associated_data", ""))
        versions = self.keys[key]
        if verb == "encrypt":
            nonce, plain = os.urandom(12), base64.b64decode(body["plaintext"])
            sealed = nonce + AESGCM(versions[-1]).encrypt(nonce, plain, bound)
            return 200, {"data": {"ciphertext": f"vault:v{len(versions)}:{base64.b64encode(sealed).decode()}"}}
        try:
            _, version, text = body["ciphertext"].split(":")
            sealed = base64.b64decode(text)
            plain = AESGCM(versions[int(version[1:]) - 1]).decrypt(sealed[:12], sealed[12:], bound)
        except (InvalidTag, ValueError, IndexError):
            return 400, {"errors": ["cipher: message authentication failed"]}
        return 200, {"data": {"plaintext": base64.b64encode(plain).decode()}}


@contextmanager
def fake_vault() -> Iterator[FakeVault]:
    vault = FakeVault()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = vault.reply(self.path, self.headers.get("X-Vault-Token"), body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_arguments: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    vault.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield vault
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
