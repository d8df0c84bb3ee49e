"""Recognises common words that are names because of their place or marks: "does rose live here", "mr field"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from app.privacy.words.grammar import (
    ADDRESSING,
    ADVERBS,
    ASKING,
    AUXILIARIES,
    BE,
    BEFORE_RECEIVERS,
    BULLETS,
    CLASSIFIERS,
    DETERMINERS,
    EXCLAMATIONS,
    FUNCTION_WORDS,
    JOINING,
    KIN,
    LINKING,
    MARKS,
    NAMING,
    NAMING_ELSEWHERE,
    NEVER_NAMES,
    OCCUPATIONS_AND_KIN,
    PHRASES,
    PLURALS,
    PREPOSITIONS,
    SINGULAR_AUXILIARIES,
    TITLES,
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
from app.privacy.words.lexicon import CONTRACTIONS, Lexicon, base_of, words_in
from kg_store.lexicon.lexicon import kinds_of, words_of_language
from kg_store.names.name_words import MAX_NAME_WORDS, MODALS, SHORT_LETTERS
from kg_store.text.english import is_rare

_ENCLOSED: Final = re.compile(
    r"""["“”„][^"“”„\n]{1,80}["“”]|«[^«»\n]{1,80}»|»[^«»\n]{1,80}«|‹[^‹›\n]{1,80}›|[‘‚][^‘’‚\n]{1,80}[’‘](?!\w)|"""
    r"""(?<!\w)'[^'\n]{1,80}'(?!\w)|`[^`\n]{1,80}`|\([^()\n]{1,80}\)|\[[^\[\]\n]{1,80}\]|\{[^{}\n]{1,80}\}"""
)
"""Matches text in quotes or brackets of at most 80 characters, about the length of a long name."""

_ASKED: Final = ASKING | AUXILIARIES
_BESIDE: Final = frozenset((" ", "-", "–", "_", ", "))


_TITLE: Final = re.compile(r"\b(?:(?:mr|mrs|ms|mx|dr|prof)\b\.?|mister)[ \u00a0]\Z", re.IGNORECASE)
_OFFICE: Final = re.compile(
    r"(?<=\w )(?<!\bhis )(?<!\bher )(?<!\bmy )(?<!\bour )(?<!\btheir )(?<!\byour )(?<!'s )(?<!’s )\b"
    r"(Miss|Sir|Dame|Lady|Lord|Sister|Brother|Father|Mother|Nurse|Doctor|Professor|Reverend|Captain|Judge)[ \u00a0]\Z"
)
"""Matches a capitalised title before a name inside a sentence.

Not after a possessive: in "her Sister Rose" the word says who it is.
"""

_LONGEST_TITLE: Final = 12


def start_with_titles(text: str, start: int, lexicon: Lexicon) -> int:
    """Returns the start of the name at text[start:] including its titles (Dr, Prof. Dr., Sister).

    A title that is a word of the schema is left out, because it says what kind of thing is meant.
    """
    while title := _title_before(text, start):
        if lexicon.is_own(title[0].strip(". \u00a0").lower()):
            break
        start = title.start()
    return start


def _title_before(text: str, start: int) -> re.Match[str] | None:
    begin = max(0, start - _LONGEST_TITLE)
    return _TITLE.search(text, begin, start) or _OFFICE.search(text, begin, start)


def is_marked(turn: TurnTokens, at: int) -> bool:
    """True if quotes, brackets or emphasis touch the word, or if it is a possessive without a determiner."""
    token = turn.tokens[at]
    around = turn.text[token.start - 1 : token.start] + turn.text[token.end : token.end + 1]
    if not MARKS.isdisjoint(around):
        return True
    before = turn.before(at)
    needs_none = before is None or (before.stand is Stand.WORD and before.word not in DETERMINERS | CONTRACTIONS)
    return base_of(token.word) != token.word and needs_none and is_nominal(token.word)


