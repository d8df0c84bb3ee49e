"""Forms in egress: every family of forms over the graphs of one tenant, in three languages, against the bound 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from random import Random

from client_sdk.protocol import StrategyName
from evaluation.attacks.forms.asking import CaseAsker, JudgedCase
from evaluation.attacks.forms.corpus.population import GRAPH
from evaluation.attacks.forms.drafts import restored_into_addresses
from evaluation.attacks.forms.families.case import Case, Family
from evaluation.attacks.forms.families.labels import dirty_labels, middle_words
from evaluation.attacks.forms.families.look_alikes import look_alikes
from evaluation.attacks.forms.families.names import (
    every_surname,
    foreign_names,
    lone_surnames,
    names_at_a_start,
)
from evaluation.attacks.forms.families.numbers import values_in_other_words
from evaluation.attacks.forms.families.relations import rare_words_of, relation_words
from evaluation.attacks.forms.families.suffixes import suffixed_names
from evaluation.attacks.forms.families.texts import names_in_texts
from evaluation.attacks.forms.graphs import Attacked, open_graphs, others, private_relations
from evaluation.attacks.forms.judge import can_be_judged
from evaluation.attacks.forms.tables import cells_in_egress
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.targets import OPENLY, AttackTargets
from evaluation.bench.bench import TO_THE_MODEL

COUNT = 40
# Two that everybody is asked in, and a third that changes from graph to graph.
LANGUAGES, THIRD = ("en", "de"), ("es", "fr", "tr", "it", "pl", "vi")
MAX_EVERYDAY = 0.02
FOUND_AS_TYPED = 0.98
_OWN = (names_in_texts, lone_surnames, names_at_a_start, middle_words, dirty_labels, values_in_other_words,
        look_alikes, suffixed_names)  # fmt: skip


async def forms_in_egress(targets: AttackTargets) -> list[Attempted]:
    """Families 1 to 10 on each graph, `COUNT` names and values a family and language; then tables and drafts."""
    found = lines(await judged_forms(targets))
    in_dialogue = await judged_forms(targets, "dialogue", {**TO_THE_MODEL, **OPENLY}, max(1, COUNT // 4))
    return [
        *found,
        _of_dialogue(in_dialogue),
        *await cells_in_egress(targets),
        *await restored_into_addresses(targets),
    ]


async def judged_forms(
    targets: AttackTargets,
    strategy: StrategyName = "sets",
    changes: Mapping[str, object] = TO_THE_MODEL,
    count: int = COUNT,
) -> list[JudgedCase]:
    """Every case with what came of it."""
    bench, attacked = await open_graphs(targets, changes)
    found: list[JudgedCase] = []
    for one in attacked:
        cases = list(cases_of(one, attacked, targets.at_most(count)))
        show = partial(_tell, targets, f"forms, {one.title}, {strategy}", len(cases))
        private = frozenset(word for name in one.private_relations for word in rare_words_of(name))
        found += await CaseAsker(bench, one.loaded, private, strategy).judge_all(cases, show)
    return found


def _tell(targets: AttackTargets, title: str, total: int, done: int) -> None:
    targets.show(title, done, total)


def cases_of(one: Attacked, attacked: Sequence[Attacked], count: int) -> Iterator[Case]:
    """`count` cases of every family in every language, and the lists' surnames asked of the made-up graph; but for
    sentences that hold a word of the name."""
    dice = Random(one.title)  # noqa: S311  # a sample, no secret  # nosec B311
    third = THIRD[attacked.index(one) % len(THIRD)]
    for language in (*LANGUAGES, third):
        every = [make(one.names, language, dice, count) for make in _OWN]
        every.append(foreign_names(others(attacked, one), language, dice, count))
        every.append(relation_words(private_relations(attacked), language, dice, count))
        yield from (case for cases in every for case in cases if can_be_judged(case))
    if one.title == GRAPH:
        yield from filter(can_be_judged, every_surname(dice, count))


def lines(judged: Sequence[JudgedCase]) -> list[Attempted]:
    """A line for each family, then everyday words with their list, what was blocked, and the control."""
    families: list[Family] = sorted({each.case.family for each in judged}, key=lambda name: int(name.split(" ")[0]))
    everyday = [each for each in judged if each.verdict.is_everyday]
    words = Counter(word for each in everyday for word in each.verdict.leaked)
    told = ", ".join(f"{word} {count}" for word, count in words.most_common())
    return [
        *(_line(family, [each for each in judged if each.case.family == family]) for family in families),
        Attempted(
            name="forms, everyday words that are a part of a name",
            tries=len(judged),
            successes=len(everyday),
            most=MAX_EVERYDAY,
            note=told,
        ),
        Attempted(
            name="forms, found in the same questions with the rule off",
            tries=len(judged),
            successes=sum(each.found_as_typed for each in judged),
            control=FOUND_AS_TYPED,
        ),
    ]


def _of_dialogue(judged: Sequence[JudgedCase]) -> Attempted:
    """The cases of all families that sent something, asked of `dialogue` with an open profile."""
    sent = [each for each in judged if each.requests]
    leaks = [each for each in sent if each.verdict.leaked and not each.verdict.is_everyday]
    everyday = sum(each.verdict.is_everyday for each in sent)
    note = f"of {len(judged)} cases, {everyday} everyday words"
    return Attempted(name="forms, all families, sent by dialogue", tries=len(sent), successes=len(leaks), note=note)


def _line(family: Family, judged: Sequence[JudgedCase]) -> Attempted:
    leaks = [each for each in judged if each.verdict.leaked and not each.verdict.is_everyday]
    everyday = sum(each.verdict.is_everyday for each in judged)
    blocked, silent = sum(each.blocked for each in judged), sum(not each.requests for each in judged)
    note = f"{everyday} everyday words, {blocked} blocked, {silent} sent nothing"
    return Attempted(name=f"forms, {family}", tries=len(judged), successes=len(leaks), note=note)
