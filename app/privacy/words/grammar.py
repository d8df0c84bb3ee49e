"""Lists of English words by grammatical class, and the tokens of a turn with what surrounds each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from app.privacy.words.lexicon import Lexicon, base_of
from kg_store.lexicon.lexicon import in_lexicon, kinds_of

TITLES: Final = frozenset(
    """
    mr mrs ms mister dr prof sir madam rev reverend fr st saint sgt lt col gen capt herr frau fräulein madame monsieur
    mme mlle señor señora sr sra don doña signor signora sig pan pani bay hanım
    """.split()
)
OCCUPATIONS_AND_KIN: Final = frozenset(
    """
    doctor patient client customer brother sister cousin officer agent director actor actress employee mother son
    daughter husband wife friend colleague professor miss dame lord lady father
    captain nurse uncle aunt auntie judge president senator
    """.split()
)
KIN: Final = frozenset(
    "brother sister cousin mother son daughter husband wife father friend colleague uncle aunt child parent".split()
)
MEASURING: Final = frozenset(
    "oldest youngest newest biggest largest smallest highest lowest longest shortest cheapest heaviest latest "
    "earliest older younger newer bigger larger smaller higher lower longer shorter cheaper heavier average "
    "total number between before after which where whose".split()
)
"""Superlatives and comparatives, and other words that tell what is asked, in the form in which they are typed."""

ADVERBS: Final = frozenset(
    "now today tomorrow yesterday tonight here there then ever still again together home later soon".split()
)
NAMING: Final = frozenset("named called surname name lastname".split())
NAMING_ELSEWHERE: Final = frozenset(
    """
    heißt heisst heiße heisse heißen heissen namens genannt llama llamo llaman llamado llamada apellido appelle
    appelles nommé nommée prénommé chiama chiamo chiamano cognome nazywa nazywam nazwisko adı soyadı tên họ heet
    heten genaamd
    """.split()
)
"""The words of `NAMING` in other languages, in lower case as they are typed."""
DETERMINERS: Final = frozenset(
    """
    a an the this that these those my your his her its our their whose which what any some no every each all both many
    much few several more most other another same own how such only either neither less least very too so as
    """.split()
)
SINGULAR_AUXILIARIES: Final = frozenset(("does", "is", "was", "has"))
AUXILIARIES: Final = SINGULAR_AUXILIARIES | frozenset("do did are were have had can could would should shall".split())
PERFECT: Final = frozenset("have has had ever never already just".split())
BE: Final = frozenset("is are was were be been".split())
ASKING: Final = frozenset("who whom where when why what how".split())
INTENSIFIERS: Final = frozenset("how so as very too more most less least".split())
SUBJECTS: Final = frozenset("i you he she we they who".split())
PRONOUNS: Final = SUBJECTS | frozenset("it me him us them".split())
PREPOSITIONS: Final = frozenset(
    """
    of by with for from to about than like between against near under over in at on into onto without after before
    through behind beside beyond toward towards around among except including
    """.split()
)
NEVER_NAMES: Final = frozenset(
    """
    one anyone someone everyone anybody somebody everybody nobody anything something everything nothing
    once twice out really only also maybe perhaps sometime sometimes
    """.split()
)
"""Pronouns and adverbs that can stand in a noun's place; in lower case that place does not make them names."""