def is_addressed(turn: TurnTokens, at: int) -> bool:
    """True if a title, an occupation, an initial or a word like "named" stands before: "mr field", "patient field"."""
    before, word = turn.tokens[at - 1] if at else None, turn.tokens[at].word
    gap = turn.gap(at).strip()
    if before is None or gap not in ("", ".", ":"):
        return False
    is_named = before.word in NAMING and is_nominal(word) and word not in LINKING and not turn.lexicon.is_own(word)
    is_initial = gap == "." and len(before.word) == 1
    # Compares the typed text, because a title such as "herr" may be outside the lexicon and replaced already.
    title = turn.text[before.start : before.end].lower()
    is_named = is_named or (title in NAMING_ELSEWHERE and not turn.lexicon.is_own(word))
    return title in TITLES or is_named or is_initial or (before.word in OCCUPATIONS_AND_KIN and _is_named_so(turn, at))


def _is_named_so(turn: TurnTokens, at: int) -> bool:
    """True if the word after an occupation or kinship word can be a name, and not that person's verb.

    True in "patient field", "doctor field has"; false in "whose father died", "his wife's sister lives".
    """
    word, after = turn.tokens[at].word, turn.word_after(at)
    if not is_nominal(word) or not is_singular(word) or word in OCCUPATIONS_AND_KIN or turn.lexicon.is_own(word):
        return False
    return "v" not in kinds_of(word) or after in AUXILIARIES or after in MODALS or is_verb_alone(after)


def is_labelled(turn: TurnTokens, at: int) -> bool:
    """True if a colon separates the word from the one before: "patients: field", "to: field"."""
    return at > 0 and turn.gap(at).strip() == ":" and not turn.lexicon.is_own(turn.tokens[at].word)


def is_marked_alone(turn: TurnTokens, at: int) -> bool:
    """True if the word has quotes or brackets on both sides or a line of its own, or is in capitals.

    Capitals count only in a text that has lower case too.
    """
    token, text = turn.tokens[at], turn.text
    if text[token.start - 1 : token.start] in MARKS and text[token.end : token.end + 1] in MARKS:
        return True
    line = text[text.rfind("\n", 0, token.start) + 1 :].partition("\n")[0]
    written = text[token.start : token.end]
    return line.strip(BULLETS + ".,;:!?)]}»›") == written or (written.isupper() and not text.isupper())


def is_enclosed(turn: TurnTokens, at: int) -> bool:
    """True if the word is inside quotes or brackets with few others, no question word among them.

    Example: "charles duke of burgundy". False if all of the words belong to the schema.
    """
    if MARKS.isdisjoint(turn.text):
        return False
    token = turn.tokens[at]
    around = (m for m in _ENCLOSED.finditer(turn.text) if m.start() < token.start and token.end < m.end())
    inside = next((tokens for match in around if (tokens := _words_of(turn, *match.span()))), None)
    if inside is None or not _ASKED.isdisjoint(inside):
        return False
    return not all(turn.lexicon.is_own(word) for word in inside if word not in DETERMINERS and word != "of")


def _words_of(turn: TurnTokens, start: int, end: int) -> list[str]:
    """Returns the words of text[start:end], replaced ones as typed; empty if there are more than a name can have."""
    found = [match[0].lower() for match in words_in(turn.text[start:end])]
    return found if len(found) <= MAX_NAME_WORDS else []


def is_beside_its_name(turn: TurnTokens, at: int) -> bool:
    """True if the word and a replaced word beside it are also neighbours in a name of the tenant.

    For example, "lakeside" in "clinic lakeside", where "clinic" is replaced, if the tenant has a "Lakeside Clinic".
    """
    word = turn.tokens[at].word
    before, after = turn.before(at), turn.after(at)
    others = []
    if before is not None and before.stand is not Stand.WORD and turn.gap(at) in _BESIDE:
        others.append([match[0] for match in words_in(turn.text[before.start : before.end])][-1:])
    if after is not None and after.stand is not Stand.WORD and turn.gap(at + 1) in _BESIDE:
        others.append([match[0] for match in words_in(turn.text[after.start : after.end])][:1])
    return any(turn.lexicon.stand_in_one_name(word, base_of(other.lower())) for each in others for other in each)


