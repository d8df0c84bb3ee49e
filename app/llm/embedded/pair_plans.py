"""Plans of two things that are named: what paths from both share, or from either reach."""

from __future__ import annotations

from app.llm.embedded.candidate_paths import ScoredPath
from app.llm.embedded.next_action import NextAction, ParsedQuestion, numbers_of, share

HALF_OF_WORDS = 0.3
_PAIRED = 12


def conjunction(asked: ParsedQuestion) -> NextAction | None:
    """Paths from the first two things that are named, to ends of one kind; the answer is what they share."""
    pairs = [
        (first, second)
        for first in _of_root(asked, asked.roots[0].name)
        for second in _of_root(asked, asked.roots[1].name)
        if share(first.path.concept, second.path.concept)
    ]
    if not pairs:
        return None
    best = max(pairs, key=lambda pair: (round(pair[0].score + pair[1].score, 4), -_length(pair)))
    # Each path can say only its half of the words, and is charged for the other half.
    score = max(each.score for each in best) + HALF_OF_WORDS
    open_ways = [each for each in best if each.path.end is None]
    if open_ways:
        return NextAction(score, choices=numbers_of(open_ways, asked.width)) if not asked.last_round else None
    whole = f"intersect({best[0].path.end}, {best[1].path.end})"
    return NextAction(score, (f"count({whole})" if asked.form.form == "count" else whole,))


def of_either(asked: ParsedQuestion) -> NextAction | None:
    """ "Gout or asthma": what one path reaches from the one or from the other."""
    first, second = (_of_root(asked, root.name) for root in asked.roots[:2])
    same = [(one, other) for one in first for other in second if one.path.steps == other.path.steps]
    if not same:
        return None
    both = max(same, key=lambda pair: pair[0].score)
    if any(each.path.end is None for each in both):
        return NextAction(both[0].score, choices=numbers_of(both, asked.width)) if not asked.last_round else None
    whole = f"union({both[0].path.end}, {both[1].path.end})"
    counted = f"count({whole})" if asked.form.form == "count" else whole
    return NextAction(max(both[0].score, both[1].score), (counted,), path=both[0].path)


def _of_root(asked: ParsedQuestion, root: str) -> list[ScoredPath]:
    """Its best paths. Words about the other thing would only lengthen a path: single steps come first."""
    mine = [each for each in asked.paths if each.path.root == root]
    return [each for each in mine if len(each.path.steps) == 1][:_PAIRED] or mine[:_PAIRED]


def _length(pair: tuple[ScoredPath, ScoredPath]) -> int:
    return sum(len(each.path.steps) for each in pair)
