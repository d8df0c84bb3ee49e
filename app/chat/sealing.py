"""Encrypts the names of replies to the caller's public key, and finds facts that tell apart things with one name.

The encrypted part of a reply is called its capsule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from app.privacy.pseudonyms import PseudonymTable, words_in
from client_sdk.crypto.sealing import (
    capsule_context,
    cases_context,
    excerpt_context,
    memory_context,
    parse_public_key,
    preview_context,
    seal,
    to_base64url,
    trace_context,
)
from client_sdk.protocol import (
    Capsule,
    CapsuleContent,
    CaseList,
    ChatAnswer,
    Fact,
    GraphExcerpt,
    GraphPreview,
    GraphTable,
    MemoryPage,
    Names,
    OfferList,
    TraceContent,
)
from kg_store.catalog import PrivateGraph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.schema import MASKED_KIND, kinds_of_masked, mask_word, masks_of
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.storage.vault import readable_name
from kg_store.terms import Hop, Mid, NodeKind, ValueKind, as_mids
from kg_store.text.inflection import plural, with_article

PAD_BYTES: Final = 512
ExcerptT = TypeVar("ExcerptT", GraphExcerpt, GraphTable)
MemoryT = TypeVar("MemoryT", MemoryPage, OfferList)


def seal_names(public_key_text: str, answer: ChatAnswer, table: Mapping[str, Names]) -> ChatAnswer:
    """Returns `answer` with its names encrypted in a capsule. Raises BadPublicKeyError.

    Afterwards only `usage` may change, as the capsule is bound to all else. Promise: only the holder of the private
    key reads the table of names, and only together with the exact text, evidence and choices of this answer, as long
    as the cipher suite is unbroken. Limit: the capsule's length reveals the total length of the names, rounded up to
    512 bytes. Not promised: that the caller keeps the names secret.
    """
    content = CapsuleContent(answer_id=answer.id, table=dict(table))
    return answer.model_copy(update={"capsule": _sealed(public_key_text, content, capsule_context(answer))})


def seal_trace(public_key_text: str, content: TraceContent) -> Capsule:
    """Returns the prompts and replies behind one answer, with their names, as a capsule. Raises BadPublicKeyError.

    Everything is encrypted, also the model's words, because it may have guessed a name. Promise and limits: as
    `seal_names`.
    """
    return _sealed(public_key_text, content, trace_context(content.answer_id))


def seal_preview(public_key_text: str, preview: GraphPreview, table: Mapping[str, Names]) -> GraphPreview:
    """Returns `preview` with the names of its sample encrypted in a capsule. Raises BadPublicKeyError.

    Promise and limits: as `seal_names`.
    """
    content = CapsuleContent(answer_id=preview.id, table=dict(table))
    return preview.model_copy(update={"capsule": _sealed(public_key_text, content, preview_context(preview))})


def seal_cases(public_key_text: str, cases: CaseList, table: Mapping[str, Names]) -> CaseList:
    """Returns `cases` with the names of their samples encrypted in a capsule. Raises BadPublicKeyError.

    Promise and limits: as `seal_names`.
    """
    content = CapsuleContent(answer_id=cases.report.graph, table=dict(table))
    return cases.model_copy(update={"capsule": _sealed(public_key_text, content, cases_context(cases))})


def seal_excerpt(public_key_text: str, excerpt: ExcerptT, table: Mapping[str, Names]) -> ExcerptT:
    """Returns an excerpt of a graph, or a table, with its names encrypted in a capsule. Raises BadPublicKeyError.

    Promise and limits: as `seal_names`.
    """
    content = CapsuleContent(answer_id=excerpt.id, table=dict(table))
    return excerpt.model_copy(update={"capsule": _sealed(public_key_text, content, excerpt_context(excerpt))})


def seal_memory(public_key_text: str, page: MemoryT, table: Mapping[str, Names]) -> MemoryT:
    """Returns a list of told sentences with its names encrypted in a capsule. Raises BadPublicKeyError.

    Promise and limits: as `seal_names`.
    """
    content = CapsuleContent(answer_id=page.id, table=dict(table))
    return page.model_copy(update={"capsule": _sealed(public_key_text, content, memory_context(page))})


def _sealed(public_key_text: str, content: BaseModel, context: bytes) -> Capsule:
    plain = content.model_dump_json().encode()
    # The JSON is padded with spaces, so that the length of the ciphertext does not give single names away.
    padded = plain.ljust(-(-len(plain) // PAD_BYTES) * PAD_BYTES)
    key = parse_public_key(public_key_text)
    return Capsule(suite=key.suite.name, sealed=to_base64url(seal(padded, key, context)))


def names_of_masks(
    graph: PrivateGraph, texts: Iterable[str], words: Mapping[str, str] | None = None
) -> dict[str, Names]:
    """Returns the real label of each masked relation whose mask (an opaque word) occurs in `texts`.

    `words`: for each mask of the graph, the other word that was sent to the model for it. Pass it if `texts` are what
    was sent; the result is then by these other words.
    """
    masks = masks_of(graph.blind.schema)
    if not masks:
        return {}
    mid_of = {(words or {}).get(word, word): mid for mid, word in masks.items()}
    said = {found.word for text in texts for found in words_in(text)} & mid_of.keys()
    records = graph.vault.records([mid_of[word] for word in said])
    held = {word: records[mid_of[word]] for word in sorted(said) if mid_of[word] in records}
    return {word: Names(names=[readable_name(record)], total=1) for word, record in held.items()}


def names_of_kinds(graph: PrivateGraph, kinds: Iterable[str]) -> dict[str, Names]:
    """Returns the own words of those `kinds` that are masked, or called by the opaque word of a masked relation."""
    listed = [*kinds]
    found = {concept: mid for mid, concept in kinds_of_masked(graph.blind.schema).items() if concept in listed}
    records = graph.vault.records([mid for concept, mid in found.items() if concept.startswith(MASKED_KIND)])
    own = {concept: readable_name(records[mid]) for concept, mid in found.items() if mid in records}
    masks = names_of_masks(graph, listed)
    for kind in listed:
        words = kind
        for mask, names in masks.items():
            words = words.replace(mask, names.names[0])
        if words != kind:
            own[kind] = words
    return {kind: Names(names=[words], total=1) for kind, words in own.items()}


def with_kinds_to_restore(
    answer: ChatAnswer, names: Mapping[str, Names], graph: PrivateGraph
) -> tuple[ChatAnswer, dict[str, Names]]:
    """Returns `answer` with an opaque word wherever it names a masked kind ("masked items"), and `names` with these.

    The asker reads the kind's own word in their place, in the same number and with its article. Promise: the texts of
    the result hold no word of a masked kind; only the names do, which are to be sealed.
    """
    # In versions that were loaded earlier, a masked kind is called by a noun alone, which other words may equal.
    found = kinds_of_masked(graph.blind.schema).items()
    kinds = {mid: concept for mid, concept in found if concept.startswith(MASKED_KIND)}
    records, named = graph.vault.records([*kinds]) if kinds else {}, dict(names)
    listed = [item.pseudonym for item in answer.entities if item.concept == "kind" and item.pseudonym in named]
    for mid, concept in kinds.items():
        if mid not in records:
            continue
        one = _KindWords(mid, concept, readable_name(records[mid]), masks_of(graph.blind.schema).values())
        content = _replaced(answer.model_dump(mode="json"), one)
        answer = ChatAnswer.model_validate(content) if one.names else answer
        for word in listed:
            own = [one.in_own_words(text) for text in named[word].names]
            named[word] = named[word].model_copy(update={"names": own})
        named |= one.names
    return answer, named


class _KindWords:
    """Puts an opaque word in the place of a masked kind's concept, one for each form. `names`: their meanings."""

    def __init__(self, mid: int, concept: str, own: str, taken: Iterable[str]) -> None:
        self._concept, self._own, self._taken = concept, own, set(taken)
        self._key = mid.to_bytes(8, "big", signed=True)
        forms = "|".join(re.escape(each) for each in (plural(concept), concept))
        self._form = re.compile(rf"\b(an? )?({forms})\b", re.IGNORECASE)
        self.names: dict[str, Names] = {}

    def replaced(self, text: str) -> str:
        return self._form.sub(self._opaque, text)

    def in_own_words(self, text: str) -> str:
        return self._form.sub(self._own_form, text)

    def _opaque(self, found: re.Match[str]) -> str:
        form = self._own_form(found)
        word = mask_word(self._key, form, self._taken)
        self.names[word] = Names(names=[form], total=1)
        return word

    def _own_form(self, found: re.Match[str]) -> str:
        form = self._own if found[2].lower() == self._concept.lower() else plural(self._own)
        form = with_article(form) if found[1] else form
        return form[:1].upper() + form[1:] if found[0][:1].isupper() else form


