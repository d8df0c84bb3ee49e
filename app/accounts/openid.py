"""OpenIdProvider: checks tokens that an OpenID provider signed, with the keys that it publishes.

Follows OpenID Connect Discovery 1.0, OpenID Connect Core 1.0 (section 3.1.3.7) and RFC 9068.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urljoin

import httpx2
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import ECKey, JWKRegistry, Key, KeySet, OKPKey, RSAKey
from joserfc.jws import JWSRegistry, extract_compact

from app.accounts.api_keys import NotAuthenticatedError
from app.accounts.persons import ProviderUnreachableError

ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519",
)  # fmt: skip
"""The signatures that are accepted. None has a shared secret, so a public key can't be used as one."""
MIN_RSA_BITS: Final = 2048
KEYS_ARE_FRESH_S: Final = 3600.0
"""The age from which the provider's keys are fetched again. Chosen by hand."""
MAX_KEYS_AGE_S: Final = 86_400.0
"""The age up to which they count while the provider does not answer. Chosen by hand."""
MIN_PAUSE_S: Final = 10.0
"""The least time between two fetches, so that made-up key ids can't flood the provider. Chosen by hand."""
MAX_TOKEN_AGE_S: Final = 86_400.0
"""The age from which a token is refused, whatever its own end: who left is out a day later. Chosen by hand."""
CLOCKS_DIFFER_S: Final = 60
MAX_TOKEN_CHARS: Final = 16_384
_MAX_REPLY_BYTES: Final = 1_048_576
_TIMEOUT_S: Final = 5.0
_DISCOVERY: Final = "/.well-known/openid-configuration"
_USED_BY_PAGE: Final = ("token_endpoint", "revocation_endpoint")
_ORIGIN: Final = re.compile(r"(https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?)(?:[/?#]|$)", re.IGNORECASE)
_TYPES: Final = ("", "jwt", "at+jwt", "application/at+jwt")


