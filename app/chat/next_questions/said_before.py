"""Finds which relations of a thing the turns of a dialogue have already asked or told, by their words."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from app.chat.question_run import QuestionRun
from app.privacy.pseudonyms import words_in
from kg_store.terms import Mid
from kg_store.text.inflection import singular, verbs_of
from kg_store.text.labels import plain_words

_SMALL: Final = frozenset(
    "is has have had was are be by in at on to of from for with the a an as and it its that who which what".split()
)


def is_said(run: QuestionRun, mid: Mid, label: str) -> bool:
    """True if a turn holds all words of `label` and names the thing, or names nothing (as with pronouns)."""
    wanted = [_forms(word) for word in plain_words(label).lower().replace("|", " ").replace("^", "").split()]
    wanted = [forms for forms in wanted if forms.isdisjoint(_SMALL)]
    if not wanted:
        return False
    table = run.conversation.table
    for turn in run.read.dialogue.turns:
        named = table.known(turn.text)
        if named and not any(table.entity(word) == mid for word in named):
            continue
        said = {form for each in words_in(turn.text) for form in _forms(each.word.lower())}
        if all(not forms.isdisjoint(said) for forms in wanted):
            return True
    return False


@lru_cache(maxsize=20_000)
def _forms(word: str) -> frozenset[str]:
    """`word`, its singular, and the verbs of which it is a form."""
    return frozenset({word, singular(word)}) | verbs_of(word)
