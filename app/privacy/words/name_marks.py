"""Marks that show that a common word is a name: quotes, brackets, titles, labels, or the rest of a name beside it."""

from __future__ import annotations

import re
from typing import Final

from app.privacy.words.grammar_words import (
    ASKING,
    AUXILIARIES,
    BULLETS,
    DETERMINERS,
    LINKING,
    MARKS,
    NAMING,
    NAMING_ELSEWHERE,
    OCCUPATIONS_AND_KIN,
    TITLES,
    is_nominal,
    is_singular,
    is_verb_alone,
)
from app.privacy.words.lexicon import CONTRACTIONS, Lexicon, base_of, words_in
from app.privacy.words.turn_tokens import Stand, TurnTokens
from kg_store.lexicon.lexicon import kinds_of
from kg_store.names.name_words import MAX_NAME_WORDS, MODALS

_ENCLOSED: Final = re.compile(
    r"""["“”„][^"“”„\n]{1,80}["“”]|«[^«»\n]{1,80}»|»[^«»\n]{1,80}«|‹[^‹›\n]{1,80}›|[‘‚][^‘’‚\n]{1,80}[’‘](?!\w)|"""
    r"""(?<!\w)'[^'\n]{1,80}'(?!\w)|`[^`\n]{1,80}`|\([^()\n]{1,80}\)|\[[^\[\]\n]{1,80}\]|\{[^{}\n]{1,80}\}"""
)
"""Text in quotes or brackets that is not longer than names are."""

_ASKED: Final = ASKING | AUXILIARIES
_BESIDE: Final = frozenset((" ", "-", "–", "_", ", "))


_TITLE: Final = re.compile(r"\b(?:(?:mr|mrs|ms|mx|dr|prof)\b\.?|mister)[ \u00a0]\Z", re.IGNORECASE)
_OFFICE: Final = re.compile(
    r"(?<=\w )(?<!\bhis )(?<!\bher )(?<!\bmy )(?<!\bour )(?<!\btheir )(?<!\byour )(?<!'s )(?<!’s )\b"
    r"(Miss|Sir|Dame|Lady|Lord|Sister|Brother|Father|Mother|Nurse|Doctor|Professor|Reverend|Captain|Judge)[ \u00a0]\Z"
)
"""A title with a capital before a name inside a sentence; "her sister" in lower case says who it is."""

_LONGEST_TITLE: Final = 12


def start_with_titles(text: str, start: int, lexicon: Lexicon) -> int:
    """Returns where the name at text[start:] begins including its titles: Dr, Prof. Dr., Sister.

    A title that is a word of the schema says what kind of thing is meant, and is left out.
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
    """True if quotes, brackets or emphasis touch the word, or a possessive ending without anything
    that a noun needs.
    """
    token = turn.tokens[at]
    around = turn.text[token.start - 1 : token.start] + turn.text[token.end : token.end + 1]
    if not MARKS.isdisjoint(around):
        return True
    before = turn.before(at)
    needs_none = before is None or (before.stand is Stand.WORD and before.word not in DETERMINERS | CONTRACTIONS)
    return base_of(token.word) != token.word and needs_none and is_nominal(token.word)


def is_addressed(turn: TurnTokens, at: int) -> bool:
    """True after a title or an occupation: "mr field", "patient field"."""
    before, word = turn.tokens[at - 1] if at else None, turn.tokens[at].word
    gap = turn.gap(at).strip()
    if before is None or gap not in ("", ".", ":"):
        return False
    is_named = before.word in NAMING and is_nominal(word) and word not in LINKING and not turn.lexicon.is_own(word)
    is_initial = gap == "." and len(before.word) == 1
    # A title may be no word of the lexicon itself: herr.
    title = turn.text[before.start : before.end].lower()
    is_named = is_named or (title in NAMING_ELSEWHERE and not turn.lexicon.is_own(word))
    return title in TITLES or is_named or is_initial or (before.word in OCCUPATIONS_AND_KIN and _is_named_so(turn, at))


def _is_named_so(turn: TurnTokens, at: int) -> bool:
    """True of "patient field", "doctor field has"; false of "whose father died", "his wife's sister lives"."""
    word, after = turn.tokens[at].word, turn.word_after(at)
    if not is_nominal(word) or not is_singular(word) or word in OCCUPATIONS_AND_KIN or turn.lexicon.is_own(word):
        return False
    return "v" not in kinds_of(word) or after in AUXILIARIES or after in MODALS or is_verb_alone(after)


def is_labelled(turn: TurnTokens, at: int) -> bool:
    """True after a label with a colon: "patients: field", "to: field"."""
    return at > 0 and turn.gap(at).strip() == ":" and not turn.lexicon.is_own(turn.tokens[at].word)


def is_marked_alone(turn: TurnTokens, at: int) -> bool:
    """True if the word stands in quotes or brackets, on a line of its own, or in capitals in a text that has lower
    case too.
    """
    token, text = turn.tokens[at], turn.text
    if text[token.start - 1 : token.start] in MARKS and text[token.end : token.end + 1] in MARKS:
        return True
    line = text[text.rfind("\n", 0, token.start) + 1 :].partition("\n")[0]
    written = text[token.start : token.end]
    return line.strip(BULLETS + ".,;:!?)]}»›") == written or (written.isupper() and not text.isupper())


def is_enclosed(turn: TurnTokens, at: int) -> bool:
    """True inside quotes or brackets with few words, none of which asks: "charles duke of burgundy"."""
    if MARKS.isdisjoint(turn.text):
        return False
    token = turn.tokens[at]
    around = (m for m in _ENCLOSED.finditer(turn.text) if m.start() < token.start and token.end < m.end())
    inside = next((tokens for match in around if (tokens := _words_of(turn, *match.span()))), None)
    if inside is None or not _ASKED.isdisjoint(inside):
        return False
    return not all(turn.lexicon.is_own(word) for word in inside if word not in DETERMINERS and word != "of")


def _words_of(turn: TurnTokens, start: int, end: int) -> list[str]:
    """The words of text[start:end], with replaced ones as typed; none if there are too many."""
    found = [match[0].lower() for match in words_in(turn.text[start:end])]
    return found if len(found) <= MAX_NAME_WORDS else []


def is_beside_its_name(turn: TurnTokens, at: int) -> bool:
    """True if the word touches another, replaced word of a name that it is part of: "clinic lakeside"."""
    word = turn.tokens[at].word
    before, after = turn.before(at), turn.after(at)
    others = []
    if before is not None and before.stand is not Stand.WORD and turn.gap(at) in _BESIDE:
        others.append([match[0] for match in words_in(turn.text[before.start : before.end])][-1:])
    if after is not None and after.stand is not Stand.WORD and turn.gap(at + 1) in _BESIDE:
        others.append([match[0] for match in words_in(turn.text[after.start : after.end])][:1])
    return any(turn.lexicon.stand_in_one_name(word, base_of(other.lower())) for each in others for other in each)
