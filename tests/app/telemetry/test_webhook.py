"""The webhook: signed as Standard Webhooks says, tried again, and never in anybody's way."""

from __future__ import annotations

import base64
import datetime as dt
import io
import json

from app.telemetry.webhook import MAX_WAITING, AlarmWebhook, signed
from tests.support.receiver import receiving
from tests.support.service import logging_to

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
AT = dt.datetime(2031, 5, 7, 12, tzinfo=dt.UTC)


def test_the_signature_is_the_one_of_the_specification() -> None:
    # Made by the package `standardwebhooks` 1.1.0 for this secret, id, time and body.
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = signed(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_post_is_tried_again_until_it_is_taken() -> None:
    with receiving() as receiver:
        receiver.status = 503
        webhook = AlarmWebhook(receiver.url, SECRET)
        webhook.post("one", AT, {"type": "alarm", "count": 3})
        receiver.wait_for(1)
        receiver.status = 204
        webhook.close()
    bodies = [json.loads(body) for _headers, body in receiver.posts]
    assert 2 <= len(bodies) <= 3
    assert bodies[-1] == {"type": "alarm", "count": 3, "id": "one", "at": "2031-05-07T12:00:00+00:00"}


def test_who_does_not_listen_holds_nobody_up_and_is_told_in_the_log(no_waiting: None) -> None:
    with logging_to(io.StringIO()) as log:
        webhook = AlarmWebhook("http://127.0.0.1:9/", SECRET)
        for number in range(MAX_WAITING + 50):
            webhook.post(f"n{number}", AT, {"type": "alarm"})
        webhook.close()
        told = [json.loads(line) for line in log.getvalue().splitlines()]
    lost = {each["error"] for each in told if each["event"] == "alarm_not_sent"}
    assert {"too many wait", "ConnectError"} <= lost
