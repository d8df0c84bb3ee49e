"""AlarmWebhook: posts alarms to an address of the owner, signed as the Standard Webhooks specification says."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import json
import queue
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import httpx2
import stamina

from app.telemetry.logs import event_log

TIMEOUT_S: Final = 5.0
MAX_WAITING: Final = 100
"""The most alarms that wait to be sent; further ones are in the access record only. Chosen by hand."""
_TRIES: Final = 3
_CLOSE_S: Final = 10.0
log = event_log("webhook")


class AlarmWebhook:
    """Posts alarms from a thread of its own, so that nobody's question waits for the receiver.

    Promise: a post holds what it is given and nothing else; its signature shows the receiver that this service sent
    it, and when. Condition: only the receiver knows the secret. Limit: an alarm is given up after _TRIES posts that
    failed, and told in the log; the access record has every alarm.
    """

    def __init__(self, url: str, secret: str, http: httpx2.Client | None = None) -> None:
        self._url, self._key = url, base64.b64decode(secret.removeprefix("whsec_"))
        self._http = http or httpx2.Client(timeout=TIMEOUT_S, follow_redirects=False)
        self._waiting: queue.Queue[tuple[str, int, bytes] | None] = queue.Queue(MAX_WAITING)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def post(self, id: str, at: dt.datetime, told: Mapping[str, str | int]) -> None:
        """Hands an alarm to the thread, and returns at once. If too many wait, it is told in the log instead."""
        body = json.dumps({**told, "id": id, "at": at.isoformat()}, sort_keys=True).encode()
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="alarms", daemon=True)
                self._thread.start()
        try:
            self._waiting.put_nowait((id, int(at.timestamp()), body))
        except queue.Full:
            log.error("alarm_not_sent", id=id, error="too many wait")

    def close(self) -> None:
        """Waits a few seconds until what is waiting is sent; what is left then is told in the log."""
        if self._thread is not None:
            with suppress(queue.Full):
                self._waiting.put(None, timeout=_CLOSE_S)
            self._thread.join(_CLOSE_S)
        if left := self._drained():
            log.error("alarm_not_sent", count=left, error="the service stops")
        self._http.close()

    def _drained(self) -> int:
        """Takes everything out of the queue, so that the thread ends, and returns how many alarms that were."""
        left = 0
        with suppress(queue.Empty):
            while True:
                left += self._waiting.get_nowait() is not None
        with suppress(queue.Full):
            self._waiting.put_nowait(None)
        return left

    def _send_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            id, at, body = item
            try:
                tries = stamina.retry_context(httpx2.HTTPError, attempts=_TRIES, timeout=None, wait_max=TIMEOUT_S)
                for attempt in tries:
                    with attempt:
                        headers = {"content-type": "application/json", **signed(self._key, id, at, body)}
                        self._http.post(self._url, content=body, headers=headers).raise_for_status()
            except Exception as error:
                log.error("alarm_not_sent", id=id, error=type(error).__name__)


def signed(key: bytes, id: str, at: int, body: bytes) -> dict[str, str]:
    """Returns the headers of Standard Webhooks: id, time in seconds, and an HMAC-SHA256 over both and the body."""
    mac = hmac.digest(key, f"{id}.{at}.".encode() + body, "sha256")
    signature = "v1," + base64.b64encode(mac).decode()
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": signature}
