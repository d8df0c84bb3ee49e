"""Signs a person in at the service's OpenID provider, by the device flow (RFC 8628), and keeps their token.

prompt = begin(url)
print(prompt.address, prompt.code)
prompt.wait()
with Chat(url, kept_token(url), "demo") as chat:
    ...
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx2
from pydantic import TypeAdapter, ValidationError

from client_sdk.crypto.private_files import SIGN_IN_FILE, config_folder, read_private, replace_private
from client_sdk.errors import BadAnswerError, NotConfiguredError, RefusedError, RequestTimeoutError, UnreachableError
from client_sdk.protocol import SignIn
from client_sdk.transport.address import checked_url
from client_sdk.transport.drivers import BlockingDriver
from client_sdk.transport.flow import Call, RetryPolicy, exchange

DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_PATIENCE: Final = RetryPolicy(timeout_s=30.0)
_TIMEOUT_S: Final = 15.0
_JSON: Final = {"Accept": "application/json"}
_REFRESHED_BEFORE_S: Final = 60.0
"""The seconds before its end at which a token is renewed. Chosen by hand."""
_MAX_AGE_S: Final = 86_400.0
"""The age from which the service refuses a token (MAX_TOKEN_AGE_S in app/accounts/openid.py)."""
_INTERVAL_S: Final = 5.0  # RFC 8628, section 3.2
_SLOWER_S: Final = 5.0  # RFC 8628, section 3.5
_DENIED: Final = {
    "access_denied": "the sign-in was refused",
    "expired_token": "the code was not entered in time",  # nosec B105 - no password
}
_AGAIN: Final = "run `arog login` again"


@dataclass(frozen=True, slots=True)
class Token:
    """A person's ID token for one service, with what renews it."""

    issuer: str
    client_id: str
    token_url: str
    revocation_url: str | None
    id_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)

    @property
    def ends_at(self) -> float:
        """The time in seconds since 1970 from which the service takes the token no more, by what the token says."""
        with suppress(ValueError, LookupError, TypeError):
            part = self.id_token.split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            return min(float(claims["exp"]), float(claims["iat"]) + _MAX_AGE_S)
        return 0.0


