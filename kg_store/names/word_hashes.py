"""WordHashes holds words outside the lexicon without their letters."""

from __future__ import annotations

from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import numpy as np

_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class WordHashes:
    """A set of words as 64-bit hashes; `packed` holds them in ascending order.

    Promise: a word that was added is found. Limit: with a million words, another word is found by chance once in
    10^13.
    """

    packed: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, hashes: Iterable[int]) -> WordHashes:
        """Builds the set from results of `hash_of`."""
        return cls(np.unique(np.fromiter(hashes, dtype=np.uint64)).tobytes())

    @classmethod
    def union(cls, each: Iterable[WordHashes]) -> WordHashes:
        packed = b"".join(hashes.packed for hashes in each)
        return cls(np.unique(np.frombuffer(packed, dtype=np.uint64)).tobytes())

    @classmethod
    def from_text(cls, text: str) -> WordHashes:
        return cls(b64decode(text))

    def to_text(self) -> str:
        return b64encode(self.packed).decode()

    def __len__(self) -> int:
        return len(self.packed) // _BYTES

    def __contains__(self, word: object) -> bool:
        hashes, wanted = memoryview(self.packed).cast("Q"), hash_of(str(word))
        at = bisect_left(hashes, wanted)
        return at < len(hashes) and hashes[at] == wanted


def hash_of(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=_BYTES).digest(), "little")