class OpenIdProvider:
    """One OpenID provider, and the client id by which it knows this service.

    Promise: `claims_of` returns only claims that the provider signed, with one of ALGORITHMS, for `audience`, and that
    have not expired. Condition: `issuer` begins with https, or is on this machine. Limit: a token counts until it
    expires, at most MAX_TOKEN_AGE_S, even if the person signs out or is removed meanwhile.

    `problem` says why the last fetch of keys failed, and is None after one that did not. `origins` are the addresses
    that a page may send requests to in order to sign somebody in. `http` and `now` are for tests.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        audience: str,
        http: httpx2.Client | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.issuer, self.client_id, self._now = issuer, client_id, now
        self._http = http or httpx2.Client(timeout=_TIMEOUT_S, follow_redirects=False)
        self._keys: KeySet | None = None
        self._fetched_at, self._tried_at = float("-inf"), float("-inf")
        self.problem: str | None = None
        self.origins = _origins_of([issuer])
        self._lock = threading.Lock()
        self._signatures = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        self._signatures.max_header_length = 4_096  # Some providers put certificates there.
        self._claims = jwt.JWTClaimsRegistry(
            now=lambda: int(now()),
            leeway=CLOCKS_DIFFER_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": audience},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            azp={"value": client_id},
        )

    def claims_of(self, token: str) -> Mapping[str, Any]:
        """Returns the claims of a valid token. Raises NotAuthenticatedError, ProviderUnreachableError."""
        self._refuse_foreign(token)
        keys = self._fresh_keys()
        try:
            return self._checked(token, keys)
        except InvalidKeyIdError:
            # The provider may have new keys.
            renewed = self._fetched_again(keys)
        except (JoseError, ValueError, TypeError):
            raise NotAuthenticatedError from None
        try:
            return self._checked(token, renewed)
        except (JoseError, ValueError, TypeError):
            raise NotAuthenticatedError from None

    def check(self) -> None:
        """Fetches the keys if they are not fresh; a failure is kept in `problem`."""
        with suppress(ProviderUnreachableError):
            self._fresh_keys()

    def close(self) -> None:
        self._http.close()

    def _refuse_foreign(self, token: str) -> None:
        """Raises NotAuthenticatedError for what can't be the provider's, before anything is fetched for it."""
        try:
            if len(token) > MAX_TOKEN_CHARS:
                raise NotAuthenticatedError
            parts = extract_compact(token.encode("ascii"), registry=self._signatures)
            if parts.headers().get("alg") not in ALGORITHMS or json.loads(parts.payload)["iss"] != self.issuer:
                raise NotAuthenticatedError
        except (JoseError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise NotAuthenticatedError from None

    def _checked(self, token: str, keys: KeySet) -> dict[str, Any]:
        found = jwt.decode(token, keys, registry=self._signatures)
        self._claims.validate(found.claims)
        claims = found.claims
        # A logout token has events, and is no proof that anybody signed in.
        if "events" in claims or str(found.header.get("typ", "")).lower() not in _TYPES:
            raise NotAuthenticatedError
        if not claims["sub"] or claims["iat"] < self._now() - MAX_TOKEN_AGE_S:
            raise NotAuthenticatedError
        return claims

    def _fresh_keys(self) -> KeySet:
        if self._keys is not None and self._now() - self._fetched_at < KEYS_ARE_FRESH_S:
            return self._keys
        return self._fetched_again(self._keys)

    def _fetched_again(self, known: KeySet | None) -> KeySet:
        """Fetches the keys unless another thread has since `known`, or the last try was a moment ago.

        Raises ProviderUnreachableError if there are no keys, or none young enough.
        """
        with self._lock:
            if self._keys is known and self._now() - self._tried_at >= MIN_PAUSE_S:
                self._tried_at = self._now()
                try:
                    self._keys, self.problem = self._fetch(), None
                    self._fetched_at = self._now()
                except ProviderUnreachableError as error:
                    self.problem = str(error)
            if self._keys is None or self._now() - self._fetched_at > MAX_KEYS_AGE_S:
                raise ProviderUnreachableError(self.problem or "it was not reached")
            return self._keys

    def _fetch(self) -> KeySet:
        told = self._read(self.issuer.rstrip("/") + _DISCOVERY)
        if told.get("issuer") != self.issuer:
            raise ProviderUnreachableError("it calls itself by another issuer than AROG_OIDC_ISSUER")
        listed = self._read(str(told.get("jwks_uri"))).get("keys")
        keys = [key for each in listed if (key := _public_key(each))] if isinstance(listed, list) else []
        if not keys:
            raise ProviderUnreachableError("it publishes no key that this service accepts")
        self.origins = _origins_of([self.issuer, *(told.get(name) for name in _USED_BY_PAGE)])
        return KeySet(keys)

    def _read(self, url: str) -> dict[str, Any]:
        # Whoever could change the keys on the way would sign in as anybody.
        if not url.startswith(("https://", urljoin(self.issuer, "/"))):
            raise ProviderUnreachableError("it names an address that is not https")
        try:
            with self._http.stream("GET", url) as reply:
                body = bytearray()
                for chunk in reply.iter_bytes():
                    body += chunk
                    if len(body) > _MAX_REPLY_BYTES:
                        raise ProviderUnreachableError("its reply is too long")
                if reply.status_code != 200:
                    raise ProviderUnreachableError(f"it answers with status {reply.status_code}")
            content = json.loads(body)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            raise ProviderUnreachableError(f"no usable reply ({type(error).__name__})") from None
        if not isinstance(content, dict):
            raise ProviderUnreachableError("its reply is not an object of JSON")
        return content


def _origins_of(urls: Iterable[object]) -> tuple[str, ...]:
    """Returns scheme, host and port of each address, once. What is no plain address is left out."""
    found = (_ORIGIN.match(url) for url in urls if isinstance(url, str))
    return tuple(dict.fromkeys(each[1].lower() for each in found if each))


def _public_key(listed: object) -> Key | None:
    """Returns a published key that may check signatures, or None if it is of another kind, or weak."""
    if not isinstance(listed, dict) or listed.get("use", "sig") != "sig" or listed.get("kty") == "oct":
        return None
    try:
        # Before the import, where the library would but warn.
        if listed.get("kty") == "RSA" and len(listed["n"]) * 6 < MIN_RSA_BITS:
            return None
        key = JWKRegistry.import_key(listed)
        if isinstance(key, RSAKey):
            return key if key.public_key.key_size >= MIN_RSA_BITS else None
        return key if isinstance(key, (ECKey, OKPKey)) else None
    except (JoseError, ValueError, TypeError, LookupError):
        return None
