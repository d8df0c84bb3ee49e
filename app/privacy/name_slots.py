"""Places of a sentence where a common word is most likely somebody's name: "does rose live here", "mr field"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from app.privacy.lexicon import CONTRACTIONS, Lexicon, base_of
from kg_store.lexicon import in_lexicon, kinds_of
from kg_store.name_words import MODALS


class Stand(Enum):
    """What stands at a place of the text: a word, a name that is replaced, or another thing that is."""

    WORD = "word"
    NAME = "name"
    UNKNOWN = "unknown"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Token:
    """text[start:end]; `word` is in small letters, empty for what is replaced."""

    start: int
    end: int
    stand: Stand
    word: str = field(default="", repr=False)

    @property
    def is_replaced(self) -> bool:
        return self.stand in (Stand.NAME, Stand.UNKNOWN)


TITLES: Final = frozenset(
    """
    mr mrs ms mister dr prof sir madam rev reverend fr st saint sgt lt col gen capt herr frau fräulein madame monsieur
    mme mlle señor señora sr sra don doña signor signora sig pan pani bay hanım
    """.split()
)
_ROLES = frozenset(
    """
    doctor patient client customer brother sister cousin officer agent director actor actress employee mother son
    daughter husband wife friend colleague named called surname name lastname professor miss dame lord lady father
    captain nurse uncle aunt auntie judge president senator
    """.split()
)
_DETERMINERS = frozenset(
    """
    a an the this that these those my your his her its our their whose which what any some no every each all both many
    much few several more most other another same own how such only either neither less least very too so as
    """.split()
)
_SINGULAR_AUXILIARIES = frozenset(("does", "is", "was", "has"))
_AUXILIARIES = _SINGULAR_AUXILIARIES | frozenset("do did are were have had can could would should shall".split())
_BE = frozenset("is are was were be been".split())
_ASKING = frozenset("who whom where when why what how".split())
_PREPOSITIONS = frozenset(
    """
    of by with for from to about than like between against near under over in at on into onto without after before
    through behind beside beyond toward towards around among except including
    """.split()
)
_CLASSIFIERS = frozenset("kind kinds type types sort sorts genre category form list number name names set".split())
_BEFORE_INFINITIVES = _ASKING | frozenset(
    "want wants need needs like likes able going have has had used order try tries start begin allowed".split()
)
_MANY = frozenset("people men women children police data media".split())
_JOINING = frozenset(("and", "or", "nor", "&", "plus", "versus", "vs"))
_FUNCTION = (
    _DETERMINERS | _AUXILIARIES | _ASKING | _PREPOSITIONS | _JOINING | frozenset("not be been it there".split())
)
_MARKS = frozenset("\"'“”„‘’«»‹›`()[]{}<>*_|")
_ENDS = frozenset(".!?;:\n…")
_BULLETS = " \t\"'“”„‘’«»([{*_#>-–—•·"


@dataclass(frozen=True, slots=True)
class Slots:
    """The tokens of one turn, read for what speaks for a name."""

    text: str = field(repr=False)
    tokens: Sequence[Token] = field(repr=False)
    lexicon: Lexicon = field(repr=False)

    def speaks_for_name(self, at: int) -> bool:
        """Whether anything around the word at `at`, a common one, says that it is a name here."""
        return any(speaks(self, at) for speaks in _SPEAKING)

    def opens_a_sentence(self, at: int) -> bool:
        """Whether a sentence may well begin with the common word at `at`: an order, a plural, an adjective."""
        return _is_order(self, at) or _is_said_of_many(self, at) or _describes_a_noun(self, at)

    def before(self, at: int) -> Token | None:
        """The token in front, of the same sentence, with no more than a space or a sign between."""
        return self.tokens[at - 1] if at and not _ENDS.intersection(self.gap(at)) else None

    def after(self, at: int) -> Token | None:
        return self.tokens[at + 1] if at + 1 < len(self.tokens) and not _ENDS & set(self.gap(at + 1)) else None

    def gap(self, at: int) -> str:
        """What stands between the token at `at` and the one in front of it."""
        return self.text[self.tokens[at - 1].end if at else 0 : self.tokens[at].start]

    def word_before(self, at: int) -> str:
        before = self.before(at)
        return before.word if before else ""

    def word_after(self, at: int) -> str:
        after = self.after(at)
        return after.word if after else ""

    def begins(self, at: int) -> bool:
        """Whether a sentence, line or item of a list begins there."""
        gap = self.gap(at).rstrip(_BULLETS)
        return at == 0 or (bool(gap) and gap[-1] in _ENDS)


def _is_marked(slots: Slots, at: int) -> bool:
    """Quotes, brackets or emphasis touch it, or an ending behind an apostrophe with nothing that a noun needs."""
    token = slots.tokens[at]
    around = slots.text[token.start - 1 : token.start] + slots.text[token.end : token.end + 1]
    if not _MARKS.isdisjoint(around):
        return True
    before = slots.before(at)
    needs_none = before is None or (before.stand is Stand.WORD and before.word not in _DETERMINERS | CONTRACTIONS)
    return base_of(token.word) != token.word and needs_none and _is_nominal(token.word)


def _is_addressed(slots: Slots, at: int) -> bool:
    """Behind a title or a role: mr field, patient field."""
    before = slots.tokens[at - 1] if at else None
    if before is None or slots.gap(at).strip() not in ("", ".", ":"):
        return False
    return before.word in TITLES or (before.word in _ROLES and _is_named_so(slots, at))


def _is_named_so(slots: Slots, at: int) -> bool:
    """patient field, doctor field has: not "whose father died", "his wife's sister lives"."""
    word, after = slots.tokens[at].word, slots.word_after(at)
    if not _is_nominal(word) or not _is_singular(word) or word in _ROLES or slots.lexicon.is_own(word):
        return False
    return "v" not in kinds_of(word) or after in _AUXILIARIES or after in MODALS or _is_verb_alone(after)


def _stands_by_a_name(slots: Slots, at: int) -> bool:
    """Touches what is replaced, and is no verb or noun that the sentence needs there."""
    before, token = slots.before(at), slots.tokens[at]
    if before is not None and before.is_replaced and slots.gap(at) in (" ", "-", "–", ", "):
        return slots.gap(at) == "-" or _goes_on(slots, at, before)
    after = slots.after(at)
    joined = after is not None and after.is_replaced and slots.gap(at + 1) in ("-", "–")
    return joined and not slots.lexicon.is_own(token.word)


def _goes_on(slots: Slots, at: int, before: Token) -> bool:
    """Whether the word goes on with the name in front of it."""
    word, after = slots.tokens[at].word, slots.word_after(at)
    kinds = kinds_of(base_of(word))
    if slots.gap(at) == ", ":
        return _is_bare_noun(slots, at) and before.stand is Stand.UNKNOWN and not after
    if before.stand is Stand.NAME or word in _ROLES or not _is_nominal(word) or slots.lexicon.is_own(word):
        return False  # "tom hanks films": what the graph holds is whole, a stranger's name may go on.
    asking = slots.word_before(at - 1)
    if asking in _BE:
        return "a" not in kinds and not _is_participle(word)
    if asking in _AUXILIARIES or asking in MODALS:
        return "v" not in kinds or (_is_verb(after) and after not in _FUNCTION)
    return not ("v" in kinds and word.endswith("s")) and not _is_participle(word)


def _is_in_a_slot(slots: Slots, at: int) -> bool:
    """A noun in the singular with nothing in front that a common noun needs, where a name may stand."""
    token, before = slots.tokens[at], slots.before(at)
    if token.word in MODALS:
        asked = before is not None and (before.word in _AUXILIARIES or before.word in _PREPOSITIONS)
        return asked and slots.word_after(at) not in ("be", "have", "not")
    if token.word in _FUNCTION or "r" in kinds_of(token.word) or not _is_nominal(token.word):
        return False
    if slots.begins(at):
        return _opens_as_a_name(slots, at)
    if before is None or before.stand is not Stand.WORD:
        return False
    if before.word in _AUXILIARIES:
        return _follows_an_auxiliary(slots, at, before.word)
    if not _is_bare_noun(slots, at):
        return False
    if before.word in _JOINING:
        return _is_joined_to_a_name(slots, at)
    if before.word == "to" and "v" in kinds_of(token.word) and slots.word_before(at - 1) in _BEFORE_INFINITIVES:
        return False
    if before.word in _PREPOSITIONS:
        # "the husband of ...", "a kind of film": what something is of, and what there are kinds of.
        return slots.word_after(at) != "of" and slots.word_before(at - 1) not in _CLASSIFIERS
    return _is_verb_before(slots, at)


def _is_joined_to_a_name(slots: Slots, at: int) -> bool:
    other = slots.before(at - 1)
    return other is not None and other.is_replaced


def _follows_an_auxiliary(slots: Slots, at: int, auxiliary: str) -> bool:
    """does rose live, where is field; not "which film is long"."""
    first = at == 1 or slots.begins(at - 1) or slots.word_before(at - 1) in _ASKING
    if not first or slots.lexicon.is_own(slots.tokens[at].word):
        return False
    return auxiliary in _SINGULAR_AUXILIARIES or _is_bare_noun(slots, at)


def _is_bare_noun(slots: Slots, at: int) -> bool:
    """A singular noun or adjective that no noun follows."""
    word, after = slots.tokens[at].word, slots.word_after(at)
    if not _is_singular(word) or slots.lexicon.is_own(word) or word.endswith("ing"):
        return False
    follows = slots.after(at)
    if follows is not None and follows.stand is Stand.NAME and "a" in kinds_of(word):
        return False  # "modern egypt"
    return not after or after in _FUNCTION or after in MODALS or not _is_nominal(after) or _is_verb_alone(after)


def _is_verb_before(slots: Slots, at: int) -> bool:
    """who treats field, who has gout: the word in front says what is done."""
    verb = slots.word_before(at)
    kinds = kinds_of(verb)
    if "v" not in kinds or verb in _FUNCTION:
        return False
    subject = slots.before(at - 1)
    told = subject is not None and (subject.is_replaced or subject.word in ("who", "that"))
    return "n" not in kinds or told


def _opens_as_a_name(slots: Slots, at: int) -> bool:
    """rose lives where? A line of one word counts, too; an order does not."""
    word, after = slots.tokens[at].word, slots.after(at)
    if slots.lexicon.is_own(word):
        return False
    if not _is_singular(word):
        return after is not None and not _is_said_of_many(slots, at)
    if after is None:
        return True
    if after.stand is not Stand.WORD:
        return after.is_replaced and "v" not in kinds_of(word)
    is_said = after.word in _AUXILIARIES or after.word in MODALS or after.word in _JOINING
    return is_said or _is_verb_alone(after.word) or "," in slots.gap(at + 1)


def _is_order(slots: Slots, at: int) -> bool:
    """Compare the, Rank all, Count patients."""
    word, after = slots.tokens[at].word, slots.word_after(at)
    return _is_verb(word) and bool(after) and (after in _DETERMINERS or not _is_singular(after))


def _is_said_of_many(slots: Slots, at: int) -> bool:
    """Films directed by, Cities with: not "Woods has", "Banks lives"."""
    word, after = slots.tokens[at].word, slots.word_after(at)
    is_one = after in _SINGULAR_AUXILIARIES or (after.endswith("s") and _is_verb_alone(after))
    return not _is_singular(word) and bool(after) and not is_one


def _describes_a_noun(slots: Slots, at: int) -> bool:
    """Old movies, Female doctors."""
    after = slots.word_after(at)
    return "a" in kinds_of(slots.tokens[at].word) and "n" in kinds_of(after) and not _is_verb_alone(after)


def _is_nominal(word: str) -> bool:
    kinds = kinds_of(base_of(word))
    return not kinds or not {"n", "a"}.isdisjoint(kinds)


def _is_singular(word: str) -> bool:
    plain = base_of(word)
    return plain not in _MANY and not (plain.endswith("s") and not plain.endswith("ss") and in_lexicon(plain[:-1]))


def _is_verb(word: str) -> bool:
    return "v" in kinds_of(word)


def _is_verb_alone(word: str) -> bool:
    """A verb's form that is no noun's: lived; or that of one who does it: lives."""
    kinds = kinds_of(word)
    return "v" in kinds and ("n" not in kinds or word.endswith("s"))


def _is_participle(word: str) -> bool:
    return word.endswith(("ed", "ing", "en")) and _is_verb(word)


_SPEAKING: Final[tuple[Callable[[Slots, int], bool], ...]] = (
    _is_marked,
    _is_addressed,
    _stands_by_a_name,
    _is_in_a_slot,
)
