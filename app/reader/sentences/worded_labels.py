"""Words for labels that are neither verb nor noun: "is fragile", "in country", "music by", "inspection due"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.reader.sentences.relation_phrases import label_words
from kg_store.text.inflection import is_agent, is_done, is_participle, lemminflect, with_article

_PREPOSITIONS: Final = frozenset("in at on under from with near behind within".split())
_ORDINALS: Final = frozenset("first last originally initially previously".split())
_KIND_OF: Final = (["is", "a"], ["is-a"], ["is", "an"], ["isa"])


@dataclass(frozen=True, slots=True)
class WordedLabel:
    """The words of a label in a sentence: "X's `noun` `verb` Y", or "X `verb` Y" if there is no noun."""

    verb: str
    noun: str = ""


def worded(label: str, end_concept: str) -> WordedLabel | None:
    words = label_words(label)
    if words in _KIND_OF:
        return WordedLabel("is of the kind")
    if len(words) < 2:
        return None
    if words[0] in _PREPOSITIONS and len(words) == 2 and words[1] not in _PREPOSITIONS:
        return WordedLabel(f"is {words[0]} the {words[1]}")
    if words[-1] == "by" and len(words) == 2 and not is_participle(words[0]):
        return WordedLabel("is by", noun=words[0])
    if end_concept == "date" and words[-1] == "due":
        return WordedLabel("is due on", noun=" ".join(words[:-1]))
    if end_concept == "date" and words[0] in _ORDINALS and is_participle(words[-1]):
        return WordedLabel(f"was {' '.join(words)} on")
    return None


def _is_verb(word: str) -> bool:
    """True of a verb in the third person, such as "smokes"."""
    return word.endswith("s") and word not in lemminflect.getAllLemmas(word).get("VERB", (word,))


def state(label: str) -> str:
    """Returns the state in a yes/no label as a clause: "is fragile", "has cold storage", "is a smoker", "smokes"."""
    words: Sequence[str] = label_words(label)
    if words[0] in ("is", "has", "was", "can") and len(words) > 1:
        return " ".join(words)
    if is_done(words[0]) or _is_verb(words[0]):
        return " ".join(words)
    if len(words) == 1 and is_agent(words[0]):
        return f"is {with_article(words[0])}"
    return f"is {' '.join(words)}"
