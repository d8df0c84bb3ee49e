"""Words drawn by a key: the same for the same text, and without the key like any drawn at random."""

from __future__ import annotations

import string
from collections.abc import Callable, Container
from hashlib import blake2b
from typing import Final

ALPHABET: Final = string.ascii_lowercase + string.digits
TAIL_LENGTH: Final = 5
_MAX_KEY_BYTES = 64


def keyed_word(letter: str, told: str, key: bytes, is_right: Callable[[str], bool], taken: Container[str] = ()) -> str:
    """A word of `letter` and a tail for `told`; the first that `is_right` and not in `taken`."""
    attempt = 0
    while True:
        text = f"{attempt}\n{told}".encode("utf-8", "surrogatepass")
        number = int.from_bytes(blake2b(text, key=key[:_MAX_KEY_BYTES], digest_size=16).digest(), "big")
        word = letter
        for _ in range(TAIL_LENGTH):
            number, at = divmod(number, len(ALPHABET))
            word += ALPHABET[at]
        if is_right(word) and word not in taken:
            return word
        attempt += 1
