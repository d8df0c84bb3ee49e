"""MasterKey: the key ring that encrypts all stored data. Also the keyed hash that turns terms into MIDs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from kg_store.errors import LoadError, MasterKeyError
from kg_store.storage.ring_file import RingFile
from kg_store.terms import Mids

KEY_BYTES = 32
_FORMAT = b"\x01"
_NONCE_BYTES = 12
VERSION_BYTES = len(_FORMAT) + 2
_HEADER_BYTES = VERSION_BYTES + _NONCE_BYTES
_MAX_VERSION = 0xFFFF
_MAX_MID = 0x7FFF_FFFF_FFFF_FFFF
_KEY_TEXT = re.compile(r"v([1-9]\d{0,4}):([A-Za-z0-9_-]{43}=?)")
_MIN_DISTINCT_BYTES = 12


@dataclass(frozen=True, slots=True, repr=False)
class MasterKey:
    """A ring of versioned keys: the newest key encrypts ("seals"), every key decrypts.

    Keys that are added to the ring's file are noticed. Promise: without the ring, sealed bytes reveal only their
    length and key version, and any change to them, to their purpose or to their context makes `open` fail. Condition:
    the ring's text is kept out of the data folder's backups. Limit: the memory of the running process is not
    protected.
    """

    _secrets: dict[int, bytes]
    _file: RingFile | None = None
    _ciphers: dict[tuple[int, str], tuple[AESGCM, bytes]] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return f"MasterKey(newest={self.newest})"

    @property
    def newest(self) -> int:
        return max(self._secrets)

    @property
    def versions(self) -> list[int]:
        """The key versions, newest first."""
        return sorted(self._secrets, reverse=True)

    @property
    def newest_bytes(self) -> bytes:
        """The first bytes of all that the newest key has sealed: the format and the key's version.

        Other bytes in that place mean that an older key sealed the data.
        """
        return _FORMAT + self.newest.to_bytes(2, "big")

    @staticmethod
    def version_of(sealed: bytes) -> int:
        """Returns the version of the key that sealed these bytes, from their first VERSION_BYTES bytes."""
        return int.from_bytes(sealed[1:VERSION_BYTES], "big")

    def refresh(self) -> None:
        """Adds keys that were added to the ring's file since it was read; an unreadable file adds none."""
        if self._file is None:
            return
        try:
            fresh = MasterKey.from_file(self._file)
        except MasterKeyError:
            return
        for version, secret in fresh._secrets.items():
            self._secrets.setdefault(version, secret)

    def drop_older(self) -> None:
        """Takes all keys but the newest out of the ring and its file. Raises MasterKeyError, KeyServiceError."""
        if self._file is not None:
            self._file.write(MasterKey.keeping(self._file.read(), [self.newest]))
        for version in self.versions[1:]:
            del self._secrets[version]

    @staticmethod
    def generate() -> str:
        """Returns a new ring of one key as text: `v1:<32 bytes as base64url>`."""
        return _key_text(1, os.urandom(KEY_BYTES))

    @staticmethod
    def rotated(text: str) -> str:
        """Returns the ring in `text` with a new key in front; data that older keys sealed can still be opened."""
        ring = MasterKey.from_text(text)
        return _key_text(ring.newest + 1, os.urandom(KEY_BYTES)) + "," + text.strip()

    @staticmethod
    def from_text(text: str) -> MasterKey:
        """Returns the ring written as `v2:...,v1:...`, newest first. Raises MasterKeyError for a malformed or
        weak key.
        """
        secrets: dict[int, bytes] = {}
        for position, part in enumerate(text.strip().split(","), start=1):
            version, secret = _read_key(part.strip(), position)
            if version in secrets:
                raise MasterKeyError(f"master key: version {version} stands there twice")
            secrets[version] = secret
        newest = next(iter(secrets))
        if newest != max(secrets):
            raise MasterKeyError("master key: the newest version must stand first")
        return MasterKey(secrets)

    @staticmethod
    def from_file(file: RingFile | Path) -> MasterKey:
        """Returns the ring in a file. Raises MasterKeyError if others than its owner (or one group) may read it.

        Raises KeyServiceError if a key service wraps it, and can't be asked.
        """
        file = file if isinstance(file, RingFile) else RingFile(file)
        return MasterKey(MasterKey.from_text(file.read())._secrets, file)

    @staticmethod
    def keeping(text: str, versions: Iterable[int]) -> str:
        """Returns the ring in `text` reduced to these versions."""
        kept = set(versions)
        secrets = MasterKey.from_text(text)._secrets
        return ",".join(_key_text(each, secrets[each]) for each in sorted(kept, reverse=True))

    def seal(self, purpose: str, context: bytes, plain: bytes) -> bytes:
        """Encrypts with AES-256-GCM. `purpose` selects the subkey; `context` must be given again to open."""
        nonce = os.urandom(_NONCE_BYTES)
        newest = self.newest
        cipher, bound = self._cipher(newest, purpose)
        sealed = cipher.encrypt(nonce, plain, bound + context)
        return _FORMAT + newest.to_bytes(2, "big") + nonce + sealed

    def open(self, purpose: str, context: bytes, sealed: bytes) -> bytes:
        """Returns the decrypted bytes. Raises MasterKeyError if the key, purpose, context or a single bit differs."""
        if len(sealed) < _HEADER_BYTES or sealed[:1] != _FORMAT:
            raise MasterKeyError("sealed data is cut off or of an unknown format")
        version = MasterKey.version_of(sealed)
        if version not in self._secrets:
            self.refresh()
        if version not in self._secrets:
            raise MasterKeyError(f"sealed with version {version} of the master key, which is not in the ring")
        cipher, bound = self._cipher(version, purpose)
        try:
            return cipher.decrypt(sealed[VERSION_BYTES:_HEADER_BYTES], sealed[_HEADER_BYTES:], bound + context)
        except InvalidTag:
            raise MasterKeyError("sealed data does not open: another master key, or the data was changed") from None

    def derived(self, purpose: str) -> bytes:
        """Returns a key of 32 bytes for `purpose`; it changes when the ring gets a newer key."""
        return self._derived(self.newest, purpose)

    def all_derived(self, purpose: str) -> list[bytes]:
        """Returns the keys that `derived` gives for every version in the ring, the newest first."""
        return [self._derived(version, purpose) for version in self.versions]

    def _derived(self, version: int, purpose: str, use: bytes = b"derive") -> bytes:
        info = b"arog " + use + b" 1 " + purpose.encode()
        return HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(self._secrets[version])

    def _cipher(self, version: int, purpose: str) -> tuple[AESGCM, bytes]:
        """Returns (cipher, associated data) for one key version and purpose.

        The associated data are authenticated with each sealed text, so that no other purpose or version opens it.
        """
        found = self._ciphers.get((version, purpose))
        if found is None:
            derived = self._derived(version, purpose, b"seal")
            found = self._ciphers[version, purpose] = AESGCM(derived), bind(purpose, str(version))
        return found


