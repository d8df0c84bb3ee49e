"""Proposes a policy for an unknown graph, from its predicates and the objects that they lead to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kg_store.errors import LoadError
from kg_store.proposals.predicate_profiles import PredicateProfile, find_custom_schema, profile_predicates
from kg_store.proposals.preview import preview
from kg_store.proposals.table_proposals import propose_tables, words_for_rows
from kg_store.sources.policy import MediatorPolicy, Policy, RelationPolicy, TriplesPolicy
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph
from kg_store.sources.reader import Fraction, all_of, errors_of, read_sources
from kg_store.sources.table_files import bare_name, is_text
from kg_store.sources.table_policy import TablePolicy
from kg_store.sources.vocabulary import NAME_PREDICATES, RDFS, SUBCLASS_PREDICATES
from kg_store.text.labels import local_name

if TYPE_CHECKING:
    import rdflib

__all__ = ["preview", "propose", "propose_policy", "read_and_propose"]

_LABEL = RDFS + "label"
_INVERSE_PREFIX = "~"
_INSTANCE_OF = re.compile(r"https?://[^/]+/prop/direct/P31")
_SUBCLASS_OF = re.compile(r"https?://[^/]+/prop/direct/P279")
_FREEBASE_ID = re.compile(r"[mg]\.[0-9a-z_]+")
_STATEMENT = "/entity/statement/"
# Local names of predicates whose literals are names, best first, in lower case without punctuation.
_NAMES = (
    "preflabel label fullname name legalname displayname title altlabel alias nick nickname alternatename "
    "alternativename othername aka officialname commonname"
).split()
# Such predicates often hold something else ("Dr", a job); they are names only if this share of values is distinct.
_DOUBTFUL = {"title": 0.5, "label": 0.5, "alias": 0.5, "nick": 0.5, "nickname": 0.5, "name": 0.1}
_NO_HEADER = (
    "was read as rows without a header, whose columns are called by their numbers: where its first line is one, say "
    "`header_row = 1` in its [[tables]] of the policy"
)
# The style of each predicate; a given name is paired with a family name, a first with a last name.
_FIRST = {"firstname": "first", "forename": "first", "givenname": "given", "given": "given"}
_LAST = {"lastname": "first", "surname": "first", "familyname": "given", "family": "given"}
_TEXT_NAME_SHARE = 0.5
_TEXT_NAME_SEGMENTS = frozenset({"name", "alias", "alt_name"})
_LEAF_SHARE = 0.95
_LIKE_NAMES = 0.9
# A relation leads to values only if few of its objects are subjects: a film may be called 1984, most years are values.
_MAX_SUBJECTS = 0.3


def propose_policy(sources: Sequence[Path] | rdflib.Graph) -> Policy:
    """Returns a policy for an unknown graph. Raises LoadError."""
    return read_and_propose(sources)[1]


def read_and_propose(
    sources: Sequence[Path] | rdflib.Graph,
    progress: Fraction = lambda _done: None,
    triples: tuple[TriplesPolicy, ...] = (),
) -> tuple[RawGraph, Policy]:
    """Returns the triples of `sources`, and the policy under which they were read.

    `triples` lists text files that are not tables. A file that cannot be read is left out: the policy lists it in
    `skip`, and a note gives the reason. Raises LoadError if none can be read.
    """
    if not isinstance(sources, Sequence):
        raw = read_sources(sources, progress, (), triples)
        return raw, propose(raw, (), triples)
    listed = {each.file for each in triples}
    errors: dict[Path, LoadError] = {}
    without_header: set[Path] = set()
    while True:
        paths = [path for path in sources if path not in errors]
        texts = [] if None in listed else [path for path in paths if bare_name(path) not in listed]
        try:
            found = propose_tables(texts, without_header)
            tables, unread = found.tables, found.unread
            if not unread:
                raw = read_sources(paths, progress, tables, triples)
                break
        except LoadError as error:
            unread = errors_of(paths, tables, triples) if len(paths) > 1 else dict.fromkeys(paths, error)
            if not unread:
                raise
        rows = _rows_alone(unread, texts) - without_header if len(sources) > 1 else set()
        without_header |= rows
        errors |= {path: error for path, error in unread.items() if path not in rows}
        if len(errors) == len(sources):
            raise all_of([*errors.values()]) from None
    raw.notes = (*(f"NOT READ: {error}" for error in errors.values()), *found.notes, *raw.notes)
    raw.notes += tuple(f"{path.name} {_NO_HEADER}" for path in sorted(without_header - errors.keys()))
    policy = propose(raw, tables, triples)
    # A name that a file that was read has too is not listed, or that file would be skipped as well.
    skip = {bare_name(path): None for path in errors if bare_name(path) not in map(bare_name, paths)}
    return raw, policy.model_copy(update={"skip": tuple(skip)})


def _rows_alone(unread: Mapping[Path, LoadError], texts: Sequence[Path]) -> set[Path]:
    """Returns the text files that are neither triples nor a table with a header: they failed on their first line.

    They are then read as rows without a header, so that no cell becomes a word of the schema. This is for several
    files only; a single file of that sort is an error, and its owner is asked.
    """
    return {path for path, error in unread.items() if path in texts and is_text(path) and (error.line or 1) == 1}


def propose(raw: RawGraph, tables: tuple[TablePolicy, ...] = (), triples: tuple[TriplesPolicy, ...] = ()) -> Policy:
    """Returns a policy for triples that have been read already."""
    prefix = _inverse_prefix(raw)
    profiles = profile_predicates(raw, prefix)
    names, composites = _names(profiles)
    schema = find_custom_schema(raw)
    chosen = {*names, *(part for parts in composites for part in parts)}
    relations = {
        predicate: RelationPolicy(value_kind=kind)
        for predicate, profile in profiles.items()
        if predicate not in chosen
        and (kind := profile.value_kind) is not None
        and profile.is_text
        and 1.0 - profile.leaf_share <= _MAX_SUBJECTS
    }
    default = Policy()
    if tables and names and _LABEL not in names:
        # Names in tables are read as rdfs:label, so it must be listed even if no row has one.
        names = (_LABEL, *names)
    return Policy(
        names=names or default.names,
        composite_names=composites,
        type_predicates=(*default.type_predicates, *_matching(profiles, _INSTANCE_OF)),
        subclass_predicates=(*SUBCLASS_PREDICATES, *_matching(profiles, _SUBCLASS_OF), *schema.subclass_predicates),
        schema_predicates=(*default.schema_predicates, *schema.predicates),
        schema_classes=(*default.schema_classes, *schema.classes),
        inverse_prefix=prefix,
        mediators=MediatorPolicy(pattern=_mediator_pattern(raw)),
        relations=relations,
        classes=words_for_rows(tables),
        tables=tables,
        triples=triples,
    )


def _matching(profiles: Mapping[str, PredicateProfile], pattern: re.Pattern[str]) -> tuple[str, ...]:
    return tuple(sorted(predicate for predicate in profiles if pattern.fullmatch(predicate)))


def _inverse_prefix(raw: RawGraph) -> str | None:
    """Returns `~` if at least half of the predicates that start with it also occur without it; else None."""
    texts = {raw.text(term) for term in set(raw.predicates.tolist()) if not raw.is_iri(term)}
    marked = {text for text in texts if text.startswith(_INVERSE_PREFIX)}
    paired = sum(text.removeprefix(_INVERSE_PREFIX) in texts for text in marked)
    return _INVERSE_PREFIX if marked and paired * 2 >= len(marked) else None


def _names(profiles: Mapping[str, PredicateProfile]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Returns the name predicates, best first, and pairs of predicates for first and last name."""
    ranked = []
    for predicate, profile in profiles.items():
        if predicate in NAME_PREDICATES:
            ranked.append((0, NAME_PREDICATES.index(predicate), predicate))
        elif (place := _name_place(profile)) is not None:
            ranked.append((1, place, predicate))
    pairs = _pairs(profiles)
    if not ranked and not pairs:
        ranked = [(2, 0, predicate) for predicate in _like_names(profiles)]
    return tuple(predicate for *_, predicate in sorted(ranked)), pairs


