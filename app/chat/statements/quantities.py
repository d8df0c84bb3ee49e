"""Judges pieces that count, compare, deny or say yes or no: the house executes each on the real values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.vocabulary import bases, relation_words
from app.chat.statements.words.tokens import NUMBERS, Token, is_grammar, lemmas, noun_base
from app.chat.statements.words.wording import plain_label

Carriers = frozenset[int]

DENYING: Final = frozenset(
    (
        "not n't never no nobody nothing none neither nor without cannot hardly barely scarcely rarely seldom "
        "nowhere false wrong untrue lack lacks lacked lacking fail fails failed failing refuse refuses refused "
        "refusing free anything almost nearly "
    ).split()
)
EXCLUDING: Final = frozenset("only sole except besides solely exclusively alone just apart merely".split())
_UP: Final = frozenset(
    "more larger bigger greater higher longer heavier taller better wider faster deeper further costlier pricier "
    "dearer richer".split()
)
_DOWN: Final = frozenset("fewer less smaller lower shorter lighter cheaper worse narrower slower poorer".split())
_EARLIER: Final = frozenset("older elder senior earlier before sooner oldest".split())
_LATER: Final = frozenset("younger newer junior later after".split())
_BY_BIRTH: Final = frozenset("older elder senior younger junior lived live age".split())
_BOUNDS: Final = {"least": ">=", "most": "<=", "than": ">", "over": ">", "exactly": "="}
_PRECEDING: Final = {
    **dict.fromkeys("predates predated predate antedates antedated".split(), "earlier"),
    **dict.fromkeys("postdates postdated postdate".split(), "later"),
    **dict.fromkeys("outweighs outweighed".split(), "heavier"),
    **dict.fromkeys("exceeds exceeded surpasses surpassed".split(), "greater"),
}
"""Verbs that compare their subject with their object."""
_LED_BY: Final = frozenset({"look", "name", "take", "care"})
"""Verbs behind which "after" compares nothing."""
_NO_COUNT: Final = frozenset("the no some any each every which this that other another".split())


def is_denying(token: Token) -> bool:
    return not token.is_name and (token.word in DENYING or token.word.startswith("non-"))


def content(tokens: Iterable[Token]) -> frozenset[str]:
    """The base forms of the content words."""
    words = (token.word for token in tokens if token.is_word and not is_grammar(token.word))
    return frozenset(base for word in words for base in bases(word))


def counts_in(tokens: Sequence[Token]) -> list[tuple[int, str, int]]:
    """Each number in words or figures with its bound and place; "one of them" and "the two" count nothing."""
    found = []
    for at in range(len(tokens)):
        number = _number(tokens, at)
        if number is None:
            continue
        before = [tokens[k].word for k in range(max(0, at - 2), at)]
        bound = next((_BOUNDS[word] for word in reversed(before) if word in _BOUNDS), "=")
        if "less" in before or "fewer" in before or "under" in before:
            bound = "<"
        found.append((number, bound, at))
    return found


def _number(tokens: Sequence[Token], at: int) -> int | None:
    word, behind = tokens[at].word, tokens[at + 1].word if at + 1 < len(tokens) else ""
    before = tokens[at - 1].word if at else ""
    if tokens[at].is_name or not token_is_count(word):
        return None
    if word == "one" and (
        behind in ("of", "", ",", ".") or before in _NO_COUNT or before.endswith(("er", "est", "ing"))
    ):
        return None
    if word in ("single", "neither", "no"):
        return None
    return int(word) if word.isdigit() else NUMBERS[word]


def token_is_count(word: str) -> bool:
    return (word.isdigit() and len(word) < 4) or word in NUMBERS


def fitting_steps(evidence: Evidence, name: str, words: frozenset[str]) -> list[Step]:
    """Steps from `name` to what is counted: to things of a kind that `words` name, by a relation that they say."""
    steps = evidence.steps(name)
    said = [step for step in steps if _says(step, words)]
    named = [
        step
        for step in steps
        if any(noun_base(part) in words for kind in evidence.kinds(step.there) for part in kind.split())
    ]
    return [step for step in said if step in named] or named or said


def _says(step: Step, words: frozenset[str]) -> bool:
    return not relation_words(step.label).isdisjoint(words)


def _says_truth(step: Step, words: frozenset[str]) -> bool:
    """All words of the label, or one that says the relation by itself."""
    own = {word for word in plain_label(step.label).split() if not is_grammar(word)}
    return own <= words or not (relation_words(step.label) - own).isdisjoint(words)


def counted(evidence: Evidence, name: str, words: frozenset[str], number: int, bound: str) -> Carriers | None:
    """The facts of the relation that the words say, where the house counts so many."""
    for label in dict.fromkeys(step.label for step in fitting_steps(evidence, name, words)):
        truth = evidence.is_true(f'exists(counted({name}, "{label}", {bound}, {number}))')
        if truth:
            return frozenset(step.fact for step in evidence.steps(name) if step.label == label)
    return None


def is_alone(evidence: Evidence, name: str, other: str) -> Carriers | None:
    """The fact of `other` where it is all that its relation leads to from `name`."""
    for step in evidence.between(name, other):
        if evidence.is_true(f'exists(counted({name}, "{step.label}", =, 1))'):
            return frozenset({step.fact})
    return None


def denied(evidence: Evidence, name: str, other: str, words: frozenset[str]) -> Carriers | None:
    """The facts of the relation that the words say, where the house says that `other` is not among them."""
    if evidence.between(name, other):
        return None
    steps = [
        step for step in evidence.steps(name) if _says(step, words) and (step.there[0] == "V") == (other[0] == "V")
    ]
    if steps and not any(evidence.kinds(step.there) & evidence.kinds(other) for step in steps):
        return None
    for label in dict.fromkeys(step.label for step in steps):
        if evidence.is_true(f'exists(intersect(reach({name}, "{label}"), {other}))') is not False:
            return None
    return frozenset(step.fact for step in steps) or None


def is_so(evidence: Evidence, name: str, words: frozenset[str], *, denies: bool) -> Carriers | None:
    """A relation of yes or no that the words say, where the house gives that answer."""
    for step in evidence.steps(name):
        if step.sort != "truth" or not _says_truth(step, words):
            continue
        truth = evidence.is_true(f'holds(reach({name}, "{step.label}"))')
        return frozenset({step.fact}) if truth is not None and truth is not denies else None
    return None


def has_truth_step(evidence: Evidence, name: str, words: frozenset[str]) -> bool:
    return any(step.sort == "truth" and _says_truth(step, words) for step in evidence.steps(name))


def comparator(tokens: Sequence[Token]) -> tuple[str, int] | None:
    """The word that compares, and its place."""
    for at, token in enumerate(tokens):
        word = token.word
        if not token.is_name and word in _PRECEDING:
            return _PRECEDING[word], at
        if token.is_name or word not in _UP | _DOWN | _EARLIER | _LATER:
            continue
        behind = [each.word for each in tokens[at + 1 :]]
        if word in ("before", "after"):
            if at and not _LED_BY.isdisjoint(lemmas(tokens[at - 1].word, "VERB")):
                continue
            if at + 1 < len(tokens) and (tokens[at + 1].is_name or behind[0] in ("the", "it", "that")):
                return word, at
            continue
        if "than" in behind or "to" in behind[:1] or (at and tokens[at - 1].word in ("the", "a")):
            return word, at
    return None


def compared(evidence: Evidence, one: str, other: str, word: str, words: frozenset[str]) -> Carriers | None:
    """The two facts whose values the house finds in that order."""
    pairs = [
        (first, second)
        for first in evidence.steps(one)
        for second in evidence.steps(other)
        if first.label == second.label and first.sort in ("date", "number") and first.here == second.here
    ]
    pairs = _meant(pairs, word, words)
    found: Carriers = frozenset()
    for first, second in pairs:
        sign = _sign(word, first.sort, words)
        if not sign or not evidence.is_true(f'exists(filter({one}, "{first.label}", {sign}, {second.there}))'):
            return None
        found |= {first.fact, second.fact}
    return found or None


def _meant(pairs: list[tuple[Step, Step]], word: str, words: frozenset[str]) -> list[tuple[Step, Step]]:
    said = [pair for pair in pairs if _says(pair[0], words - bases(word))]
    if said:
        return said
    in_time = word in _EARLIER | _LATER or (word in ("longer", "shorter") and not _has(pairs, "number"))
    pairs = [pair for pair in pairs if (pair[0].sort == "date") == in_time]
    by_birth = not _BY_BIRTH.isdisjoint(words | {word})
    births = [pair for pair in pairs if not {"birth", "born"}.isdisjoint(pair[0].label.split())]
    if births and len(births) < len(pairs):
        return births if by_birth else [pair for pair in pairs if pair not in births]
    return pairs


def _has(pairs: list[tuple[Step, Step]], sort: str) -> bool:
    return any(pair[0].sort == sort for pair in pairs)


def _sign(word: str, sort: str, words: frozenset[str]) -> str:
    if word in _EARLIER:
        return "<" if sort == "date" or word in ("earlier", "before", "sooner") else ">"
    if word in _LATER:
        return ">" if sort == "date" or word in ("later", "after") else "<"
    if sort == "date":
        if word == "longer":
            return "<"
        return ">" if word == "shorter" else ("<" if "early" in words else "")
    return ">" if word in _UP else "<"
