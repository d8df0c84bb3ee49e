"""Recognises words that are common words because of their place: "the price", "little doctors".

A word that is part of some name of the tenant leaves only from such a place (docs/decisions/0042).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from app.privacy.words.grammar import (
    ADDRESSING,
    ADVERBS,
    ASKING,
    BE,
    BEFORE_RECEIVERS,
    CLASSIFIERS,
    CONJUNCTIONS,
    DETERMINERS,
    EXCLAMATIONS,
    FUNCTION_WORDS,
    INTENSIFIERS,
    JOINING,
    LINKING,
    MEASURING,
    NEVER_NAMES,
    OCCUPATIONS_AND_KIN,
    PERFECT,
    PHRASES,
    PREPOSITIONS,
    PRONOUNS,
    SUBJECTS,
    Stand,
    Token,
    TurnTokens,
    is_nominal,
    is_participle,
    is_singular,
    is_verb,
    is_verb_alone,
    only_describes,
)
from app.privacy.words.lexicon import APOSTROPHES, base_of
from kg_store.lexicon.lexicon import kinds_of
from kg_store.names.name_words import MODALS
from kg_store.text.english import stems

_SPACE: Final = frozenset((" ", "\u00a0", "-"))
_POSSESSIVE: Final = frozenset(f"{mark}s" for mark in APOSTROPHES)
_MAX_DESCRIBING: Final = 3
"""The most words between an article and its noun: "the very old city hospital". Chosen by hand."""

_COMPARING: Final = frozenset(("most", "more", "fewest", "fewer"))

_BEFORE_COMPOUNDS: Final = frozenset(("a", "an", "that", "which", "what", "whose", "how"))
"""Determiners that prove a common word before another noun or verb too: "a summer bill", "which prices fell"."""

_CLOSED: Final = FUNCTION_WORDS | ADVERBS | NEVER_NAMES | MEASURING | PRONOUNS


def reads_as_common(turn: TurnTokens, at: int) -> bool:
    """True if the word at `at` is a common word because of its place in the sentence, or can be no name at all."""
    return is_in_any_question(turn, at) or (not _is_said_twice(turn, at) and any(each(turn, at) for each in _PROOFS))


def is_in_any_question(turn: TurnTokens, at: int) -> bool:
    """True if the word is one of the shown schema, or one that questions about any graph need."""
    word = base_of(turn.tokens[at].word)
    return word in _CLOSED or turn.lexicon.is_own(word)


def _is_said_twice(turn: TurnTokens, at: int) -> bool:
    """True if the word before is the same: one of the two is a name, as in "did summer summer"."""
    before, token = turn.before(at), turn.tokens[at]
    return before is not None and turn.text[before.start : before.end].lower() == base_of(token.word)


def _has_an_article(turn: TurnTokens, at: int) -> bool:
    """True if a determiner, number or possessive stands before the word, with at most descriptive words between.

    True in "the price", "her old field", "two rivers"; false in "the doctor rivers", "the price ward", and for the
    people who are called "the prices".
    """
    for before in islice(range(at - 1, -1, -1), _MAX_DESCRIBING + 1):
        token, gap = turn.tokens[before], turn.gap(before + 1)
        if token.is_replaced and gap[:2] in _POSSESSIVE:
            return True
        if gap not in _SPACE:
            return False
        if turn.begins(before) and token.word in ("no", "so", "only"):
            return False
        if token.word in INTENSIFIERS:
            is_many = token.word in _COMPARING and not is_singular(turn.tokens[at].word)
            return before == at - 1 and (is_many or "a" in kinds_of(turn.tokens[at].word))
        if token.stand is Stand.VALUE or token.word in DETERMINERS or _is_possessive(token.word):
            is_family = token.word == "the" and _may_be_a_family(turn, at)
            is_name = is_family or (token.word not in _BEFORE_COMPOUNDS and _leads_a_noun(turn, at))
            return token.word != "only" and not is_name
        if token.stand is not Stand.WORD or not _may_describe(turn, before):
            return False
    return False


def _leads_a_noun(turn: TurnTokens, at: int) -> bool:
    """True if a noun comes next, to which somebody's name may belong: "the chance file", "the beach one"."""
    after = _next_to(turn, at)
    if after is None or "a" in kinds_of(turn.tokens[at].word) or is_verb_alone(after.word):
        return False
    is_noun = "n" in kinds_of(after.word) or turn.lexicon.is_own(after.word)
    return after.word == "one" or (is_noun and after.word not in FUNCTION_WORDS)


