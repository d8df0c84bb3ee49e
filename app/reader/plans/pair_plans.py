"""Plans answers to questions that name two things: the ends that paths from both share."""

from __future__ import annotations

from app.llm.in_house import VotedPaths
from app.reader.plans.candidate_paths import ScoredPath, is_voted
from app.reader.plans.next_action import NextAction, ParsedQuestion, numbers_of, share

# Gain of a pair of paths, since each can explain only half of the words; _PAIRED paths a thing are tried. By hand.
HALF_OF_WORDS = 0.3
_PAIRED = 12
# Difference of scores at which the vote makes a path a tenth as likely: 0.2 * ln(10), where 0.2 is its temperature
# (docs/performance.md).
MAX_BEHIND = 0.46


def conjunction(asked: ParsedQuestion) -> NextAction | None:
    """Intersects the ends of two paths of one kind, one from each of the first two named things."""
    if asked.voted is not None:
        return _of_voted(asked, asked.voted)
    pairs = [
        (first, second)
        for first in _of_root(asked, asked.roots[0].name)
        for second in _of_root(asked, asked.roots[1].name)
        if share(first.path.concept, second.path.concept)
    ]
    if not pairs:
        return None
    best = max(pairs, key=lambda pair: (round(pair[0].score + pair[1].score, 4), -_length(pair)))
    return _shared(asked, best)


def _of_voted(asked: ParsedQuestion, voted: VotedPaths) -> NextAction | None:
    """Intersects the best path from each of two things that leads to the winner of the vote; None if one alone is
    likelier.
    """
    held = [each for each in asked.paths if is_voted(each, voted)]
    sorting = next((each for each in held if (each.path.root, *each.path.steps) == voted.sorting), None)
    if sorting is not None:
        best = next((each for each in held if each.path.root != sorting.path.root), None)
        return _shared(asked, (best, sorting)) if best else None
    other = next((each for each in held if each.path.root != held[0].path.root), None)
    if other is None or held[0].score - other.score > MAX_BEHIND:
        return None
    return _shared(asked, (held[0], other))


def _shared(asked: ParsedQuestion, best: tuple[ScoredPath, ScoredPath]) -> NextAction | None:
    # Each path explains only its half of the words and is charged for the other half, so HALF_OF_WORDS is given back.
    score = max(each.score for each in best) + HALF_OF_WORDS
    open_ways = [each for each in best if each.path.end is None]
    if open_ways:
        return NextAction(score, choices=numbers_of(open_ways, asked.width)) if not asked.last_round else None
    whole = f"intersect({best[0].path.end}, {best[1].path.end})"
    return NextAction(score, (f"count({whole})" if asked.form.form == "count" else whole,))


def _of_root(asked: ParsedQuestion, root: str) -> list[ScoredPath]:
    """The best paths from `root`: single hops if there are any, because words about the other thing make paths too
    long.
    """
    mine = [each for each in asked.paths if each.path.root == root]
    return [each for each in mine if len(each.path.steps) == 1][:_PAIRED] or mine[:_PAIRED]


def _length(pair: tuple[ScoredPath, ScoredPath]) -> int:
    return sum(len(each.path.steps) for each in pair)
