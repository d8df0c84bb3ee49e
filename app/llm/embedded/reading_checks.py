"""Checks of a plan before it is given: each word of the question has to be explained by the path that was chosen."""

from __future__ import annotations

from dataclasses import replace

from app.llm.embedded.candidate_paths import KnownPath
from app.llm.embedded.language.relation_wording import with_descriptions
from app.llm.embedded.next_action import NextAction, ParsedQuestion
from app.llm.embedded.scoring.directions import contrary_verb
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.tasks import StepInput

LEAST_EXPLAINED = 0.75
LEAST_OF_TRUTH = 0.8
"""A path that is there says yes: its words have to be those that were asked."""


def accounted(scorer: PathScorer, asked: ParsedQuestion, given: StepInput, plan: NextAction) -> NextAction:
    """`plan`, or the word of the question that its path leaves unexplained."""
    if not plan.expressions or plan.path is None:
        return plan
    if name := _ignored(asked, plan, plan.path):
        return replace(plan, unread=name)
    path = plan.path
    simple = len(path.steps) == 1 and asked.form.form in ("things", "count") and path.root[0] == "E"
    if simple and (verb := contrary_verb(asked.form.rest, path.root, path.steps[0], path.concept)):
        return replace(plan, unread=verb)
    hops = tuple(zip(with_descriptions(path.steps, given.masked_relations), path.concepts, strict=True))
    concepts = [thing.concept for thing in (*asked.roots, *([asked.target] if asked.target else []))]
    told = scorer.coverage(asked.form.rest, hops, concepts)
    word = min(told, key=lambda word: told[word], default="")
    least = LEAST_OF_TRUTH if asked.form.form == "truth" else LEAST_EXPLAINED
    return replace(plan, unread=word) if word and told[word] < least else plan


def _ignored(asked: ParsedQuestion, plan: NextAction, path: KnownPath) -> str:
    """A thing that is named and plays no part was not understood."""
    if not asked.both_named or plan.expressions[0].startswith("union"):
        return ""
    aside = [root.name for root in asked.roots if root not in asked.kinds and root.name != path.root]
    return next((name for name in aside if name not in " ".join(plan.expressions)), "")