def may_be_somebodys(turn: TurnTokens, at: int) -> bool:
    """True if the plural of a word of a name may be a family, or a possessive: "the prices", "prices ward"."""
    is_before_a_noun = _leads_a_noun(turn, at) and not is_verb(turn.word_after(at))
    return _may_be_a_family(turn, at) and (is_before_a_noun or turn.word_before(at) == "the")


def _may_be_a_family(turn: TurnTokens, at: int) -> bool:
    """True if the word is the plural of a word of a name, and no such word itself: "the prices" of a Jane Price."""
    word, alone = turn.tokens[at].word, turn.lexicon.names.said_alone
    return word not in alone and not is_singular(word) and not alone.isdisjoint(stems(word))


def _is_possessive(word: str) -> bool:
    """True if `word` ends in an apostrophe ending that shows possession ("nurse's"), not a contraction ("it's")."""
    base = base_of(word)
    return base != word and base not in PRONOUNS | ASKING | DETERMINERS | ADVERBS


def _may_describe(turn: TurnTokens, at: int) -> bool:
    word = turn.tokens[at].word
    is_kind = word in OCCUPATIONS_AND_KIN or (turn.lexicon.is_own(word) and "a" not in kinds_of(word))
    return is_nominal(word) and word not in FUNCTION_WORDS | CONJUNCTIONS and not is_kind and is_singular(word)


def _describes_a_noun(turn: TurnTokens, at: int) -> bool:
    """True if the word is an adjective before a plural noun that is no name: "little doctors".

    False in "grace long", where the next word names somebody, and in "long doctor", where the noun is singular.
    """
    word, after = base_of(turn.tokens[at].word), turn.word_after(at)
    if "a" not in kinds_of(word) or not after or turn.gap(at + 1) not in _SPACE or "n" not in kinds_of(after):
        return False
    is_name = turn.lexicon.names_somebody(after) and not turn.lexicon.is_own(after)
    is_listed = at > 0 and not turn.begins(at) and turn.gap(at) not in _SPACE
    return not (is_name or is_listed or is_singular(after) or is_verb_alone(after) or after in FUNCTION_WORDS)


def _is_said_of_its_subject(turn: TurnTokens, at: int) -> bool:
    """True if the word is an adjective after "be" and its subject: "which film is long", "is the ward new"."""
    linking = turn.word_before(at)
    if "a" not in kinds_of(turn.tokens[at].word):
        return False
    if turn.tokens[0].word in BE and turn.after(at) is None and _is_plainly_a_noun(turn, linking):
        return True
    subject, after = turn.before(at - 1) if at else None, turn.after(at)
    is_last = after is None or after.word in JOINING or after.word == "than"
    return is_last and linking in BE and subject is not None and _is_plainly_a_noun(turn, subject.word)


def _is_plainly_a_noun(turn: TurnTokens, word: str) -> bool:
    return "n" in kinds_of(word) and (turn.lexicon.is_own(word) or not turn.lexicon.names_somebody(word))


def _has_an_of(turn: TurnTokens, at: int) -> bool:
    """True if the word is a noun followed by "of": "price of oil"."""
    is_next = turn.word_after(at) == "of" and turn.gap(at + 1) in _SPACE
    return is_next and "n" in kinds_of(turn.tokens[at].word)


def _is_a_kind(turn: TurnTokens, at: int) -> bool:
    """True if the word follows a classifying noun and "of": "what kind of music"."""
    return turn.word_before(at) == "of" and turn.word_before(at - 1) in CLASSIFIERS


def _is_a_phrase(turn: TurnTokens, at: int) -> bool:
    return f"{turn.word_before(at)} {turn.tokens[at].word}" in PHRASES


def _is_an_adverb(turn: TurnTokens, at: int) -> bool:
    """True if the dictionary lists the word, but not as noun, adjective or verb."""
    word = base_of(turn.tokens[at].word)
    return not is_nominal(word) and not is_verb(word)


def _is_a_verb(turn: TurnTokens, at: int) -> bool:
    """True if the word is a verb because of a pronoun, modal, "to", or object beside it: "they grant", "to mark".

    After a noun ("what films star her", "when did the price rise") `_is_verb_of_a_noun` decides.
    """
    word, before, after = base_of(turn.tokens[at].word), turn.before(at), _next_to(turn, at)
    if not is_verb(word) or base_of(turn.tokens[at].word) != turn.tokens[at].word:
        return False
    if before is None:
        if after is None or "n" in kinds_of(word):
            return after is not None and after.stand is Stand.VALUE  # "power patients" are those of a Mr Power.
        is_object = after.word in DETERMINERS | PRONOUNS - SUBJECTS or after.stand in (Stand.NAME, Stand.VALUE)
        return is_object or (not is_singular(after.word) and not is_verb_alone(after.word))
    if before.word in PERFECT and not is_nominal(word):
        return not turn.begins(at - 1)
    if before.word == "to":
        return turn.word_before(at - 1) not in BEFORE_RECEIVERS
    if before.word in MODALS and turn.begins(at - 1):
        return False  # The subject of the question: "will bill pay".
    if before.word in SUBJECTS | MODALS or before.is_replaced:
        return turn.gap(at) in _SPACE
    return _is_verb_of_a_noun(turn, at)


