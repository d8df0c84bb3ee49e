"""Posts to addresses of the owner in the background; alarms are signed as the Standard Webhooks specification says."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import json
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Generic, TypeVar

import httpx2
import stamina

from app.telemetry.logs import event_log

TIMEOUT_S: Final = 5.0
MAX_WAITING: Final = 100
"""The most alarms that wait to be sent; further ones are in the access record only. Chosen by hand."""
_TRIES: Final = 3
_CLOSE_S: Final = 10.0
log = event_log("webhook")
T = TypeVar("T")
Written = tuple[bytes, Mapping[str, str]]
"""The body of a post of JSON, and headers beside its content type."""


class PostQueue(Generic[T]):
    """Posts JSON from a thread of its own, so that nobody's question waits for the receiver.

    `write` makes one post of up to `at_once` items that wait. Limit: a post is given up after _TRIES that failed, and
    items over `most` that wait are dropped; the log tells of both, as `lost`.
    """

    def __init__(
        self,
        url: str,
        write: Callable[[Sequence[T]], Written],
        lost: str,
        most: int = MAX_WAITING,
        at_once: int = 1,
        http: httpx2.Client | None = None,
    ) -> None:
        self._url, self._write, self._lost, self._at_once = url, write, lost, at_once
        self._http = http or httpx2.Client(timeout=TIMEOUT_S, follow_redirects=False)
        self._waiting: queue.Queue[T | None] = queue.Queue(most)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def put(self, item: T) -> None:
        """Hands an item to the thread, and returns at once. If too many wait, it is told in the log instead."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="posts", daemon=True)
                self._thread.start()
        try:
            self._waiting.put_nowait(item)
        except queue.Full:
            log.error(self._lost, count=1, error="too many wait")

    def close(self) -> None:
        """Waits a few seconds until what is waiting is sent; what is left then is told in the log."""
        if self._thread is not None:
            with suppress(queue.Full):
                self._waiting.put(None, timeout=_CLOSE_S)
            self._thread.join(_CLOSE_S)
        if left := len(self._taken(self._waiting.maxsize)):
            log.error(self._lost, count=left, error="the service stops")
        with suppress(queue.Full):
            self._waiting.put_nowait(None)  # The thread ends, should it still try.
        self._http.close()

    def _taken(self, most: int) -> list[T]:
        """Takes up to `most` waiting items out of the queue, none behind the mark of its end, which stays."""
        items: list[T] = []
        with suppress(queue.Empty):
            while len(items) < most:
                item = self._waiting.get_nowait()
                if item is None:
                    self._waiting.put_nowait(None)
                    break
                items.append(item)
        return items

    def _send_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            items = [item, *self._taken(self._at_once - 1)]
            try:
                body, headers = self._write(items)
                tries = stamina.retry_context(httpx2.HTTPError, attempts=_TRIES, timeout=None, wait_max=TIMEOUT_S)
                for attempt in tries:
                    with attempt:
                        sent = {"content-type": "application/json", **headers}
                        self._http.post(self._url, content=body, headers=sent).raise_for_status()
            except Exception as error:
                log.error(self._lost, count=len(items), error=type(error).__name__)


class AlarmWebhook:
    """Posts alarms. Promise: a post holds what it is given and nothing else; its signature shows the receiver that
    this service sent it, and when. Condition: only the receiver knows the secret. Limit: as that of `PostQueue`; the
    access record has every alarm.
    """

    def __init__(self, url: str, secret: str, http: httpx2.Client | None = None) -> None:
        self._key = base64.b64decode(secret.removeprefix("whsec_"))
        self._posts: PostQueue[tuple[str, int, bytes]] = PostQueue(url, self._signed, "alarm_not_sent", http=http)

    def post(self, id: str, at: dt.datetime, told: Mapping[str, str | int]) -> None:
        """Hands an alarm to the thread, and returns at once."""
        body = json.dumps({**told, "id": id, "at": at.isoformat()}, sort_keys=True).encode()
        self._posts.put((id, int(at.timestamp()), body))

    def close(self) -> None:
        """Waits a few seconds until what is waiting is sent; what is left then is told in the log."""
        self._posts.close()

    def _signed(self, items: Sequence[tuple[str, int, bytes]]) -> Written:
        ((id, at, body),) = items
        return body, signed(self._key, id, at, body)


def signed(key: bytes, id: str, at: int, body: bytes) -> dict[str, str]:
    """Returns the headers of Standard Webhooks: id, time in seconds, and an HMAC-SHA256 over both and the body."""
    mac = hmac.digest(key, f"{id}.{at}.".encode() + body, "sha256")
    signature = "v1," + base64.b64encode(mac).decode()
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": signature}
