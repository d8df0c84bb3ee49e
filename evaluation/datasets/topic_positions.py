"""Which pseudonym of an anonymised question stands for which words of the question as it was typed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from kg_store.terms import PSEUDONYM, is_mask_word

_BETWEEN_WORDS = re.compile(r"(?<=\w) (?=\w)")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def pseudonyms_in(texts: Sequence[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Every pseudonym of `texts`, in order of appearance, each once: those known, and words of that shape."""
    words = (word for text in texts for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in words if word in known or PSEUDONYM.fullmatch(word)))


def surfaces_of(typed: str, shown: str, known: Collection[str] = ()) -> dict[str, str]:
    """Pseudonym -> the typed words that it replaced, in order of appearance; empty if the texts don't fit.

    A reader of a question knows its topic by grammar. Here the unchanged words of both texts are laid side by
    side, so that a pseudonym of a word that only happens to be a name is not taken for the topic.
    """
    names = set(pseudonyms_in([shown], known))
    # The opaque word of a masked relation stands for words that were typed, too, but is no thing.
    masks = {word for word in _WORD.findall(shown) if is_mask_word(word)}
    parts = _parts(shown, names | masks)
    # Words that follow a name may stand in it too ("Up in the Air in"): whatever lets all parts fit is right.
    pattern = "".join("(.+?)" if part in names else ".+?" if part in masks else _read_apart(part) for part in parts)
    fit = re.fullmatch(pattern, typed, re.DOTALL)
    surfaces: dict[str, str] = {}
    for name, surface in zip([part for part in parts if part in names], fit.groups() if fit else (), strict=False):
        surfaces.setdefault(name, surface)
    return surfaces


def topic_among(surfaces: Mapping[str, str], topic: str) -> str:
    """The pseudonym whose words are `topic`, or hold it; "" if there is none."""
    wanted = _folded(topic)
    folded = {name: _folded(surface) for name, surface in surfaces.items()}
    same = [name for name, surface in folded.items() if surface == wanted]
    around = [name for name, surface in folded.items() if wanted and wanted in surface]
    return (same + around + [""])[0]


def _parts(shown: str, names: Collection[str]) -> list[str]:
    """`shown` cut into pseudonyms and what stands between them."""
    parts: list[str] = []
    position = 0
    for match in _WORD.finditer(shown):
        if match[0] in names:
            parts += [shown[position : match.start()], match[0]]
            position = match.end()
    return [part for part in (*parts, shown[position:]) if part]


def _read_apart(part: str) -> str:
    """A pattern of `part` as it was typed: words that were run together are read apart before they leave. Around
    names the spaces are those that were typed."""
    return r"\ ?".join(map(re.escape, _BETWEEN_WORDS.split(part)))


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())