MIN_FOREIGN_LETTERS: Final = 4
"""Shorter words of another language are articles and particles, which occur in names too (von, der).

Chosen by hand.
"""


def speaks_for_name(turn: TurnTokens, at: int) -> bool:
    """True if anything around the common word at `at` shows that it is a name here."""
    word = turn.tokens[at].word
    if len(word) == SHORT_LETTERS:
        return any(speaks(turn, at) for speaks in _MARKING_SHORT)
    speaking = _MARKING if word in NEVER_NAMES else _SPEAKING
    return any(speaks(turn, at) for speaks in speaking)


def stands_as_a_name(turn: TurnTokens, at: int) -> bool:
    """True if the place of a word outside the lexicon shows a name; its language and rarity do not matter here."""
    return any(speaks(turn, at) for speaks in _PLACING)


def opens_a_sentence(turn: TurnTokens, at: int) -> bool:
    """True if the common word at `at` can begin a sentence: an order, a plural or an adjective."""
    if turn.tokens[at].word in EXCLAMATIONS:
        return True
    return _is_order(turn, at) or _is_said_of_many(turn, at) or _describes_a_noun(turn, at)


def _stands_by_a_name(turn: TurnTokens, at: int) -> bool:
    """True if the word touches a replaced name and is part of it, and not the sentence's verb or noun."""
    before, token = turn.before(at), turn.tokens[at]
    if before is not None and before.is_replaced and turn.gap(at) in (" ", "-", "–", ", "):
        return turn.gap(at) == "-" or _goes_on(turn, at, before)
    if turn.lexicon.is_own(token.word):
        return False
    if before is not None and before.stand is Stand.VALUE and turn.gap(at) == " ":
        return _is_after_a_number(turn, at)
    return _leads_to_a_name(turn, at)


def _is_after_a_number(turn: TurnTokens, at: int) -> bool:
    """True if a singular noun follows a replaced number with no determiner before: "2 diabetes", part of a name.

    False in "the 1990 film" and "5 patients".
    """
    word = turn.tokens[at].word
    return is_nominal(word) and is_singular(word) and turn.word_before(at - 1) not in DETERMINERS


def _leads_to_a_name(turn: TurnTokens, at: int) -> bool:
    """True if a noun belongs to the unknown name behind it: "lakeside brackwede", "rose-brackwede".

    True too if "and" or the like joins the two, unless an article stands before or the word is not singular.
    """
    word, after = turn.tokens[at].word, turn.after(at)
    if after is None or not is_nominal(word):
        return False
    gap = turn.gap(at + 1)
    if after.is_replaced:
        is_noun = "v" not in kinds_of(word) and turn.word_before(at) not in DETERMINERS
        return gap in ("-", "–") or (gap == " " and after.stand is Stand.UNKNOWN and is_noun and is_singular(word))
    other = turn.after(at + 1)
    joined = after.word in JOINING and other is not None and other.stand is Stand.UNKNOWN
    return joined and is_singular(word) and turn.word_before(at) not in DETERMINERS


def _goes_on(turn: TurnTokens, at: int, before: Token) -> bool:
    """True if the word continues the replaced name in front of it, instead of being the sentence's verb or noun."""
    word, after = turn.tokens[at].word, turn.word_after(at)
    kinds = kinds_of(base_of(word))
    if turn.gap(at) == ", ":
        return _is_bare_noun(turn, at) and before.stand is Stand.UNKNOWN and not after
    if before.stand is Stand.NAME or word in KIN or not is_nominal(word) or turn.lexicon.is_own(word):
        return False  # "tom hanks films": a name of the graph is complete; only an unknown name may continue.
    asking = turn.word_before(at - 1)
    if asking in BE:
        return "a" not in kinds and not is_participle(word)
    if asking in AUXILIARIES or asking in MODALS:
        return "v" not in kinds or after in JOINING or (is_verb(after) and after not in FUNCTION_WORDS)
    return not ("v" in kinds and word.endswith("s")) and not is_participle(word)