def _is_a_modal(turn: TurnTokens, at: int) -> bool:
    """True if "will" or the like has its subject behind it or before it: "will she stay", "which ward will close"."""
    if turn.tokens[at].word not in MODALS:
        return False
    before, after = turn.before(at), _next_to(turn, at)
    if after is None:
        return False
    if after.word in DETERMINERS | PRONOUNS | NEVER_NAMES or after.word == "there":
        return True
    if turn.begins(at) and turn.after(at + 1) and (after.is_replaced or _is_plainly_a_noun(turn, after.word)):
        return True
    is_done = is_verb(after.word) or after.word in ("not", "be", "have") or after.word in ADVERBS
    is_subject = before is not None and (
        before.is_replaced
        or before.word in SUBJECTS | ASKING
        or turn.lexicon.is_own(before.word)
        or _is_plainly_a_noun(turn, before.word)
    )
    return is_done and is_subject and turn.gap(at) in _SPACE


def _is_a_participle(turn: TurnTokens, at: int) -> bool:
    """True if "be" makes the word a participle: "which were painted by", "what is the ward called".

    False for words that are nouns too, and in "which ward is given", where a name may stand.
    """
    word, before, after = turn.tokens[at].word, turn.before(at), turn.after(at)
    is_said = any(token.word in BE for token in turn.tokens[:at])
    if before is None or not is_said or not is_participle(word) or "n" in kinds_of(word):
        return False
    if after is None:
        return before.is_replaced or _is_plainly_a_noun(turn, before.word)
    return after.word == "by"


def _is_verb_of_a_noun(turn: TurnTokens, at: int) -> bool:
    """True if the verb's subject is a noun, and an object or an earlier "do", "does" or "did" proves it a verb."""
    before, after = turn.word_before(at), _next_to(turn, at)
    if "n" not in kinds_of(before) or before in FUNCTION_WORDS or turn.gap(at) not in _SPACE:
        return False
    if turn.begins(at - 1) and is_verb(before):
        return False  # "need price asap": "need" is an order here, not the subject.
    has_object = after is not None and (after.is_replaced or after.word in PREPOSITIONS | DETERMINERS | PRONOUNS)
    asked = any(token.word in ("do", "does", "did") for token in turn.tokens[: max(0, at - 1)])
    return has_object or asked


def _next_to(turn: TurnTokens, at: int) -> Token | None:
    """Returns the token after, if only a space separates the two."""
    after = turn.after(at)
    return after if after is not None and turn.gap(at + 1) in _SPACE else None


def _is_an_exclamation(turn: TurnTokens, at: int) -> bool:
    """True if an adjective opens the sentence, is a tag after a comma, or follows a verb like "sounds".

    Examples: "great, which ward", "..., right?", "sounds good".
    """
    if not only_describes(turn.tokens[at].word):
        return False
    is_tag = turn.after(at) is None and turn.gap(at).strip() == ","
    return (turn.tokens[at].word in EXCLAMATIONS and (turn.begins(at) or is_tag)) or turn.word_before(at) in LINKING


def _leads_a_name(turn: TurnTokens, at: int) -> bool:
    """True if the word is a title, occupation or kinship word in front of a replaced name, such as "sir"."""
    after = _next_to(turn, at)
    return turn.tokens[at].word in ADDRESSING | OCCUPATIONS_AND_KIN and after is not None and after.is_replaced


def _is_said_to_exist(turn: TurnTokens, at: int) -> bool:
    """True if the word follows "there" and is not the last: "is there hope for"."""
    return turn.word_before(at) == "there" and turn.after(at) is not None


_PROOFS: Final[tuple[Callable[[TurnTokens, int], bool], ...]] = (
    _has_an_article,
    _describes_a_noun,
    _is_said_of_its_subject,
    _has_an_of,
    _is_a_kind,
    _is_a_phrase,
    _is_an_adverb,
    _is_a_verb,
    _is_a_modal,
    _is_a_participle,
    _is_an_exclamation,
    _leads_a_name,
    _is_said_to_exist,
)
