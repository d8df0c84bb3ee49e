"""What a reader sees of a text: invisible characters gone, with the way there from the original positions."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from unicodedata import category

_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))


@dataclass(frozen=True, slots=True)
class Visible:
    """`origins[i]` is where text[i] stood; None when nothing was dropped."""

    text: str = field(repr=False)
    origins: list[int] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, original: str) -> Visible:
        """Control characters that part words become a space; line ends and tabs stay."""
        if original.isascii() and original.isprintable():
            return cls(original)
        kept = [(at, _seen(letter)) for at, letter in enumerate(original) if _seen(letter)]
        text = "".join(letter for _, letter in kept)
        return cls(text) if text == original else cls(text, [at for at, _ in kept])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the original's characters from `start` to `end` stand now."""
        if self.origins is None:
            return start, end
        return bisect_left(self.origins, start), bisect_left(self.origins, end)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from `start` to `end` stood in the original."""
        if self.origins is None:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1


def _seen(letter: str) -> str:
    if letter in "\n\t" or category(letter) not in _INVISIBLE:
        return letter
    return " " if letter.isspace() else ""
