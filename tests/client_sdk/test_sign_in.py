"""Signing in, where the provider is slow, odd or out of reach; the walk with a real one is in tests/system."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest

from client_sdk.cli.settings import choose
from client_sdk.errors import ArogError, NotConfiguredError, RequestTimeoutError
from client_sdk.sign_in import begin, kept_token, sign_out

URL, ISSUER = "http://127.0.0.1:8000", "https://sign-in.invalid"


def id_token(ends_at: int, issued_at: int = 9_999_990_000) -> str:
    claims = json.dumps({"exp": ends_at, "iat": issued_at}).encode()
    return f"e30.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.sig"


FOR_EVER = id_token(9_999_999_999)


@dataclass(slots=True)
class FakeProvider:
    """A service and its provider without a network: `replies` are those of the token's address, in turn."""

    replies: list[tuple[int, Any]] = field(default_factory=list)
    changes: Mapping[str, object] = field(default_factory=dict)
    forms: list[dict[str, list[str]]] = field(default_factory=list)

    def reply(self, request: httpx2.Request) -> httpx2.Response:
        match request.url.path:
            case "/sign-in":
                assert "authorization" not in request.headers
                return httpx2.Response(200, json={"issuer": ISSUER, "client_id": "arog", "scopes": "openid"})
            case "/.well-known/openid-configuration":
                told = {"issuer": ISSUER, "device_authorization_endpoint": f"{ISSUER}/device"}
                told |= {"token_endpoint": f"{ISSUER}/token", "revocation_endpoint": f"{ISSUER}/revoke"}
                return httpx2.Response(200, json={**told, **self.changes})
            case "/device":
                began = {"device_code": "d", "user_code": "AB-CD", "verification_uri": f"{ISSUER}/enter"}
                return httpx2.Response(200, json={**began, "expires_in": 600, "interval": 2})
        self.forms.append(parse_qs(request.content.decode()))
        status, content = self.replies.pop(0)
        return httpx2.Response(status, json=content)

    @property
    def http(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self.reply))


def pending(error: str = "authorization_pending") -> tuple[int, dict[str, str]]:
    return 400, {"error": error}


def signed_in(*replies: tuple[int, Any], token: str = FOR_EVER) -> FakeProvider:
    """Signs in; `replies` come afterwards."""
    provider = FakeProvider([(200, {"id_token": token, "refresh_token": "r1"}), *replies])
    begin(URL, http=provider.http).wait(lambda _seconds: None)
    return provider


def test_the_provider_is_asked_as_seldom_as_it_wants() -> None:
    provider = FakeProvider([pending(), pending("slow_down"), pending(), (200, {"id_token": FOR_EVER})])
    waits: list[float] = []
    prompt = begin(f"{URL}/", http=provider.http)
    assert (prompt.address, prompt.code) == (f"{ISSUER}/enter", "AB-CD")
    prompt.wait(waits.append)
    assert waits == [2, 2, 7, 7]
    token = kept_token(URL)
    assert token is not None
    assert token() == FOR_EVER


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        ([pending("access_denied")], "sign_in_refused"),
        ([pending("invalid_client")], "sign_in_refused"),
        ([pending(), pending("expired_token")], "sign_in_refused"),
        ([(200, {})], "bad_provider"),
        ([(200, ["token"])], "bad_provider"),
        ([(200, {"id_token": FOR_EVER, "refresh_token": 7})], "bad_provider"),
    ],
)
def test_a_sign_in_that_fails_keeps_nothing(replies: list[tuple[int, Any]], code: str) -> None:
    with pytest.raises(ArogError) as failed:
        begin(URL, http=FakeProvider(replies).http).wait(lambda _seconds: None)
    assert failed.value.code == code
    assert kept_token(URL) is None


def test_a_code_that_nobody_enters_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = begin(URL, http=FakeProvider([pending()] * 9).http)
    monkeypatch.setattr("client_sdk.sign_in.time.monotonic", lambda: float("inf"))
    with pytest.raises(RequestTimeoutError):
        prompt.wait(lambda _seconds: None)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"device_authorization_endpoint": None}, "no_device_flow"),
        ({"device_authorization_endpoint": "http://sign-in.invalid/device"}, "plain_http"),
        ({"token_endpoint": "http://sign-in.invalid/token"}, "plain_http"),
        ({"token_endpoint": None}, "bad_url"),
        ({"issuer": "https://another.invalid"}, "bad_provider"),
    ],
)
def test_a_provider_that_can_not_be_used_is_told(changes: dict[str, object], code: str) -> None:
    with pytest.raises(ArogError) as failed:
        begin(URL, http=FakeProvider(changes=changes).http)
    assert failed.value.code == code


def test_a_token_goes_to_the_service_that_it_is_for_and_to_no_other() -> None:
    signed_in()
    assert kept_token("http://127.0.0.1:8001") is None
    with pytest.raises(NotConfiguredError):
        choose("http://127.0.0.1:8001", None, None)
    key = choose(f"{URL}/", None, None).api_key
    assert callable(key)
    assert key() == FOR_EVER
    assert choose(URL, "arog_key", None).api_key == "arog_key"


def test_a_token_that_ends_is_renewed_with_the_newest_of_what_renews() -> None:
    old = id_token(1)
    replies = [(200, {"id_token": old, "refresh_token": "r2"}), (200, {"id_token": FOR_EVER})]
    provider = signed_in(*replies, token=old)
    token = kept_token(URL, provider.http)
    assert token is not None
    assert [token(), token(), token()] == [old, FOR_EVER, FOR_EVER]
    assert [form["refresh_token"] for form in provider.forms[1:]] == [["r1"], ["r2"]]


def test_a_token_that_is_a_day_old_is_renewed_though_it_says_that_it_lasts() -> None:
    provider = signed_in((200, {"id_token": FOR_EVER}), token=id_token(9_999_999_999, issued_at=1))
    token = kept_token(URL, provider.http)
    assert token is not None
    assert token() == FOR_EVER


@pytest.mark.parametrize(("status", "code"), [(400, "signed_out"), (401, "signed_out"), (503, "unreachable")])
def test_a_sign_in_that_can_not_be_renewed_says_what_to_do(status: int, code: str) -> None:
    provider = signed_in((status, {"error": "invalid_grant"}), token=id_token(1))
    token = kept_token(URL, provider.http)
    assert token is not None
    with pytest.raises(ArogError) as failed:
        token()
    assert failed.value.code == code
    assert "r1" not in f"{failed.value} {failed.value.hint}"


def test_signing_out_takes_back_what_renews_at_the_provider_and_deletes_both_here(config: Path) -> None:
    provider = signed_in((200, {}))
    token = kept_token(URL, provider.http)
    assert sign_out(URL, provider.http)
    assert provider.forms[-1]["token"] == ["r1"]
    assert b"r1" not in (config / "sign-in.json").read_bytes()
    assert token is not None
    with pytest.raises(NotConfiguredError):
        token()


def test_a_file_that_others_can_read_or_that_is_damaged_is_refused(config: Path) -> None:
    signed_in()
    kept = config / "sign-in.json"
    kept.chmod(0o644)
    with pytest.raises(NotConfiguredError) as refused:
        choose(URL, None, None)
    assert refused.value.code == "file_readable_by_others"
    kept.chmod(0o600)
    kept.write_text('{"http://127.0.0.1:8000": {"id_token": "secret"}}')
    with pytest.raises(NotConfiguredError) as refused:
        choose(URL, None, None)
    assert refused.value.code == "signed_out"
    assert "secret" not in str(refused.value)
