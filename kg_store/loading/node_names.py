"""Names of nodes: literals that the policy calls names, readable forms of IRIs, and cleaned spellings of both.

Also finds the nameless nodes that are mediators.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from kg_store.lexicon.lexicon import in_lexicon
from kg_store.loading.sorted_triples import Flags, NodeClasses, SortedTriples, property_twins
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TermIds, TermKind, language_of, text_of
from kg_store.text.abbreviations import ABBREVIATIONS
from kg_store.text.labels import local_name, readable
from kg_store.text.words import pattern_is_in

Names = dict[int, tuple[str, ...]]
"""For each node (the position of its term): the preferred name, then aliases, each spelling once."""

_UUID = re.compile(r"([0-9a-fA-F]{8})-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_OPAQUE = re.compile(
    r"(?:(?P<prefix>[A-Za-z][A-Za-z_]*?)[-_:.])??(?P<id>" + _UUID.pattern + r"|\d+(?:[-_.]\d+)*|[0-9a-fA-F]{12,})"
)
_EXPLAINED = re.compile(r"(\w[^()]+?)\s*\([^()]+\)")
"""A name followed by an explanation in brackets: `Queen (band)`."""
_PAGE = re.compile(r"https?://([^/]+/.*[^/])/+")
_MIN_ALIAS_CHARS = 3


def given_names(triples: SortedTriples, policy: Policy) -> Names:
    """Returns each node's names from the triples, the best first.

    They are in the policy's order of predicates, English or without a language first. Names joined from several
    predicates (first and last name) follow, then names without an explanation: Queen for `Queen (band)`.
    """
    spelled = _spelled(triples, policy.names, triples.names)
    for parts in policy.composite_names:
        by_part = [_first_texts(triples, part) for part in parts]
        for node in by_part[0].keys() | by_part[-1].keys():
            words = [texts[node] for texts in by_part if node in texts]
            if len(words) > 1:
                spelled[node].append(" ".join(words))
    # `Queen (band)` is also called Queen, unless another node has that name.
    taken = {text.casefold() for texts in spelled.values() for text in texts}
    found = {}
    for node, texts in spelled.items():
        bare = (match[1] for text in texts if text.endswith(")") and (match := _EXPLAINED.fullmatch(text)))
        found[node] = unique([*texts, *(each for each in bare if each.casefold() not in taken)])
    return found


def labels_by_language(triples: SortedTriples, policy: Policy) -> dict[int, tuple[tuple[str, str], ...]]:
    """Returns (language, label) pairs of every node that has different labels: the first label in each language.

    All labels of a node are from one predicate, the one that the policy lists first.
    """
    raw = triples.raw
    rank = {predicate: position for position, predicate in enumerate(policy.names)}
    told: dict[int, tuple[int, dict[str, str]]] = {}
    has_several = np.bincount(raw.subjects[triples.names], minlength=len(raw.terms)) > 1
    for triple in np.flatnonzero(triples.names & has_several[raw.subjects]).tolist():
        literal = raw.literal(raw.objects[triple])
        node, place = int(raw.subjects[triple]), rank[raw.text(raw.predicates[triple])]
        if node not in told or place < told[node][0]:
            told[node] = place, {}
        if place == told[node][0]:
            told[node][1].setdefault(main_language(literal.language), literal.lexical.strip())
    several = {node: each for node, (_, each) in told.items() if len(set(each.values())) > 1}
    return {node: tuple(sorted((tag, text) for tag, text in each.items() if tag)) for node, each in several.items()}


def labels_of(triples: SortedTriples, policy: Policy) -> dict[str, str]:
    """Returns the best label of each predicate and class that has one, by its IRI or text."""
    raw = triples.raw
    spelled = _spelled(triples, policy.names, triples.labels & speaks_of_schema(triples))
    labels = {raw.text(node): texts[0] for node, texts in spelled.items()}
    for predicate, twin in property_twins(raw).items():
        if (label := labels.get(raw.text(twin))) is not None:
            labels.setdefault(raw.text(predicate), label)
    return labels


def speaks_of_schema(triples: SortedTriples) -> Flags:
    """Returns a flag for each triple: its subject is a predicate, a class or other schema."""
    raw = triples.raw
    worded = triples.schema.copy()
    worded[raw.predicates] = True
    worded[raw.objects[triples.types]] = True
    worded[raw.objects[triples.subclasses]] = True
    flags: Flags = worded[raw.subjects]
    return flags


def local_names(terms: Mapping[int, str], words: Mapping[int, str]) -> Names:
    """Returns names made of IRIs and cells, preferred first. `words` holds the class words, for plain ids.

    For example, `29414805` of class Purchase is named `29414805` and `purchase 29414805`.
    """
    named = {node: _local(term, words.get(node, "")) for node, term in terms.items()}
    used = Counter(texts[0] for texts in named.values())
    # If two nodes share a shortened id, their whole ids come first.
    return {node: unique(texts if used[texts[0]] == 1 else [*texts[1:], texts[0]]) for node, texts in named.items()}


def local_aliases(term: str, word: str) -> list[str]:
    """Returns a further spelling for a node that has names already: the last part of its IRI.

    If that part is a number, the class word stands in front: `patient 12345`. Empty if the part is too short.
    """
    if term[0] != "<":
        return []
    local = local_name(text_of(term))
    if local.isdigit():
        return [f"{word} {local}"] if word else []
    return [local.strip()] if len(local) >= _MIN_ALIAS_CHARS else []


def main_language(tag: str) -> str:
    """Returns the language of a tag without region and script: `de` for `de-AT`."""
    return tag.partition("-")[0].lower()


def unique(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns `texts` stripped, without empty ones, each once."""
    found = dict.fromkeys([text.strip() for text in texts])
    found.pop("", None)
    return tuple(found)