def _is_in_a_slot(turn: TurnTokens, at: int) -> bool:
    """True if a singular noun stands where a name can, without the article that a common noun needs."""
    token, before = turn.tokens[at], turn.before(at)
    if token.word in MODALS:
        asked = before is not None and (before.word in AUXILIARIES or before.word in PREPOSITIONS)
        return asked and turn.word_after(at) not in ("be", "have", "not")
    if token.word in FUNCTION_WORDS or token.word in ADVERBS or not is_nominal(token.word):
        return False
    if _addresses_a_name(turn, at):
        return False
    if turn.begins(at):
        return _opens_as_a_name(turn, at)
    if before is None or before.stand is not Stand.WORD:
        return False
    if before.word in AUXILIARIES:
        return _follows_an_auxiliary(turn, at, before.word)
    if not _is_bare_noun(turn, at):
        return False
    if before.word in JOINING:
        return _is_joined_to_a_name(turn, at)
    if before.word == "to" and "v" in kinds_of(token.word) and turn.word_before(at - 1) not in BEFORE_RECEIVERS:
        return False
    if f"{before.word} {token.word}" in PHRASES:
        return False
    if before.word == "as":
        return turn.after(at) is None
    if before.word in PREPOSITIONS:
        # Not a name: "husband" in "the husband of ...", "film" in "a kind of film".
        return turn.word_after(at) != "of" and turn.word_before(at - 1) not in CLASSIFIERS
    return _is_verb_before(turn, at)


def _addresses_a_name(turn: TurnTokens, at: int) -> bool:
    """True if the word is a title in front of a replaced name: "sir" in "sir isaac newton". The title stays."""
    after = turn.after(at)
    return turn.tokens[at].word in ADDRESSING and after is not None and after.is_replaced and turn.gap(at + 1) == " "


def _is_joined_to_a_name(turn: TurnTokens, at: int) -> bool:
    other = turn.before(at - 1)
    return other is not None and other.is_replaced


def _follows_an_auxiliary(turn: TurnTokens, at: int, auxiliary: str) -> bool:
    """True if an auxiliary that opens the question stands before the word: "does rose live", "where is field".

    False in "which film is long", where the auxiliary does not open it.
    """
    first = at == 1 or turn.begins(at - 1) or turn.word_before(at - 1) in ASKING
    if not first or turn.lexicon.is_own(turn.tokens[at].word):
        return False
    return auxiliary in SINGULAR_AUXILIARIES or _is_bare_noun(turn, at)


def _is_bare_noun(turn: TurnTokens, at: int) -> bool:
    """True if the word is a singular noun or adjective outside the schema, followed by no noun and no known name."""
    word, after = turn.tokens[at].word, turn.word_after(at)
    if not is_singular(word) or turn.lexicon.is_own(word) or word.endswith("ing"):
        return False
    follows = turn.after(at)
    if follows is not None and follows.stand is Stand.NAME:
        return False  # "modern egypt", "describe movie ...": the word belongs to the known name.
    return not after or after in FUNCTION_WORDS or after in MODALS or not is_nominal(after) or is_verb_alone(after)


def _is_verb_before(turn: TurnTokens, at: int) -> bool:
    """True if the word before is a verb, so that this one is its object: "who treats field", "who has gout"."""
    verb = turn.word_before(at)
    kinds = kinds_of(verb)
    if "v" not in kinds or verb in FUNCTION_WORDS or verb in PLURALS:
        return False
    if verb in LINKING and only_describes(turn.tokens[at].word):
        return False
    subject = turn.before(at - 1)
    told = subject is not None and (subject.is_replaced or subject.word in ("who", "that"))
    return "n" not in kinds or told


