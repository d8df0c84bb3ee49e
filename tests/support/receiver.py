"""A receiver of webhooks on this machine, which keeps what it is posted and replies as it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Receiver:
    """`posts`: headers (in lower case) and body of each post. `status`: the reply to the next ones."""

    url: str = ""
    status: int = 204
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def wait_for(self, posts: int) -> None:
        for _ in range(1_000):
            if len(self.posts) >= posts:
                return
            time.sleep(0.01)
        raise AssertionError(f"{len(self.posts)} posts came")


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.posts.append(({key.lower(): value for key, value in self.headers.items()}, body))
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, *_told: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/alarms"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
