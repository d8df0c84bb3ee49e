"""Writes a dialogue reply from facts: each fact becomes a clause, and clauses about one thing become a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.language.readings import WrittenSentence
from app.llm.tasks import Evidence, ReplyInput
from app.reader.language.question_words import names_somebody
from app.reader.sentences.phrases import (
    Agreement,
    RelationPhrase,
    Speaker,
    joined,
    label_words,
    many,
    one,
    phrase_of,
    state,
    worded,
)
from app.reader.sentences.public_facts import by_start_and_relation, public_sentence
from kg_store.terms import is_mask_word
from kg_store.text.inflection import is_participle, lemminflect, plural, with_article

_OVER: Final = frozenset(
    "born built composed created designed directed discovered edited established filmed formed founded hired "
    "illustrated invented killed made opened painted produced published recorded released shot signed translated "
    "written".split()
)
"""Participles of finished acts, which take "was" ("was born in"). Others take "is" ("is treated by")."""
NO_KIND: Final = frozenset({"thing", "text", "date", "number", "yes or no", ""})


@dataclass(frozen=True, slots=True)
class FactClause:
    """One clause that states a fact: `subject` and `predicate`, such as "X" and "lives in Y".

    `is_of_start`: its subject is the start of the fact. `noun`: if set, the clause has the form "X's doctor is Y";
    then `noun` is doctor, `verb` is "is" and `predicate` is Y. `also`: further facts that the clause states.
    """

    fact: Evidence
    subject: str
    predicate: str
    is_of_start: bool
    also: tuple[Evidence, ...] = ()
    noun: str = ""
    verb: str = ""

    @property
    def sentence(self) -> str:
        if self.noun:
            return f"{self.subject}'s {self.noun} {self.verb} {self.predicate}"
        return f"{self.subject} {self.predicate}"


def clause_of(fact: Evidence, *also: Evidence) -> FactClause | None:
    """Returns one clause for facts that share start and path; None if its words are masked or might be bad English."""
    if len(fact.path) != 1 or not can_be_said(fact.path[0]):
        return None
    facts = (fact, *also)
    end = joined([each.end for each in facts])
    agree = many if also or end.startswith("S") else one
    is_whole = not any(_is_one_of_several(each) for each in facts)
    return replace(_clause(fact, end, agree, is_whole=is_whole), also=also)


def _clause(fact: Evidence, end: str, agree: Agreement, *, is_whole: bool) -> FactClause:
    step, start = fact.path[0], fact.start
    if fact.end_concept == "yes or no" and agree is one:
        return FactClause(fact, f"it is {end} that {start}", state(step), False)
    own = None if step.startswith("^") or "|" in step else worded(step, fact.end_concept)
    if own is not None:
        predicate = end if own.noun else f"{own.verb} {end}"
        return FactClause(fact, start, predicate, True, noun=own.noun, verb=own.verb)
    phrase = _phrase(step)
    assert phrase is not None  # can_be_said was checked  # nosec B101
    if phrase.inverse:
        return _backwards(fact, end, phrase, agree, is_whole=is_whole)
    if phrase.form == "noun":
        are_counted = fact.end_concept == "number" and plural(phrase.words) == " ".join(label_words(step))
        noun = plural(phrase.words) if are_counted or not is_whole else agree(phrase.words, plural(phrase.words))
        verb = "include" if not is_whole else "are" if are_counted else agree("is", "are")
        return FactClause(fact, start, end, True, noun=noun, verb=verb)
    if phrase.form == "past" and fact.end_concept == "date" and " " not in phrase.words:
        # With a date, the start is not the agent of the participle: "X was admitted on Y".
        return FactClause(fact, start, f"was {phrase.words} on {end}", True)
    return FactClause(fact, start, f"{Speaker.named(start).predicate(phrase, _be(phrase))} {end}", True)


def _is_one_of_several(fact: Evidence) -> bool:
    """Returns True for a single end of a relation that may have other ends too."""
    return fact.size != "1" and not fact.end.startswith("S")


def can_be_said(step: str) -> bool:
    """Returns True if the words of this hop can state a fact."""
    if any(is_mask_word(part.lstrip("^")) for part in step.split("|")):
        return False
    is_worded = "|" not in step and not step.startswith("^") and worded(step, "") is not None
    return is_worded or _phrase(step) is not None


def _phrase(step: str) -> RelationPhrase | None:
    if any(is_mask_word(part.lstrip("^")) for part in step.split("|")):
        return None
    return phrase_of(step) or _plain_noun(step)


def clauses_of(facts: Sequence[Evidence]) -> list[FactClause]:
    """Returns clauses for those of `facts` that can be stated; facts that differ only in their end share a clause."""
    groups: dict[tuple[str, str], list[Evidence]] = {}
    for fact in facts:
        if clause_of(fact) is not None:
            groups.setdefault((fact.start, fact.path[0]), []).append(fact)
    return [clause for group in groups.values() if (clause := clause_of(*group))]


def concept_noun(concept: str) -> str:
    """Returns the noun for things of a concept; empty if it has none or several."""
    return "" if concept in NO_KIND or "," in concept or any(map(is_mask_word, concept.split())) else concept


def is_person(concept: str) -> bool:
    noun = concept_noun(concept)
    return bool(noun) and (noun == "person" or names_somebody(noun.split()[-1]))


def _backwards(fact: Evidence, end: str, phrase: RelationPhrase, agree: Agreement, *, is_whole: bool) -> FactClause:
    """Returns the clause of a backward hop: "Y is treated by X", "X is the doctor of Y", "X directed Y"."""
    if phrase.form == "noun":
        is_only = not phrase.had and agree is one and is_whole
        article = f"the {phrase.words}" if is_only else with_article(phrase.words)
        return FactClause(fact, fact.start, f"is {article} of {end}", True)
    past = _active_past(phrase)
    if past:
        return FactClause(fact, fact.start, f"{past} {end}", True)
    ends = Speaker(end, agree, end, None)
    return FactClause(fact, end, f"{ends.predicate(phrase, _be(phrase))} {fact.start}", False)


def _be(phrase: RelationPhrase) -> tuple[str, str]:
    return ("was", "were") if phrase.words.split()[0] in _OVER else ("is", "are")


def _active_past(phrase: RelationPhrase) -> str:
    """Returns `wrote` for "written by"; empty if the act may still last or if other words stand in between."""
    words = phrase.words.split()
    if phrase.form != "passive" or len(words) != 2 or words[1] != "by" or words[0] not in _OVER:
        return ""
    verbs = lemminflect.getAllLemmas(words[0]).get("VERB", ())
    forms = lemminflect.getInflection(verbs[0], "VBD") if verbs else ()
    return str(forms[0]) if forms else ""


def _plain_noun(step: str) -> RelationPhrase | None:
    """Reads a label of uncertain form as a noun, which most of these are ("codirector", "gross").

    Returns None if it cannot be one.
    """
    if "|" in step:
        return None
    words = step.lstrip("^").rsplit(".", 1)[-1].replace("_", " ").split()
    ends_badly = not words or words[-1] in ("as", "like", "than", "of", "to", "by", "in", "on", "at", "for", "with")
    if ends_badly or (is_participle(words[0]) and len(words) == 1):
        return None
    return RelationPhrase("noun", " ".join(words), step.startswith("^"))


# Greatest numbers of sentences: in a description of a thing (MAX_SENTENCES), in any other reply. Chosen by hand.
MAX_SENTENCES: Final = 5
MAX_REMARKS: Final = 3
MAX_TOGETHER: Final = 3
"""Greatest number of facts in one sentence. Chosen by hand; not fitted."""


Said = tuple[str, Sequence[FactClause]]
"""A sentence without capital and full stop, and its clauses."""


def dialogue_text(given: ReplyInput) -> list[WrittenSentence]:
    """Returns one to three sentences, or up to five if the turn asks about a thing; none if no fact can be stated."""
    ranked = [given.evidence[at] for at in given.ranked] or list(given.evidence)
    place = {id(fact): at for at, fact in enumerate(given.evidence)}
    concepts = {thing.name: thing.concept for thing in given.things}
    for fact in ranked:
        concepts.setdefault(fact.start, fact.start_concept)
        concepts.setdefault(fact.end, fact.end_concept if not fact.end.startswith("S") else "")
    public = {term.name for term in given.public_terms}
    clauses = clauses_of([fact for fact in ranked if fact.start not in public])
    said: list[Said] = []
    for subject in dict.fromkeys(clause.fact.start for clause in clauses):
        about = [clause for clause in clauses if clause.fact.start == subject]
        said += _about(subject, concepts.get(subject, ""), about, introduces=given.describes)
    most = MAX_SENTENCES if given.describes else MAX_REMARKS
    known = by_start_and_relation(fact for fact in ranked if fact.start in public)[:MAX_REMARKS]
    told = [(text, _places(stated, place)) for text, stated in said[: most - bool(known)]]
    if known:
        told.append((public_sentence(known), tuple(place[id(fact)] for group in known for fact in group)))
    return [WrittenSentence(f"{text[:1].upper()}{text[1:]}.", places) for text, places in told]


def _places(clauses: Sequence[FactClause], place: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(place[id(fact)] for clause in clauses for fact in (clause.fact, *clause.also))


def _about(subject: str, concept: str, clauses: Sequence[FactClause], introduces: bool) -> Iterator[Said]:
    """Yields sentences about one thing; after the first, the thing is called by a pronoun if that is clear."""
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
    """Returns a predicate that can follow the noun of a kind ("a film directed by Y"), or None if there is none."""
    return next((each for each in predicates if each.predicate.split()[0] in ("is", "was") and _is_plain(each)), None)


def _is_plain(clause: FactClause) -> bool:
    words = clause.predicate.split()
    return len(words) == 4 and words[2] in ("by", "in", "on", "at") and words[1] not in ("a", "an", "the")


def _reduced(clause: FactClause) -> str:
    return clause.predicate.split(" ", 1)[1]


def _by(most: int, clauses: Sequence[FactClause]) -> Iterator[Sequence[FactClause]]:
    for at in range(0, len(clauses), most):
        yield clauses[at : at + most]
