"""The ways in which a question may word one step of a path."""

from __future__ import annotations

from dataclasses import dataclass

from app.llm.question_words import singular

# A relation's own words read backwards mislead when they name what it leads to: `parents` backwards is a child.
WEIGHT_OF_LABEL_BACKWARDS = 0.8
# "X's doctor" for `treated by`: what a step leads to may stand for it, but its own words say more.
WEIGHT_OF_KIND_ALONE = 0.75
_IRREGULAR_VERBS = {
    "written": ("write", "wrote"),
    "built": ("build",),
    "made": ("make",),
    "led": ("lead",),
    "taught": ("teach",),
    "held": ("hold",),
    "won": ("win",),
    "given": ("give", "gave"),
    "taken": ("take", "took"),
    "bought": ("buy",),
    "sold": ("sell",),
    "sung": ("sing", "sang"),
    "run": ("run", "ran"),
    "known": ("know", "knew"),
}
_EVERYTHING = frozenset({"thing", "", "number", "text", "yes or no"})


@dataclass(frozen=True, slots=True)
class HopWords:
    """Wordings of the step with the weight of each, the kind of thing that it leads to, and its direction.

    `verbs` say the step where they stand word by word: "direct" for `directed by` backwards.
    """

    wordings: tuple[tuple[str, float], ...]
    kinds: tuple[str, ...]
    inverse: bool
    verbs: frozenset[str]


def hop_words(label: str, concept: str) -> HopWords:
    """Wordings of a step: its relation, the concept that it leads to, and both together."""
    inverse = label.split("|")[-1].startswith("^")
    kinds = kinds_in(concept)
    weight = WEIGHT_OF_LABEL_BACKWARDS if inverse else 1.0
    wordings = dict.fromkeys(_relation_words(label), weight)
    for kind in kinds:
        wordings |= {f"{kind} {words}": 1.0 for words in _relation_words(label)[:1]}
        wordings.setdefault(kind, WEIGHT_OF_KIND_ALONE)
    verbs = active_verbs(readable(label.split("|")[-1])) if inverse else ()
    return HopWords(tuple(wordings.items()), kinds, inverse, frozenset(verbs))


def kinds_in(concept: str) -> tuple[str, ...]:
    """The concepts that are joined by commas in one, without those that say nothing."""
    return tuple(kind for part in concept.split(",") if (kind := part.strip()) not in _EVERYTHING)


def readable(label: str) -> str:
    """`people.person.place of birth` as `place of birth`; marks of direction and mediators dropped."""
    return " ".join(part.lstrip("^").rsplit(".", 1)[-1] for part in label.split("|"))


def active_verbs(relation: str) -> list[str]:
    """What one does to whom `relation` leads back: `directed by` -> direct, `starred actors` -> star, act."""
    words = relation.lower().split()
    verbs = [verb for word in words[:1] for verb in _of_participle(word)]
    verbs += [verb for word in words[-1:] for verb in _of_agent(singular(word))]
    return list(dict.fromkeys(form for verb in verbs for form in (verb, f"{verb} in")))


def _of_participle(word: str) -> list[str]:
    if word in _IRREGULAR_VERBS:
        return [*_IRREGULAR_VERBS[word]]
    if not word.endswith("ed") or len(word) < 5:
        return []
    stem = word[:-2]
    return [stem[:-1]] if stem[-1] == stem[-2] and stem[-1] not in "ls" else [stem, f"{stem}e"]


def _of_agent(noun: str) -> list[str]:
    stem = noun[:-2]
    return [stem, f"{stem}e"] if noun.endswith(("or", "er")) and len(stem) > 2 else []


def _relation_words(label: str) -> list[str]:
    """Through a mediator the last relation says most: `has admission|admitted to` is worded `admitted to`."""
    whole = " ".join(dict.fromkeys(readable(label).split()))
    last = readable(label.split("|")[-1])
    bare = [words.removeprefix("has ") for words in (last, whole)]
    return list(dict.fromkeys([*bare, last, whole]))