def _spelled(triples: SortedTriples, predicates: Sequence[str], mask: Flags) -> dict[int, list[str]]:
    raw = triples.raw
    rank = {predicate: position for position, predicate in enumerate(predicates)}
    chosen = np.flatnonzero(mask)
    subjects, objects = raw.subjects[chosen], raw.objects[chosen].tolist()
    used, at = np.unique(raw.predicates[chosen], return_inverse=True)
    places = np.array([rank[raw.text(predicate)] for predicate in used.tolist()], dtype=np.int64)[at]
    languages = (language_of(raw.terms[term]) for term in objects)
    foreign = np.fromiter((not (each.startswith("en") or not each) for each in languages), np.bool_, len(objects))
    order = np.lexsort((foreign, places, subjects))
    found: dict[int, list[str]] = defaultdict(list)
    for node, term in zip(subjects[order].tolist(), [objects[each] for each in order.tolist()], strict=True):
        found[node].append(raw.text(term))
    return found


def _first_texts(triples: SortedTriples, predicate: str) -> dict[int, str]:
    raw = triples.raw
    ids: TermIds = np.unique(raw.predicates)
    of_text = [term for term in ids.tolist() if raw.text(term) == predicate]
    texts: dict[int, str] = {}
    for triple in np.flatnonzero(np.isin(raw.predicates, of_text)).tolist():
        term = raw.terms[raw.objects[triple]]
        if term[0] not in "<_":
            texts.setdefault(int(raw.subjects[triple]), text_of(term).strip())
    return texts


def _local(term: str, word: str) -> list[str]:
    """Returns spellings of an IRI or a cell, the preferred one first.

    The second one is never shortened, so that no other node has it: `purchase 29414805`.
    """
    if term[0] != "<":
        text = text_of(term)
        return [" ".join(text.replace("_", " ").split()) or text, text]
    iri = text_of(term)
    local = local_name(iri) or iri
    match = _OPAQUE.fullmatch(local)
    if match is None:
        page = _PAGE.fullmatch(iri)
        # A node without a class whose IRI looks like a web page is known by its address.
        return [page[1], readable(local), local] if page and not word else [readable(local) or local, local]
    uuid = _UUID.fullmatch(match.group("id"))
    short = uuid.group(1) if uuid else match.group("id").replace("_", " ")
    segments = re.split(r"[#/:]", iri.partition("://")[2].rstrip("/#"))
    prefix = word or readable(match.group("prefix") or (segments[-2] if len(segments) > 2 else "")).lower()
    whole = f"{prefix} {match.group('id')}".strip()
    # The preferred name has no class word: Maroon 5 is not called "band 5".
    shown = readable(local) if match.group("prefix") and not uuid else local
    return [shown, whole, f"{prefix} {short}".strip(), local]


MAX_ESCAPES = 3
"""The most times that escapes are undone; exports may escape text twice (`&amp;uuml;`)."""
MIN_WORDS = 2
"""The fewest words of a name taken from inside another; one word alone is guarded as a part of the whole name."""

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
"""Signs that a name may have more spellings than its own; most names hold none of them."""
_EDGES = " \t,;:/|-–—.*†"