def bind(*parts: str) -> bytes:
    """Returns a context for `seal`: the parts, each after its length, so that no two lists of parts are alike."""
    encoded = [part.encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def new_mid_key() -> bytes:
    """Returns a random key for one graph's MIDs. Stored sealed, it survives a rotation of the master key."""
    return os.urandom(KEY_BYTES)


def mids_of(mid_key: bytes, terms: Iterable[str]) -> Mids:
    """Returns the MIDs of `terms`, in order: keyed BLAKE2b, masked to 63 bits."""
    keyed = hashlib.blake2b(key=mid_key, digest_size=8)
    mids = []
    for term in terms:
        state = keyed.copy()
        state.update(term.encode("utf-8", "surrogatepass"))
        mids.append(int.from_bytes(state.digest(), "big") & _MAX_MID)
    return np.array(mids, dtype=np.int64)


def refuse_collisions(mids: Mids) -> None:
    """Raises LoadError if two of `mids` are equal, because two different things would be taken for one."""
    if len(np.unique(mids)) != len(mids):
        raise LoadError("two terms have the same MID; delete the graph and load it again under another key")


def _key_text(version: int, secret: bytes) -> str:
    return f"v{version}:{base64.urlsafe_b64encode(secret).decode().rstrip('=')}"


def _read_key(part: str, position: int) -> tuple[int, bytes]:
    match = _KEY_TEXT.fullmatch(part)
    if match is None or int(match.group(1)) > _MAX_VERSION:
        raise MasterKeyError(
            f"master key: part {position} is not `v<number>:<32 bytes as base64url>`; see docs/operations/keys.md"
        )
    try:
        secret = base64.urlsafe_b64decode(match.group(2).rstrip("=") + "=")
    except (binascii.Error, ValueError):
        raise MasterKeyError(f"master key: part {position} is not base64url") from None
    if len(secret) != KEY_BYTES or _is_weak(secret):
        raise MasterKeyError(f"master key: part {position} is an example or far from random; generate another")
    return int(match.group(1)), secret


def _is_weak(secret: bytes) -> bool:
    steps = {(after - before) % 256 for before, after in itertools.pairwise(secret)}
    typed = all(32 <= byte < 127 for byte in secret)
    return len(set(secret)) < _MIN_DISTINCT_BYTES or len(steps) == 1 or typed