def _replaced(content: Any, kind: _KindWords) -> Any:
    """Returns the JSON value `content` with the concept of `kind` replaced in all its texts."""
    if isinstance(content, str):
        return kind.replaced(content)
    if isinstance(content, dict):
        return {name: _replaced(each, kind) for name, each in content.items()}
    return [_replaced(each, kind) for each in content] if isinstance(content, list) else content


# A date distinguishes people best; plain text comes last, because it may be long.
_ORDER = (ValueKind.DATE, None, ValueKind.NUMBER, ValueKind.TRUTH, ValueKind.TEXT)


def hints_for(choices: Sequence[str], graph: BlindGraph, table: PseudonymTable) -> list[Fact]:
    """Returns facts that tell apart things with the same name: one for each of `choices`, all by the same relation.

    For example, for two persons named Ann Lee: the one born in Ghent, the one born in Bruges. Empty if there is no
    relation by which every choice has exactly one tail, and each a different one. Only relations that the policy
    shows are used.
    """
    mids = [mid for choice in choices if (mid := table.entity(choice)) is not None]
    if len(mids) != len(choices):
        return []
    shared = set.intersection(*({*graph.relations_of(as_mids([mid]))} for mid in mids))
    relations = graph.schema.relations

    def is_value(mid: Mid) -> bool:
        return kind_of(graph, as_mids([mid])) is NodeKind.VALUE

    forwards = sorted((hop for hop in shared if not hop.inverse), key=lambda hop: hop.relation)
    for hop in sorted(forwards, key=lambda hop: _ORDER.index(relations[hop.relation].value_kind)):
        tails = [_only_tail(graph, mid, hop) for mid in mids]
        if None not in tails and len(set(tails)) == len(tails):
            pairs = zip(choices, mids, (tail for tail in tails if tail is not None), strict=True)
            return [
                Fact(
                    head=choice,
                    head_concept=concept_of(graph, as_mids([mid])),
                    path=[graph.schema.label(hop)],
                    tail=table.of_value(tail) if is_value(tail) else table.of_entity(tail),
                    tail_concept=concept_of(graph, as_mids([tail])),
                )
                for choice, mid, tail in pairs
            ]
    return []


def _only_tail(graph: BlindGraph, mid: Mid, hop: Hop) -> Mid | None:
    tails = graph.neighbours(as_mids([mid]), hop).tails
    if len(tails) != 1 or kind_of(graph, tails) is NodeKind.MEDIATOR:
        return None
    return Mid(int(tails[0]))