@dataclass(frozen=True, slots=True)
class SignInPrompt:
    """A sign-in that waits for the person: they open `address` in a browser, on any machine, and enter `code`."""

    url: str
    address: str
    code: str
    whole_address: str | None
    _device_code: str = field(repr=False)
    _interval_s: float = field(repr=False)
    _ends_at: float = field(repr=False)
    _token: Token = field(repr=False)
    _http: httpx2.Client | None = field(repr=False)

    def wait(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Waits until the person has signed in, and keeps their token. Raises ArogError if they have not."""
        interval_s = self._interval_s
        form = {"grant_type": DEVICE_GRANT, "device_code": self._device_code, "client_id": self._token.client_id}
        while time.monotonic() < self._ends_at:
            sleep(interval_s)
            status, told = _post(self._http, self._token.token_url, form)
            if status == 200:
                _keep(self.url, _token_of(told, self._token))
                return
            error = told.get("error")
            if error == "slow_down":
                interval_s += _SLOWER_S
            elif error != "authorization_pending":
                reason = _DENIED.get(str(error), "the provider refused the sign-in")
                raise RefusedError(reason, code="sign_in_refused", hint=_AGAIN)
        raise RequestTimeoutError(_DENIED["expired_token"], code="sign_in_expired", hint=_AGAIN)


def begin(url: str, *, plain_http: bool = False, http: httpx2.Client | None = None) -> SignInPrompt:
    """Asks the service for its OpenID provider, and the provider for a code. Raises ArogError."""
    url = checked_url(url, plain_http).rstrip("/")
    service = BlockingDriver(url, "", http)
    try:
        told = service.run(exchange(Call("GET", "/sign-in", repeatable=True), SignIn, _PATIENCE))
    finally:
        service.close()
    provider = _provider(http, told.issuer)
    device_url, revocation_url = provider.get("device_authorization_endpoint"), provider.get("revocation_endpoint")
    if not device_url:
        hint = "ask whoever runs the service for an API key"
        raise RefusedError("the provider has no sign-in for command lines", code="no_device_flow", hint=hint)
    token_url = _endpoint(provider.get("token_endpoint"))
    status, began = _post(http, _endpoint(device_url), {"client_id": told.client_id, "scope": told.scopes})
    if status != 200:
        hint = "whoever runs the service checks its client at the provider: a public one, with the device flow"
        raise RefusedError("the provider gives no code", code="sign_in_refused", hint=hint)
    try:
        return SignInPrompt(
            url=url,
            address=_endpoint(began["verification_uri"]),
            code=str(began["user_code"]),
            whole_address=began.get("verification_uri_complete"),
            _device_code=str(began["device_code"]),
            _interval_s=float(began.get("interval", _INTERVAL_S)),
            _ends_at=time.monotonic() + float(began["expires_in"]),
            _token=Token(told.issuer, told.client_id, token_url, revocation_url and _endpoint(revocation_url), ""),
            _http=http,
        )
    except (LookupError, ValueError, TypeError):
        raise _odd_reply() from None


def kept_token(url: str, http: httpx2.Client | None = None) -> Callable[[], str] | None:
    """Returns a function that gives the person's token for a service, renewed where needed; None if there is none."""
    place = url.rstrip("/")
    return (lambda: _current(place, http)) if place in _kept() else None


def sign_out(url: str, http: httpx2.Client | None = None) -> bool:
    """Deletes the person's token for a service, and revokes it at the provider; False if there was none."""
    with _locked():
        kept = _kept()
        token = kept.pop(url.rstrip("/"), None)
        _write(kept)
    if token is None:
        return False
    if token.revocation_url and token.refresh_token:
        # The token is deleted here in any case; the provider may be out of reach.
        with suppress(UnreachableError, BadAnswerError):
            form = {"token": token.refresh_token, "client_id": token.client_id}
            _post(http, token.revocation_url, form)
    return True


def _current(url: str, http: httpx2.Client | None) -> str:
    token = _kept().get(url)
    if token is not None and token.ends_at - time.time() > _REFRESHED_BEFORE_S:
        return token.id_token
    # A refresh token may work once only, so that two processes must not send the same one.
    with _locked():
        token = _kept().get(url)
        if token is None:
            raise NotConfiguredError("you are signed out", code="signed_out", hint=_AGAIN)
        if token.ends_at - time.time() > _REFRESHED_BEFORE_S:
            return token.id_token
        renewed = _renewed(token, http)
        _write({**_kept(), url: renewed})
    return renewed.id_token


def _renewed(token: Token, http: httpx2.Client | None) -> Token:
    ended = NotConfiguredError("your sign-in has ended", code="signed_out", hint=_AGAIN)
    if token.refresh_token is None:
        raise ended
    form = {"grant_type": "refresh_token", "refresh_token": token.refresh_token, "client_id": token.client_id}
    status, told = _post(http, token.token_url, form)
    if status >= 500:
        raise UnreachableError("the OpenID provider does not answer", code="unreachable", hint="try again in a minute")
    if status != 200:
        raise ended
    return _token_of(told, token)


def _token_of(told: dict[str, Any], base: Token) -> Token:
    id_token, refresh_token = told.get("id_token"), told.get("refresh_token", base.refresh_token)
    if not isinstance(id_token, str) or not isinstance(refresh_token, str | None):
        raise _odd_reply()
    return replace(base, id_token=id_token, refresh_token=refresh_token)


def _provider(http: httpx2.Client | None, issuer: str) -> dict[str, Any]:
    status, told = _answered(http, "GET", _endpoint(issuer).rstrip("/") + "/.well-known/openid-configuration")
    if status != 200 or told.get("issuer") != issuer:
        raise _odd_reply()
    return told


def _endpoint(url: object) -> str:
    """Returns an address of the provider. Raises NotConfiguredError unless it is https, or on this machine."""
    return checked_url(str(url), plain_http=False)


def _post(http: httpx2.Client | None, url: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
    return _answered(http, "POST", url, form)


def _answered(
    http: httpx2.Client | None, method: str, url: str, form: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    try:
        with nullcontext(http) if http else httpx2.Client(timeout=_TIMEOUT_S) as client:
            reply = client.request(method, url, data=form, headers=_JSON, follow_redirects=False)
        content = json.loads(reply.content) if reply.content else {}
    except httpx2.TransportError:
        hint = "check the network, and try again"
        raise UnreachableError("the OpenID provider can't be reached", code="unreachable", hint=hint) from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise _odd_reply()
    return reply.status_code, content


def _odd_reply() -> BadAnswerError:
    hint = "whoever runs the service checks AROG_OIDC_ISSUER"
    return BadAnswerError("the OpenID provider's reply can't be used", code="bad_provider", hint=hint)


_TOKENS: Final = TypeAdapter(dict[str, Token])


def _path() -> Path:
    return config_folder() / SIGN_IN_FILE


def _kept() -> dict[str, Token]:
    content = read_private(_path())
    try:
        return {} if content is None else _TOKENS.validate_json(content)
    except ValidationError:
        hint = f"delete {_path()}, and {_AGAIN}"
        raise NotConfiguredError("the file of your sign-in is damaged", code="signed_out", hint=hint) from None


def _keep(url: str, token: Token) -> None:
    with _locked():
        _write({**_kept(), url: token})


def _write(tokens: dict[str, Token]) -> None:
    replace_private(_path(), json.dumps({url: asdict(token) for url, token in tokens.items()}).encode())


@contextmanager
def _locked() -> Iterator[None]:
    """Lets one process at a time renew tokens; on Windows, which has no such lock, each renews for itself."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder = config_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / ".sign-in.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
