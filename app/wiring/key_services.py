"""Key services that wrap the master key's ring: AWS KMS, and the engine `transit` of HashiCorp Vault or OpenBao."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2

from app.settings import ConfigurationError, Settings, secret_in
from kg_store.errors import KeyServiceError
from kg_store.storage.ring_file import KeyWrapper, RingFile

_BOUND_TO: Final = "arog master key"
"""The context that is given with each request: what is wrapped for something else under the same key stays closed."""
_TIMEOUT_S: Final = 10.0
_VAULT_KEY: Final = re.compile(r"(https://[^/\s]+|http://(?:127\.0\.0\.1|localhost)(?::\d+)?)/([\w./-]+)/([\w.-]+)")
_ARN: Final = re.compile(r"arn:[\w-]+:kms:([\w-]+):")


def ring_file_of(settings: Settings) -> RingFile:
    """Returns the file of the ring, with the key service of AROG_KMS. Asks the service nothing yet.

    Raises ConfigurationError.
    """
    return RingFile(settings.key_file, None if settings.kms is None else wrapper_of(settings.kms, settings))


def wrapper_of(kms: str, settings: Settings) -> KeyWrapper:
    """Returns the key service that a text of the form of AROG_KMS names. Raises ConfigurationError."""
    kind, _, key = kms.partition(":")
    if kind == "aws":
        return AwsKms(key)
    where = _VAULT_KEY.fullmatch(key)
    if kind != "vault" or where is None:
        raise ConfigurationError(
            "AROG_KMS must be aws:KEY (an ARN, id or alias) or vault:https://HOST/MOUNT/KEY, such as "
            "vault:https://vault.example.org/transit/arog"
        )

    def token() -> str:
        # Read anew each time: agents replace it in its file before it expires.
        if settings.vault_token_file is not None:
            return _secret_in(settings.vault_token_file)
        return settings.vault_token.get_secret_value() if settings.vault_token else ""

    return VaultTransit(where[1], where[2], where[3], token)


def _secret_in(path: Path) -> str:
    try:
        return secret_in(path, "AROG_VAULT_TOKEN_FILE")
    except ValueError as error:
        raise KeyServiceError(str(error)) from None


@dataclass(frozen=True, slots=True)
class VaultTransit:
    """Implements KeyWrapper with a key of Vault's engine `transit`, of a type with associated data (aes256-gcm96)."""

    url: str
    mount: str
    key: str
    token: Callable[[], str] = field(repr=False)
    http: httpx2.Client | None = field(default=None, repr=False)
    name: str = "vault"

    def wrap(self, plain: bytes) -> str:
        return self._ask("encrypt", "plaintext", base64.b64encode(plain).decode(), "ciphertext")

    def unwrap(self, wrapped: str) -> bytes:
        try:
            return base64.b64decode(self._ask("decrypt", "ciphertext", wrapped, "plaintext"), validate=True)
        except ValueError:
            raise _unusable("Vault", "its reply can't be used") from None

    def _ask(self, verb: str, given: str, content: str, wanted: str) -> str:
        body = {given: content, "associated_data": base64.b64encode(_BOUND_TO.encode()).decode()}
        http = self.http or httpx2.Client(timeout=_TIMEOUT_S)
        try:
            address = f"{self.url}/v1/{self.mount}/{verb}/{self.key}"
            reply = http.post(address, json=body, headers={"X-Vault-Token": self.token(), "X-Vault-Request": "true"})
            if reply.status_code != 200:
                raise _unusable("Vault", _VAULT_REFUSALS.get(reply.status_code, f"it answers {reply.status_code}"))
            found = reply.json()["data"][wanted]
        except httpx2.HTTPError as error:
            raise _unusable("Vault", f"it can't be reached ({type(error).__name__})") from None
        except (ValueError, LookupError, TypeError):
            raise _unusable("Vault", "its reply can't be used") from None
        finally:
            if self.http is None:
                http.close()
        if not isinstance(found, str) or not found.isascii():
            raise _unusable("Vault", "its reply can't be used")
        return found


_VAULT_REFUSALS: Final = {
    400: "it can't open this ring (status 400): another key wrapped it, or the file was changed",
    403: "it refuses the token (status 403): see AROG_VAULT_TOKEN_FILE and the token's policy",
    404: "it has no such key or engine (status 404): see AROG_KMS",
    503: "it is sealed or in standby (status 503)",
}


@dataclass(frozen=True, slots=True)
class AwsKms:
    """Implements KeyWrapper with a symmetric key of AWS KMS; credentials and region as AWS's own tools find them."""

    key: str
    name: str = "aws"

    def wrap(self, plain: bytes) -> str:
        return base64.b64encode(self._ask("encrypt", "CiphertextBlob", Plaintext=plain)).decode()

    def unwrap(self, wrapped: str) -> bytes:
        try:
            return self._ask("decrypt", "Plaintext", CiphertextBlob=base64.b64decode(wrapped, validate=True))
        except ValueError:
            raise _unusable("AWS KMS", "the ring's file is cut off") from None

    def _ask(self, verb: str, wanted: str, **content: bytes) -> bytes:
        try:
            from botocore.exceptions import BotoCoreError, ClientError
        except ModuleNotFoundError:
            raise ConfigurationError("AROG_KMS=aws:... needs AWS's library: pip install botocore") from None
        try:
            reply = getattr(self._client(), verb)(KeyId=self.key, EncryptionContext={"for": _BOUND_TO}, **content)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            raise _unusable("AWS KMS", f"it refuses ({re.sub('[^A-Za-z]', '', code)[:60]})") from None
        except BotoCoreError as error:
            raise _unusable("AWS KMS", f"it can't be asked ({type(error).__name__})") from None
        found: bytes = reply[wanted]
        return found

    def _client(self) -> Any:
        from botocore.config import Config
        from botocore.session import Session

        session, arn = Session(), _ARN.match(self.key)
        region = arn[1] if arn else session.get_config_variable("region") or os.environ.get("AWS_REGION")
        config = Config(connect_timeout=_TIMEOUT_S, read_timeout=_TIMEOUT_S, retries={"total_max_attempts": 2})
        return session.create_client("kms", region_name=region, config=config)


def _unusable(service: str, reason: str) -> KeyServiceError:
    return KeyServiceError(
        f"{service} can't wrap or unwrap the master key: {reason}. No other key is used in its place"
    )
