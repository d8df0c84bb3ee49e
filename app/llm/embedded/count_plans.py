"""Plans that compare how many things there are: "who insures the most patients", "has X more wards than Y"."""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.embedded.candidate_paths import ScoredPath
from app.llm.embedded.language.question_words import singular, words_in
from app.llm.embedded.language.relation_wording import VALUES
from app.llm.embedded.language.synonyms import kind_words
from app.llm.embedded.next_action import YES_OR_NO, NextAction, ParsedQuestion, share
from app.llm.tasks import Thing

_MOST = frozenset({"most", "fewest", "least"})
_MORE = frozenset({"more", "fewer", "less"})


def most_of(asked: ParsedQuestion) -> NextAction | None:
    """Those that most things of a kind lead to; None where no kind is counted."""
    counted = _counted(asked) if asked.form.word in _MOST and not asked.form.asks_truth else None
    if counted is None or not asked.from_kinds:
        return None
    fitting = [each for each in asked.paths if each.path.root == counted.name and _may_be_asked(asked, each)]
    if not fitting:
        return None
    best = fitting[0]
    step = best.path.steps[0]
    whole = asked.target.name if asked.target else f'reach({counted.name}, "{step}")'
    function = "most" if asked.form.function == "argmax" else "fewest"
    return NextAction(best.score, (f'{function}({whole}, "{_backwards(step)}")',), path=best.path)


def more_of(asked: ParsedQuestion) -> NextAction | None:
    """Of two things the one that leads to more of a kind; None where no kind is counted."""
    counted = _counted(asked) if asked.form.word in _MORE else None
    if counted is None:
        return None
    names = [root.name for root in asked.roots[:2]]
    fitting = [each for each in asked.paths if each.path.root == names[0] and _leads_to(each, counted)]
    if not fitting:
        return None
    best, both = fitting[0], f"union({', '.join(names)})"
    functions: Sequence[str] = ("most", "fewest") if asked.form.function == "argmax" else ("fewest", "most")
    best_of, worst_of = (f'{function}({both}, "{best.path.steps[0]}")' for function in functions)
    chosen = f"exists(difference({names[0]}, {worst_of}))" if asked.form.asks_truth else best_of
    return NextAction(best.score, (chosen,), path=best.path)


def _counted(asked: ParsedQuestion) -> Thing | None:
    """The kind whose noun follows "most" or "more"."""
    said = {singular(word) for word in words_in(asked.form.after)[:1]}
    return next((k for k in asked.kinds if any(said & kind_words(each) for each in _nouns(k))), None)


def _nouns(kind: Thing) -> list[str]:
    return [singular(kind.concept.lower())]


def _may_be_asked(asked: ParsedQuestion, scored: ScoredPath) -> bool:
    if len(scored.path.steps) != 1 or scored.path.concept in VALUES | {YES_OR_NO}:
        return False
    return asked.target is None or share(scored.path.concept, asked.target.concept)


def _leads_to(scored: ScoredPath, kind: Thing) -> bool:
    return len(scored.path.steps) == 1 and share(scored.path.concept, kind.concept)


def _backwards(step: str) -> str:
    """`^b|^a` for `a|b`."""
    hops = reversed(step.split("|"))
    return "|".join(hop[1:] if hop.startswith("^") else f"^{hop}" for hop in hops)
