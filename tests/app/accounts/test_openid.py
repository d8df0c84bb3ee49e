"""Tokens of an OpenID provider: what it signed for this service is taken, and nothing else; keys may be replaced."""

from __future__ import annotations

import base64
import hmac
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from app.accounts.api_keys import NotAuthenticatedError
from app.accounts.openid import (
    ALGORITHMS,
    KEYS_ARE_FRESH_S,
    MAX_KEYS_AGE_S,
    MAX_TOKEN_AGE_S,
    MAX_TOKEN_CHARS,
    MIN_PAUSE_S,
    OpenIdProvider,
)
from app.accounts.persons import ProviderUnreachableError

ISSUER, CLIENT = "https://sign-in.invalid/realm", "arog"
START = 1_900_000_000
RSA = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})


@dataclass(slots=True)
class FakeProvider:
    """The two documents that a provider publishes, without a network, and a clock."""

    keys: list[dict[str, Any]] = field(default_factory=lambda: [public(RSA)])
    issuer: str = ISSUER
    jwks_uri: str = f"{ISSUER}/keys"
    status: int = 200
    body: bytes | None = None
    endpoints: dict[str, Any] = field(default_factory=dict)
    now: float = START
    fetched: int = 0

    def reply(self, request: httpx2.Request) -> httpx2.Response:
        if self.body is not None:
            return httpx2.Response(self.status, content=self.body)
        if request.url.path.endswith("/.well-known/openid-configuration"):
            told = {"issuer": self.issuer, "jwks_uri": self.jwks_uri, **self.endpoints}
            return httpx2.Response(self.status, json=told)
        self.fetched += 1
        return httpx2.Response(self.status, json={"keys": self.keys})

    def reader(self) -> OpenIdProvider:
        http = httpx2.Client(transport=httpx2.MockTransport(self.reply))
        return OpenIdProvider(ISSUER, CLIENT, CLIENT, http, lambda: self.now)


def public(key: Key) -> dict[str, Any]:
    return key.as_dict(private=False)


def token(key: Key = RSA, algorithm: str = "RS256", header: dict[str, Any] | None = None, **claims: Any) -> str:
    """Signs the claims of a valid token with those changes; None leaves a claim out."""
    whole = {"iss": ISSUER, "aud": CLIENT, "sub": "s-1", "iat": START - 5, "exp": START + 600, **claims}
    kept = {name: value for name, value in whole.items() if value is not None}
    registry = JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    return jwt.encode({"alg": algorithm, "kid": key.kid, **(header or {})}, kept, key, registry=registry)