def undone(text: str) -> str:
    """Returns `text` with HTML entities and percent escapes undone; unchanged if there are none."""
    plain = text
    for _ in range(MAX_ESCAPES):
        before, plain = plain, _ESCAPED.sub(_meant, plain)
        if plain == before:
            break
    return text if plain == text else " ".join(unicodedata.normalize("NFC", plain).split())


def with_spellings(named: Names) -> Names:
    """Returns each node's names with further spellings.

    First come the names without escapes (`&amp;`, `%20`), then the names inside them, then the escaped originals. For
    example, `Dr. Ines Brackwede (1961) geb. Tarn, #4711` is also Ines Brackwede and Ines Tarn, unless another node has
    that name. `Mtg House` is also Meeting House, if nothing else is.
    """
    named = _with_short_forms_written_out(named)
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


def _with_short_forms_written_out(named: Names) -> Names:
    full: dict[int, list[str]] = {}
    for node, names in named.items():
        if written := [each for name in names if (each := _written_out(name)) != name]:
            full[node] = written
    if not full:
        return named
    owned = Counter(name.casefold() for names in (*named.values(), *full.values()) for name in set(names))
    found = dict(named)
    for node, written in full.items():
        found[node] = unique([*named[node], *(name for name in written if owned[name.casefold()] == 1)])
    return found


def _written_out(name: str) -> str:
    """Returns a name with its short forms written out; a short form that is a word (`cat`) stays as it is."""
    short, words = _short_forms(), name.split()
    if short.isdisjoint(map(str.lower, words)):
        return name
    full = (ABBREVIATIONS[word.lower().rstrip(".")] if word.lower() in short else word for word in words)
    return " ".join(
        each if each == word or word.islower() else each.capitalize() for word, each in zip(words, full, strict=True)
    )


@cache
def _short_forms() -> frozenset[str]:
    found = [each for each in ABBREVIATIONS if len(each) > 2 and not in_lexicon(each)]
    return frozenset([*found, *(f"{each}." for each in found)])


def _meant(escape: re.Match[str]) -> str:
    """Returns the text that an escape stands for; the match itself if it is no valid escape."""
    if escape[0][0] == "&":
        return html.unescape(escape[0])
    try:
        return unquote(escape[0], errors="strict")
    except UnicodeDecodeError:
        return escape[0]


def inner_names(name: str) -> Iterator[str]:
    """Yields the bare name inside `name`, without titles, numbers and brackets, and the full birth name."""
    bare = _NUMBER.sub(" ", _BRACKETS.sub(_opened, name))
    own, *former = [_trimmed(part) for part in _BIRTH_NAME.split(bare)]
    first_names = own.partition(",")[2] or own.rpartition(" ")[0]
    others = [part if " " in part else f"{first_names} {part}".strip() for part in former if part]
    for found in (own, *others):
        if found != name.strip(_EDGES) and len(found.split()) >= MIN_WORDS:
            yield found


def _opened(brackets: re.Match[str]) -> str:
    """Returns the text that replaces a pair of brackets inside a name.

    That is a space if they hold only years or a record number, their content if it is a birth name, else the brackets
    as they are.
    """
    content = next(group for group in brackets.groups() if group is not None)
    if not _NUMBER.sub("", _YEARS.sub("", content)).strip(_EDGES + "0123456789"):
        return " "
    return content if _BIRTH_NAME.match(f", {content}") else brackets[0]


def _trimmed(part: str) -> str:
    part = " ".join(part.split()).strip(_EDGES)
    titles = _TITLES.match(part)
    return _DEGREES.sub("", part[titles.end() :] if titles else part).strip(_EDGES)


def find_mediators(
    triples: SortedTriples, policy: Policy, kinds: npt.NDArray[np.uint8], classes: NodeClasses, named: Names
) -> Flags:
    """Returns a flag for each term: by the policy it is a mediator, a node that only joins others.

    A node with a name never is one.
    """
    nameless = triples.nodes & (kinds != TermKind.LITERAL)
    nameless[list(named)] = False
    mediating: Flags = nameless & (kinds == TermKind.BLANK) & policy.mediators.blank_nodes
    pattern = policy.mediators.pattern
    wanted = frozenset(policy.mediators.classes)
    if pattern is None and not wanted:
        return mediating
    for term in np.flatnonzero(nameless & ~mediating).tolist():
        is_like = (
            pattern is not None and kinds[term] != TermKind.BLANK and pattern_is_in(pattern, triples.raw.text(term))
        )
        mediating[term] = is_like or bool(wanted & classes.iris_of(term))
    return mediating
