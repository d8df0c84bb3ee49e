"""Names as sources write them: escapes undone, and what stands around a name (titles, years, numbers) taken off."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from kg_store.loading.node_names import Names, unique

MAX_ESCAPES = 3
"""Exports escape what is escaped already (`&amp;uuml;`): so often is undone."""
MIN_WORDS = 2
"""Of a name that is left: one word alone may be anything, and is guarded as a part of the whole."""

_ESCAPED = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|(?:%[0-9a-f]{2})+", re.IGNORECASE)
_TITLES = re.compile(
    r"(?:(?:dr|prof|professor|mr|mrs|ms|mx|sir|dame|rev|hon|herr|frau|med|habil|dipl|ing|mag|mme|mlle|sra?"
    r"|dott)(?:\.\s*|\s+|-(?=ing)))+",
    re.IGNORECASE,
)
_DEGREES = re.compile(r"(?:,\s*|\s+)(?:ph\.?\s?d|m\.?d|m\.?sc|b\.?sc|ll\.?m|mba|esq)\.?(?=\s*(?:,|$))", re.IGNORECASE)
_BRACKETS = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|\{([^{}]*)\}")
_NUMBER = re.compile(
    r"[,;]?\s*#\s*\d[\w./-]*|[,;]?\s*\b(?:id|nr|no|ref|mrn|rec|record|case|patient)\b[.:#]*\s*\d[\w./-]*"
    r"|[,;]\s*(?!(?:1\d|20)\d\d\b)\d{3,}\s*$",
    re.IGNORECASE,
)
_YEARS = re.compile(r"(?:[*†]|\bborn\b|\bgeb\.)?\s*\b(?:1\d|20)\d{2}\b")
_BIRTH_NAME = re.compile(r"[,;]?\s+(?:geb\.|geborene?r?\s|n[ée]e\s)\s*|,\s*born\s+", re.IGNORECASE)
_ODD = re.compile(
    rf"[()\[\]{{}}#;&%]|^{_TITLES.pattern}|\s(?:geb|n[ée]e|nr|no|id|mrn)\b|[,\s](?:ph\.?\s?d|[mb]\.?sc|m\.?d|llm|mba|esq)\b"
    r"|,\s*(?:\d|born)",
    re.IGNORECASE,
)
"""Signs in a name that may have more spellings than its own; most hold none of them."""
_EDGES = " \t,;:/|-–—.*†"


def undone(text: str) -> str:
    """`text` with entities and percent escapes undone; as it is where there are none."""
    plain = text
    for _ in range(MAX_ESCAPES):
        before, plain = plain, _ESCAPED.sub(_meant, plain)
        if plain == before:
            break
    return text if plain == text else " ".join(unicodedata.normalize("NFC", plain).split())


def with_spellings(named: Names) -> Names:
    """Each node's names without escapes, in their order, then those inside them, then those that had escapes.

    `Dr. Ines Brackwede (1961) geb. Tarn, #4711` is also Ines Brackwede and Ines Tarn, unless another is called so.
    """
    odd = {node: names for node, names in named.items() if any(map(_ODD.search, names))}
    if not odd:
        return named
    owned = {undone(name).casefold() for names in named.values() for name in names}
    found = dict(named)
    for node, names in odd.items():
        plain = [undone(name) for name in names]
        inner = (each for name in plain for each in inner_names(name) if each.casefold() not in owned)
        found[node] = unique([*plain, *inner, *names])
    return found


def _meant(escape: re.Match[str]) -> str:
    """The escape itself where it is none."""
    if escape[0][0] == "&":
        return html.unescape(escape[0])
    try:
        return unquote(escape[0], errors="strict")
    except UnicodeDecodeError:
        return escape[0]


def inner_names(name: str) -> Iterator[str]:
    """The bare name within a written one, and the one of before a marriage, with the same first names."""
    bare = _NUMBER.sub(" ", _BRACKETS.sub(_opened, name))
    own, *former = [_trimmed(part) for part in _BIRTH_NAME.split(bare)]
    first_names = own.partition(",")[2] or own.rpartition(" ")[0]
    others = [part if " " in part else f"{first_names} {part}".strip() for part in former if part]
    for found in (own, *others):
        if found != name.strip(_EDGES) and len(found.split()) >= MIN_WORDS:
            yield found


def _opened(brackets: re.Match[str]) -> str:
    """Nothing where brackets hold years or a record's number alone, else a birth name, else what stood there."""
    content = next(group for group in brackets.groups() if group is not None)
    if not _NUMBER.sub("", _YEARS.sub("", content)).strip(_EDGES + "0123456789"):
        return " "
    return content if _BIRTH_NAME.match(f", {content}") else brackets[0]


def _trimmed(part: str) -> str:
    part = " ".join(part.split()).strip(_EDGES)
    titles = _TITLES.match(part)
    return _DEGREES.sub("", part[titles.end() :] if titles else part).strip(_EDGES)