def by_hand(header: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    """A token that the library refuses to make."""
    claims = {"iss": ISSUER, "aud": CLIENT, "sub": "s", "iat": START, "exp": START + 9}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    signature = base64.urlsafe_b64encode(sign(b".".join(parts))).rstrip(b"=")
    return b".".join([*parts, signature]).decode()


def with_rsa(message: bytes) -> bytes:
    return RSA.private_key.sign(message, PKCS1v15(), SHA256())


def with_the_public_key(message: bytes) -> bytes:
    return hmac.digest(RSA.as_pem(private=False), message, "sha256")


def with_claims_changed() -> str:
    header, claims, signature = token().split(".")
    other = token(sub="somebody else").split(".")[1]
    assert other != claims
    return ".".join((header, other, signature))


def test_a_token_made_by_hand_is_refused_for_nothing_but_its_header() -> None:
    made = by_hand({"alg": "RS256", "kid": "one"}, with_rsa)
    assert FakeProvider().reader().claims_of(made)["sub"] == "s"


def test_a_token_that_the_provider_signed_for_this_service_is_taken() -> None:
    provider = FakeProvider()
    claims = provider.reader().claims_of(token(aud=["other", CLIENT], azp=CLIENT, groups=["nurses"], extra={"a": 1}))
    assert (claims["sub"], claims["groups"]) == ("s-1", ["nurses"])


@pytest.mark.parametrize(
    ("endpoint", "more"),
    [
        ("https://Tokens.invalid:8443/token?a=b", ("https://tokens.invalid:8443",)),
        (f"{ISSUER}/token", ()),
        ("https://a.invalid; script-src *", ()),
        ("https://user@a.invalid/", ()),
        ("javascript:alert(1)", ()),
        (7, ()),
    ],
)
def test_a_page_may_reach_the_origins_of_the_provider(endpoint: object, more: tuple[str, ...]) -> None:
    provider = FakeProvider(endpoints={"token_endpoint": endpoint})
    reader = provider.reader()
    assert reader.origins == ("https://sign-in.invalid",)
    reader.check()
    assert reader.origins == ("https://sign-in.invalid", *more)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_algorithm_of_the_list_is_taken(algorithm: str) -> None:
    curves = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
    key: Key = RSA
    if algorithm in curves:
        key = ECKey.generate_key(curves[algorithm], {"kid": "one"})
    elif algorithm == "Ed25519":
        key = OKPKey.generate_key("Ed25519", {"kid": "one"})
    assert FakeProvider([public(key)]).reader().claims_of(token(key, algorithm))["sub"] == "s-1"


@pytest.mark.parametrize(
    "made",
    [
        lambda: token(iss="https://another.invalid"),
        lambda: token(iss=None),
        lambda: token(aud="another service"),
        lambda: token(aud=["a", "b"]),
        lambda: token(aud=None),
        lambda: token(azp="another client"),
        lambda: token(exp=START - 61),
        lambda: token(exp=None),
        lambda: token(exp="never"),
        lambda: token(nbf=START + 61),
        lambda: token(iat=START + 61),
        lambda: token(iat=None),
        lambda: token(iat=START - MAX_TOKEN_AGE_S - 1),
        lambda: token(sub=None),
        lambda: token(sub=""),
        lambda: token(sub=7),
        lambda: token(events={"http://schemas.openid.net/event/backchannel-logout": {}}),
        lambda: token(header={"typ": "logout+jwt"}),
        lambda: by_hand({"alg": "RS256", "kid": "one", "crit": ["unknown"], "unknown": 1}, with_rsa),
        lambda: token(OTHER),
        lambda: by_hand({"alg": "HS256", "kid": "one"}, with_the_public_key),
        lambda: by_hand({"alg": "none", "kid": "one"}, lambda _message: b""),
        lambda: by_hand({"alg": "RS1", "kid": "one"}, with_rsa),
        with_claims_changed,
        lambda: token(padding="x" * MAX_TOKEN_CHARS),
        lambda: "a.b.c",
        lambda: "..",
        lambda: "ä.ö.ü",
        lambda: ".".join([base64.urlsafe_b64encode(b"[" * 9_000).decode()] * 3)[:MAX_TOKEN_CHARS],
    ],
)
def test_any_other_token_is_refused(made: Callable[[], str]) -> None:
    with pytest.raises(NotAuthenticatedError) as refused:
        FakeProvider().reader().claims_of(made())
    assert str(refused.value) == ""


@given(st.lists(st.one_of(st.binary(), st.recursive(st.none() | st.integers() | st.text(), st.lists)), max_size=4))
def test_whatever_stands_in_a_tokens_place_is_refused(parts: list[object]) -> None:
    encoded = [
        base64.urlsafe_b64encode(part if isinstance(part, bytes) else json.dumps(part).encode()).decode().rstrip("=")
        for part in parts
    ]
    reader = FakeProvider().reader()
    for made in (".".join(encoded), ".".join([token(), *encoded, ""]), "".join(map(str, parts))):
        with pytest.raises(NotAuthenticatedError):
            reader.claims_of(made)


def test_keys_for_encryption_shared_and_short_ones_check_no_signature() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = RSAKey.import_key(generate_private_key(65_537, 1024), {"kid": "one"})
    for listed in (public(RSA) | {"use": "enc"}, public(short), {"kty": "oct", "k": "AAAA", "kid": "one"}, {}, "key"):
        with pytest.raises(ProviderUnreachableError):
            FakeProvider([listed]).reader().claims_of(token())  # type: ignore[list-item]


def test_keys_are_fetched_once_and_again_for_a_key_id_that_is_new() -> None:
    provider = FakeProvider()
    reader = provider.reader()
    for _ in range(50):
        reader.claims_of(token())
    assert provider.fetched == 1
    fresh = RSAKey.generate_key(2048, {"kid": "two"})
    provider.keys, provider.now = [public(fresh)], START + MIN_PAUSE_S
    assert reader.claims_of(token(fresh))["sub"] == "s-1"
    with pytest.raises(NotAuthenticatedError):
        reader.claims_of(token())
    assert provider.fetched == 2


def test_made_up_key_ids_ask_the_provider_once_in_a_while() -> None:
    provider = FakeProvider()
    reader = provider.reader()
    for number in range(50):
        unknown = RSAKey.import_key(RSA.as_dict(private=True), {"kid": f"made up {number}"})
        with pytest.raises(NotAuthenticatedError):
            reader.claims_of(token(unknown))
    assert provider.fetched == 1


def test_what_another_issuer_signed_asks_the_provider_nothing() -> None:
    provider = FakeProvider()
    with pytest.raises(NotAuthenticatedError):
        provider.reader().claims_of(token(iss="https://another.invalid"))
    assert provider.fetched == 0


def test_known_keys_count_for_a_day_while_the_provider_is_out() -> None:
    provider = FakeProvider()
    reader = provider.reader()
    reader.claims_of(token())
    provider.status, provider.now = 503, START + KEYS_ARE_FRESH_S
    assert reader.claims_of(token(exp=START + 2 * MAX_KEYS_AGE_S))["sub"] == "s-1"
    assert reader.problem == "it answers with status 503"
    provider.now = START + MAX_KEYS_AGE_S + 1
    with pytest.raises(ProviderUnreachableError):
        reader.claims_of(token(iat=provider.now, exp=START + 2 * MAX_KEYS_AGE_S))
    provider.status, provider.now = 200, provider.now + MIN_PAUSE_S
    reader.check()
    assert reader.problem is None


@pytest.mark.parametrize(
    ("provider", "problem"),
    [
        (FakeProvider(issuer="https://another.invalid"), "another issuer"),
        (FakeProvider(jwks_uri="http://sign-in.invalid/keys"), "not https"),
        (FakeProvider(body=b"<html>"), "no usable reply"),
        (FakeProvider(body=b"[" * 100_000), "no usable reply"),
        (FakeProvider(body=b"[]"), "not an object"),
        (FakeProvider(body=b" " * 2_000_000), "too long"),
        (FakeProvider([]), "no key"),
        (FakeProvider(status=302), "status 302"),
    ],
)
def test_a_provider_that_is_wrong_lets_nobody_in_and_says_why(provider: FakeProvider, problem: str) -> None:
    reader = provider.reader()
    with pytest.raises(ProviderUnreachableError):
        reader.claims_of(token())
    assert problem in str(reader.problem)
