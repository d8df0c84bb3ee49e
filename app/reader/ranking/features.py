"""Describes each reading of a question by numbers: what it leaves unread, and how like the question it is.

Promise: no reading is executed, so that the numbers do not depend on what the graph holds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, get_args

from app.llm.tasks import StepInput
from app.reader.language.question_words import words_in
from app.reader.meaning.answer_forms import Doubt
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.meaning.schema_graph import NearHop
from app.reader.meaning.spoken_of import PRONOUNS, spoken_of
from app.reader.ranking.candidates import Candidate
from app.reader.ranking.clues import ReadingFeatures, WordingClues, head_of
from app.reader.scoring.path_scoring import PathScorer
from kg_store.text.english import zipf_frequency
from kg_store.text.inflection import may_be_noun, verbs_of

COMMON: Final = 5.5
"""The frequency (Zipf scale, log10 of uses in a thousand million words) from which an unread word counts as common."""
MAX_EARLIER: Final = 3
"""A thing that was spoken of before as many others counts as this far back. Chosen by hand."""
MAX_BEHIND: Final = 4.0
"""A reading that lies farther behind the best score counts as this far. Chosen by hand."""


def features_of(scorer: PathScorer, given: StepInput, candidates: Sequence[Candidate]) -> list[ReadingFeatures]:
    """Returns the features of each candidate."""
    if not candidates:
        return []
    best, wordings = max(each.meaning.score for each in candidates), dict[int, WordingClues]()
    spoken, points = spoken_of(given), not PRONOUNS.isdisjoint(words_in(given.question.lower()))
    found: list[ReadingFeatures] = []
    for each in candidates:
        clues = wordings.setdefault(id(each.found), WordingClues(scorer, each.found)).of(each)
        compared = {
            "sure": float(each.is_sure),
            "behind": min(MAX_BEHIND, best - each.meaning.score),
        }
        numbers = _of_reading(each) | _of_words(each) | _of_earlier(each, spoken, points) | clues.numbers | compared
        found.append(ReadingFeatures(numbers, clues.pairs))
    return found


def _of_reading(each: Candidate) -> dict[str, float]:
    meaning, asked = each.meaning, each.found.asked
    said = (asked.content | asked.working).bit_count() + asked.roles.count("thing") + asked.roles.count("value")
    labels = set(LABEL.findall(meaning.expression))
    has_date = any(hop.is_date for hop in each.found.graph.hops if hop.label in labels)
    return {
        "named_unused": float(sum(asked.words[at] not in meaning.expression for at in asked.at("thing"))),
        "values_unused": float(sum(asked.words[at] not in meaning.expression for at in asked.at("value"))),
        "when_without_date": float(asked.wh == "when" and not has_date),
        "who_of_value": float(asked.wh in ("who", "whom") and _ends_in_value(each)),
        "truth_unasked": float(each.text.startswith(("holds(", "exists(")) and asked.form != "truth"),
        "whole_kind": float(each.text[0] == "S" and "(" not in each.text),
        "score": min(1.5, max(-1.5, meaning.score / max(1, said))),
        "silent": float(min(3, meaning.silent)),
        "weak": 1.0 - min(1.0, meaning.weakest),
        **{doubt.replace(" ", "_"): float(doubt in meaning.doubts) for doubt in get_args(Doubt)},
        "not_whole": float(not meaning.is_whole),
        "not_fitting": float(not meaning.may_be_whole),
        "steps": float(min(5, len(labels))),
        "words_a_step": min(3.0, (asked.content & ~meaning.left).bit_count() / max(1, len(labels))),
        "steps_a_word": min(3.0, len(labels) / max(1, (asked.content & ~meaning.left).bit_count())),
        "of_rows": float(each.of_rows),
        "passes_rows": float(any("|" in label for label in labels)),
    } | _of_hops(each, labels)


def _of_earlier(each: Candidate, spoken: Sequence[str], points: bool) -> dict[str, float]:
    """Returns whether the reading is about things `spoken` of in earlier turns, the latest first, and which.

    `points`: the question holds a pronoun.
    """
    used = next((at for at, name in enumerate(spoken) if name in each.meaning.expression), -1)
    named = each.found.asked.roles.count("thing") + each.found.asked.roles.count("value")
    return {
        "earlier": float(used >= 0),
        "earlier_behind": float(min(MAX_EARLIER, max(0, used))),
        "earlier_is_set": float(used >= 0 and spoken[used][0] == "S"),
        "earlier_unasked": float(used >= 0 and not points and named > 1),
        "pronoun_ignored": float(points and bool(spoken) and used < 0),
    }


def _of_hops(each: Candidate, labels: Collection[str]) -> dict[str, float]:
    """Returns how like the hops of the reading are to the whole question, beside others that leave the same kinds."""
    near = each.found.builder.near
    best: dict[str, NearHop] = {}
    for hop, known in near.items():
        if hop.label in labels and (hop.label not in best or known.behind < best[hop.label].behind):
            best[hop.label] = known
    meaning, asked = each.meaning, each.found.asked
    left = [at for at in range(len(asked.words)) if meaning.left >> at & asked.content >> at & 1]
    own = [max((hop.by_word[at] for hop in best.values()), default=0.0) for at in left]
    other = [max((hop.by_word[at] for hop in near.values()), default=0.0) for at in left]
    behind, scores = [each.behind for each in best.values()], [each.score for each in best.values()]
    return {
        "hop_behind": sum(behind) / max(1, len(behind)),
        "hop_farthest": max(behind, default=0.0),
        "hop_score": sum(scores) / max(1, len(scores)),
        "hop_weakest": min(scores, default=0.0),
        "left_far_in_context": sum(1.0 - each for each in own),
        "left_nearer_in_context": sum(theirs - ours for ours, theirs in zip(own, other, strict=True)),
        "left_farthest_in_context": 1.0 - min(own, default=1.0),
    }


def _of_words(each: Candidate) -> dict[str, float]:
    """Returns the features of the words that the reading leaves unread.

    An unread word speaks for the reading if it is like one of its relations, against it if it is more like another
    relation of the graph; a rare word tells more than a common one.
    """
    meaning, asked, builder = each.meaning, each.found.asked, each.found.builder
    left = [at for at in range(len(asked.words)) if meaning.left >> at & 1]
    content = [at for at in left if asked.content >> at & 1]
    labels = frozenset(LABEL.findall(meaning.expression))
    near = [builder.nearness(at, labels) for at in content]
    most = [builder.most(at) for at in content]
    words = [asked.words[at] for at in content]
    rare = [max(0.0, COMMON - zipf_frequency(word)) for word in words]
    return {
        "left": float(min(4, len(content))),
        "left_share": len(content) / max(1, asked.content.bit_count()),
        "left_working": float(len(left) - len(content)),
        "left_unlike": sum(1.0 - each for each in near),
        "left_elsewhere": sum(max(0.0, other - own) for own, other in zip(near, most, strict=True)),
        "left_known": sum(max(0.0, other - 0.6) for other in most),
        "left_rare": min(6.0, sum(rare)),
        "left_nouns": float(sum(may_be_noun(word) and not verbs_of(word) for word in words)),
        "left_verbs": float(sum(bool(verbs_of(word)) for word in words)),
        "left_asked": float(head_of(asked) in content),
    }


def _ends_in_value(each: Candidate) -> bool:
    """Returns True if the last step of the reading leads to values."""
    labels = LABEL.findall(each.meaning.expression)
    return bool(labels) and bool(each.found.builder.values.get(labels[-1], ""))
