"""Writes a reply in dialogue from facts: plain sentences in which every clause states one fact.

Promise: a sentence holds fixed wordings of this package, relation labels, concepts and pseudonyms of the evidence,
nothing else. Two facts share a sentence only if they are about one thing, or the second begins at the first's end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.language.readings import WrittenSentence
from app.llm.tasks import ReplyInput
from app.reader.sentences.fact_clauses import FactClause, clauses_of, concept_noun, is_person, joined
from kg_store.text.inflection import with_article

# Lengths of a reply: sentences of a description, and of a remark. Chosen by hand.
MAX_SENTENCES: Final = 5
MAX_REMARKS: Final = 3
MAX_TOGETHER: Final = 3
"""The greatest number of facts in one sentence. Chosen by hand; not fitted."""


Said = tuple[str, Sequence[FactClause]]
"""A sentence without capital and full stop, and its clauses."""


def dialogue_text(given: ReplyInput) -> list[WrittenSentence]:
    """Returns one to three sentences, up to five if the turn asks about a thing; none if no fact can be said."""
    ranked = [given.evidence[at] for at in given.ranked] or list(given.evidence)
    place = {id(fact): at for at, fact in enumerate(given.evidence)}
    concepts = {thing.name: thing.concept for thing in given.things}
    for fact in ranked:
        concepts.setdefault(fact.start, fact.start_concept)
        concepts.setdefault(fact.end, fact.end_concept if not fact.end.startswith("S") else "")
    clauses = clauses_of(ranked)
    said: list[Said] = []
    for subject in dict.fromkeys(clause.fact.start for clause in clauses):
        about = [clause for clause in clauses if clause.fact.start == subject]
        said += _about(subject, concepts.get(subject, ""), about, introduces=given.describes)
    most = MAX_SENTENCES if given.describes else MAX_REMARKS
    return [WrittenSentence(f"{text[:1].upper()}{text[1:]}.", _places(stated, place)) for text, stated in said[:most]]


def _places(clauses: Sequence[FactClause], place: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(place[id(fact)] for clause in clauses for fact in (clause.fact, *clause.also))


def _about(subject: str, concept: str, clauses: Sequence[FactClause], introduces: bool) -> Iterator[Said]:
    """Sentences about one thing; after the first it is called by a pronoun, if that is clear."""
    noun = concept_noun(concept)
    pronoun = "it" if noun and not is_person(concept) else ""
    others = any(is_person(clause.fact.end_concept) for clause in clauses)
    owned = "their" if is_person(concept) and not others else ""
    predicates = [clause for clause in clauses if clause.is_of_start and not clause.noun]
    nouns = [clause for clause in clauses if clause.noun]
    named, said = subject, False
    if introduces and noun:
        first = _kind_of(predicates)
        predicates = [each for each in predicates if each is not first]
        beside, predicates = predicates[: MAX_TOGETHER - 1], predicates[MAX_TOGETHER - 1 :]
        kind = f"is {with_article(noun)}{f' {_reduced(first)}' if first else ''}"
        stated = [*([first] if first else []), *beside]
        yield f"{subject} {joined([kind, *(each.predicate for each in beside)])}", stated
        named, said = pronoun or subject, True
    for group in _by(MAX_TOGETHER, predicates):
        yield f"{named} {joined([each.predicate for each in group])}", group
        named, said = pronoun or subject, True
    for group in _by(MAX_TOGETHER, nouns):
        owner = "its" if named == "it" else (owned if said and owned else f"{subject}'s")
        rest = [f"the {each.noun} {each.verb} {each.predicate}" for each in group[1:]]
        yield joined([f"{owner} {group[0].noun} {group[0].verb} {group[0].predicate}", *rest]), group
        named, said = pronoun or subject, True
    for clause in clauses:
        if not clause.is_of_start:
            yield clause.sentence, [clause]


def _kind_of(predicates: Sequence[FactClause]) -> FactClause | None:
    """A predicate that can follow the noun of a kind: "a film directed by Y"; None if there is none."""
    return next((each for each in predicates if each.predicate.split()[0] in ("is", "was") and _is_plain(each)), None)


def _is_plain(clause: FactClause) -> bool:
    words = clause.predicate.split()
    return len(words) == 4 and words[2] in ("by", "in", "on", "at") and words[1] not in ("a", "an", "the")


def _reduced(clause: FactClause) -> str:
    return clause.predicate.split(" ", 1)[1]


def _by(most: int, clauses: Sequence[FactClause]) -> Iterator[Sequence[FactClause]]:
    for at in range(0, len(clauses), most):
        yield clauses[at : at + most]
