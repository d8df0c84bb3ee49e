"""Measures the processor time that a person's memory adds to a question."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from typing import Final

from app.accounts.api_keys import Caller
from app.memory.stated_facts import MAX_FACTS_OF_A_KEY, FactOwner, Mention
from evaluation.bench.bench import CALLER, TENANT, Bench
from evaluation.bench.question_sets import Show
from evaluation.dialogue.told import utterance_sets
from evaluation.tables.measures import Measure
from evaluation.understanding.run import load, new_dialogue

MAX_MS: Final = 5.0
ROUNDS: Final = 5
PER_THING: Final = 100
"""The number of facts that are told of each thing that the questions name."""
_RICH: Final = replace(CALLER, key_id="tells-much")


async def run_told_time(show: Show, facts: int = MAX_FACTS_OF_A_KEY) -> Measure:
    """Asks the questions of one seen set as somebody who told nothing and as somebody who told `facts` facts.

    The two ask in turn. The first round is not counted: it fills the caches of both.
    """
    with utterance_sets("seen") as known:
        domain, told = known[0]
        async with Bench() as bench:
            load(bench, domain, show)
            about = list(dict.fromkeys(name for each in told.utterances for name in each.about))
            await _fill(bench, domain.name, about, facts, show)
            questions = [one.question for each in told.utterances for one in each.asked_back]
            added: list[float] = []
            for number in range(ROUNDS + 1):
                show("asking", number, ROUNDS + 1)
                for question in questions:
                    without = await _milliseconds(bench, CALLER, domain.name, question)
                    more = await _milliseconds(bench, _RICH, domain.name, question) - without
                    added += [more] if number else []
    median = statistics.median(added)
    name = f"processor time that {facts:,} told facts add to a question, median, ms"
    bound, reached = f"<= {MAX_MS:.1f}", f"{median:.1f}"
    return Measure(name=name, questions=len(added), bound=bound, reached=reached, passed=median <= MAX_MS)


async def _fill(bench: Bench, graph: str, names: list[str], count: int, show: Show) -> None:
    """Tells PER_THING facts of each name, and of other things, until there are `count`."""
    facts, owner = bench.services.store.facts, FactOwner(TENANT, graph, _RICH.key_id)
    for name in names:
        await _milliseconds(bench, _RICH, graph, f"Remember that {name} keeps a notebook on shelf 0.")
    first = [each.fact for each in facts.of_owner(owner)]
    for number in range(len(first), count):
        turn, which = divmod(number, len(first))
        mentions = first[which].mentions if turn < PER_THING else (Mention((number,)),)
        texts = ("", *("" for _ in mentions[1:]), f" keeps a notebook on shelf {number}.")
        facts.keep(owner, replace(first[which], texts=texts, mentions=mentions))
        if number % 100 == 0:
            show("telling", number, count)


async def _milliseconds(bench: Bench, caller: Caller, graph: str, text: str) -> float:
    request = new_dialogue(graph).request(text, None, {})
    began = time.process_time()
    await bench.services.chat.answer(caller, request)
    return 1000 * (time.process_time() - began)