def _like_names(profiles: Mapping[str, PredicateProfile]) -> list[str]:
    """Returns the most frequent predicate whose texts nearly all look like names.

    It is used if no predicate is called a name. The list has one predicate or none.
    """
    texts = (each for each in profiles.values() if each.is_iri and each.value_kind is None)
    leaves = (each for each in texts if each.literal_share >= _LEAF_SHARE)
    likely = [each for each in leaves if min(each.distinct_share, each.named_share) >= _LIKE_NAMES]
    return [max(likely, key=lambda each: each.uses).predicate] if likely else []


def _name_place(profile: PredicateProfile) -> int | None:
    word = _plain(profile.predicate)
    if not profile.is_iri:
        leaf = profile.leaf_share >= _LEAF_SHARE and profile.distinct_share >= _TEXT_NAME_SHARE
        segment = re.split(r"[./]", profile.predicate.lower())[-1]
        return len(_NAMES) if leaf and segment in _TEXT_NAME_SEGMENTS and profile.value_kind is None else None
    is_name = word in _NAMES and profile.literal_share >= _LEAF_SHARE and profile.value_kind is None
    return _NAMES.index(word) if is_name and profile.distinct_share >= _DOUBTFUL.get(word, 0.0) else None


def _pairs(profiles: Mapping[str, PredicateProfile]) -> tuple[tuple[str, ...], ...]:
    """Returns pairs of predicates of one namespace: given with family name, first with last name, else any two."""
    texts = [each.predicate for each in profiles.values() if each.is_iri and each.literal_share >= _LEAF_SHARE]
    firsts = {(_namespace(each), _FIRST[_plain(each)]): each for each in texts if _plain(each) in _FIRST}
    lasts = {(_namespace(each), _LAST[_plain(each)]): each for each in texts if _plain(each) in _LAST}
    pairs = [(first, lasts[key]) for key, first in firsts.items() if key in lasts]
    paired = {predicate for pair in pairs for predicate in pair}
    for (namespace, _), first in firsts.items():
        rest = [last for (of, _), last in lasts.items() if of == namespace and last not in paired]
        if first not in paired and rest:
            pairs.append((first, rest[0]))
            paired |= {first, rest[0]}
    return tuple(pairs)


def _namespace(predicate: str) -> str:
    return predicate.removesuffix(local_name(predicate))


def _plain(predicate: str) -> str:
    return re.sub(r"[^a-z]", "", local_name(predicate).lower())


def _mediator_pattern(raw: RawGraph) -> str | None:
    """Returns a regular expression for mediators: Freebase's ids and Wikidata's statement nodes; None without any."""
    found = set()
    for position in np.flatnonzero(np.bincount(raw.subjects)).tolist():
        term = raw.terms[position]
        if term[0] == TEXT_MARK and _FREEBASE_ID.fullmatch(term[1:]):
            found.add(f"^{_FREEBASE_ID.pattern}$")
        elif term[0] == "<" and _STATEMENT in term:
            found.add(_STATEMENT)
    return "|".join(sorted(found)) or None