def _opens_as_a_name(turn: TurnTokens, at: int) -> bool:
    """True if the word opens the sentence as its subject ("rose lives where?") or is all of it; false for an order."""
    word, after = turn.tokens[at].word, turn.after(at)
    if turn.lexicon.is_own(word) or word in EXCLAMATIONS:
        return False
    if not is_singular(word):
        return after is not None and not _is_said_of_many(turn, at)
    if after is None:
        return True
    if after.stand is not Stand.WORD:
        return after.is_replaced and "v" not in kinds_of(word)
    is_said = after.word in AUXILIARIES or after.word in MODALS or after.word in JOINING
    return is_said or is_verb_alone(after.word) or "," in turn.gap(at + 1)


def _is_order(turn: TurnTokens, at: int) -> bool:
    """True if the word is a verb before a determiner or plural: "Compare the", "Rank all", "Count patients"."""
    word, after = turn.tokens[at].word, turn.word_after(at)
    return is_verb(word) and bool(after) and (after in DETERMINERS or not is_singular(after))


def _is_said_of_many(turn: TurnTokens, at: int) -> bool:
    """True if the word is a plural and no singular verb follows: "Films directed by", "Cities with".

    False in "Woods has" and "Banks lives", where the verb shows that one person is meant.
    """
    word, after = turn.tokens[at].word, turn.word_after(at)
    is_one = after in SINGULAR_AUXILIARIES or (after.endswith("s") and is_verb_alone(after))
    return not is_singular(word) and bool(after) and not is_one


def _describes_a_noun(turn: TurnTokens, at: int) -> bool:
    """True if the word is an adjective before a noun: "Old movies", "Female doctors"."""
    after = turn.word_after(at)
    return "a" in kinds_of(turn.tokens[at].word) and "n" in kinds_of(after) and not is_verb_alone(after)


def _is_apposed(turn: TurnTokens, at: int) -> bool:
    """True if the word stands alone after a comma and before a comma or the end: "my neighbour, field, asked"."""
    word = turn.tokens[at].word
    is_last = at + 1 == len(turn.tokens) or turn.gap(at + 1).lstrip().startswith((",", ".", "?", "!"))
    if at == 0 or turn.gap(at).strip() != "," or not is_last or word in FUNCTION_WORDS | EXCLAMATIONS:
        return False
    return is_nominal(word) and is_singular(word) and not turn.lexicon.is_own(word)


def _is_foreign_here(turn: TurnTokens, at: int) -> bool:
    """True if the text is in another language than English, unless the word is short or of the schema.

    Such a word counts as a name, because the grammar of other languages is not analysed.
    """
    word = base_of(turn.tokens[at].word)
    is_short = len(word) < MIN_FOREIGN_LETTERS and word in words_of_language(turn.language)
    return bool(turn.language) and not is_short and not turn.lexicon.is_own(word)


def _is_rare_word(turn: TurnTokens, at: int) -> bool:
    """True if the word is rare, singular and without determiner, so that it is more likely a name."""
    word = base_of(turn.tokens[at].word)
    if not is_rare(word) or turn.lexicon.is_own(word) or not is_nominal(word) or is_participle(word):
        return False
    owner = turn.after(at + 1) if turn.word_after(at) == "of" else None
    is_of_somebody = owner is not None and (owner.is_replaced or owner.word in DETERMINERS)
    return is_singular(word) and turn.word_before(at) not in DETERMINERS and not is_of_somebody


_MARKING: Final = (is_marked, is_enclosed, is_addressed, is_labelled, _is_foreign_here)
_MARKING_SHORT: Final = (is_marked_alone, is_addressed, is_labelled)

_PLACING: Final = (is_marked, is_enclosed, is_addressed, _stands_by_a_name, _is_in_a_slot, is_labelled, _is_apposed)

_SPEAKING: Final[tuple[Callable[[TurnTokens, int], bool], ...]] = (
    is_marked,
    is_enclosed,
    is_addressed,
    is_beside_its_name,
    _stands_by_a_name,
    _is_in_a_slot,
    is_labelled,
    _is_apposed,
    _is_foreign_here,
    _is_rare_word,
)