LINKING: Final = frozenset("sound sounds sounded look looks looked seem seems seemed feel feels felt".split())
ADDRESSING: Final = frozenset("sir madam mister reverend father mother brother sister uncle aunt".split())
CLASSIFIERS: Final = frozenset(
    "kind kinds type types sort sorts genre category form list number name names set".split()
)
# Words after which "to" leads to a person and not to a verb: "married to".
BEFORE_RECEIVERS: Final = frozenset(
    """
    married related belong belongs belonging talk talks talked speak spoke given sent assigned close next similar due
    engaged introduced known listen compared reported reports attached admitted referred
    """.split()
)
PHRASES: Final = frozenset(
    line.strip()
    for line in """
    of course|for example|for fun|for sale|for life|at work|at home|at night|at last|at first|at birth|by name|by far
    in person|in love|in time|on time|in charge|in order|in total|in common|in front|in fact|in case|on average
    """.replace("\n", "|").split("|")
)
EXCLAMATIONS: Final = frozenset(
    """
    wow great sure cool nice awesome sorry right welcome sweet perfect interesting amazing wonderful exactly really
    definitely totally absolutely alright yeah correct
    """.split()
)
PLURALS: Final = frozenset("people men women children police data media".split())
JOINING: Final = frozenset(("and", "or", "nor", "&", "plus", "versus", "vs"))
CONJUNCTIONS: Final = frozenset("but if because while although though unless until since whether".split())
FUNCTION_WORDS: Final = (
    DETERMINERS | AUXILIARIES | ASKING | PREPOSITIONS | JOINING | frozenset("not be been it there".split())
)
MARKS: Final = frozenset("\"'“”„‘’«»‹›`()[]{}<>*_|")
ENDS: Final = frozenset(".!?;:\n…")
BULLETS: Final = " \t\u00a0\"'“”„‘’«»‹›([{*_#>-–—•·"


def is_nominal(word: str) -> bool:
    kinds = kinds_of(base_of(word))
    return not kinds or not {"n", "a"}.isdisjoint(kinds)


def is_singular(word: str) -> bool:
    plain = base_of(word)
    return plain not in PLURALS and not (plain.endswith("s") and not plain.endswith("ss") and in_lexicon(plain[:-1]))


def is_verb(word: str) -> bool:
    return "v" in kinds_of(word)


def is_verb_alone(word: str) -> bool:
    """True if the form can only be a verb ("lived"), or is a verb in the third person ("lives")."""
    kinds = kinds_of(word)
    return "v" in kinds and ("n" not in kinds or word.endswith("s"))


def only_describes(word: str) -> bool:
    """True if the word is an adjective and nothing else, or an exclamation such as "great"."""
    return word in EXCLAMATIONS or word == "good" or kinds_of(word) == "a"


def is_participle(word: str) -> bool:
    return word.endswith(("ed", "ing", "en")) and is_verb(word)


class Stand(Enum):
    """The role of a token.

    WORD: a word of the text. NAME: a replaced name. UNKNOWN: a replaced word that is in no name of the graph. VALUE:
    another replaced part, such as a number.
    """

    WORD = "word"
    NAME = "name"
    UNKNOWN = "unknown"
    VALUE = "value"


class Token(NamedTuple):
    """text[start:end]. `word` is the token in lower case, empty for a replaced part."""

    start: int
    end: int
    stand: Stand
    word: str = ""

    def __repr__(self) -> str:
        return f"Token({self.start}, {self.end}, {self.stand})"  # Without the word, which may be a name.

    @property
    def is_replaced(self) -> bool:
        return self.stand in (Stand.NAME, Stand.UNKNOWN)


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """The tokens of one turn in order, with access to the neighbours of each. `at` is the position of a token."""

    text: str = field(repr=False)
    tokens: Sequence[Token] = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    language: str = ""
    """The language of the text (ISO 639-1), empty for English."""

    def before(self, at: int) -> Token | None:
        """Returns the token before the one at `at`, or None if it belongs to another sentence."""
        return self.tokens[at - 1] if at and not ENDS.intersection(self.gap(at)) else None

    def after(self, at: int) -> Token | None:
        return self.tokens[at + 1] if at + 1 < len(self.tokens) and not ENDS & set(self.gap(at + 1)) else None

    def gap(self, at: int) -> str:
        """Returns the text between the token at `at` and the one before it."""
        return self.text[self.tokens[at - 1].end if at else 0 : self.tokens[at].start]

    def word_before(self, at: int) -> str:
        before = self.before(at)
        return before.word if before else ""

    def word_after(self, at: int) -> str:
        after = self.after(at)
        return after.word if after else ""

    def begins(self, at: int) -> bool:
        """True if a sentence, line or list item begins at the token."""
        gap = self.gap(at).rstrip(BULLETS)
        return at == 0 or (bool(gap) and gap[-1] in ENDS)
