"""The table of masked relations: how much is still answered rightly if a share of a graph's relations is masked."""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.llm.embeddings.trained_weights import NO_HEAD
from evaluation.bench.bench import TO_THE_MODEL, ReasonerName
from evaluation.bench.question_sets import METAQA, PQ_2H, PQ_3H, Show
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.questions import Question, QuestionsError
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.tables.measures import AskedSample, Asker, Measure, asking, hits, is_planned, none
from kg_store.sources.policy import Policy

SHARES = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Masked:
    """A choice of relations to mask; `means` maps each predicate to its description, "" if the owner gives none."""

    share: float
    described: bool
    means: Mapping[str, str] = field(repr=False)

    @property
    def title(self) -> str:
        told = "" if not self.means else ", described" if self.described else ", nothing said of them"
        return f"{self.share:.0%} masked{told}"

    def policy(self, plain: str) -> str:
        """Returns the policy `plain` (TOML) with these relations masked."""
        policy = Policy.from_toml(plain)
        masked = {
            predicate: policy.of(predicate).model_copy(update={"mask": True, "description": text or None})
            for predicate, text in self.means.items()
        }
        return policy.model_copy(update={"relations": {**policy.relations, **masked}}).to_toml()

    def own_words(self) -> set[str]:
        """Returns the words of the masked relations, which no request may hold; from "has genre" also "genre"."""
        words = {words_of(predicate) for predicate in self.means}
        return words | {each.removeprefix("has ") for each in words}

    def is_needed(self, question: Question) -> bool:
        """Returns True if the gold path uses a masked relation."""
        paths = [each.path for each in question.plan.sets.values()] if question.plan else []
        hops = {hop.lstrip("^") for path in paths for step in path for hop in step.split("|")}
        return not {words_of(hop) for hop in hops}.isdisjoint(map(words_of, self.means))


def choices(graph: str, seed: int) -> list[Masked]:
    """Returns every share, with and without descriptions; a larger share masks all that a smaller one does."""
    means = tomllib.loads(Path(__file__).with_name("masked_descriptions.toml").read_text("utf-8"))[graph]
    order = sorted(means)
    random.Random(seed).shuffle(order)  # noqa: S311  # a choice of relations, no secret  # nosec B311
    found = []
    for share in SHARES:
        chosen = order[: math.floor(share * len(order) + 0.5)]
        found.append(Masked(share, True, {each: means[each] for each in chosen}))
        if chosen:
            found.append(Masked(share, False, dict.fromkeys(chosen, "")))
    return found


def words_of(predicate: str) -> str:
    """Returns a predicate like `place_of_birth` in the words that the loader shows."""
    return " ".join(predicate.replace("_", " ").split())


SETS = {
    "PQ-2H": PQ_2H, "PQ-3H": PQ_3H, "MetaQA-1": METAQA[1], "MetaQA-2": METAQA[2], "MetaQA-3": METAQA[3],
}  # fmt: skip
MIN_RIGHT = 0.995  # rounds to 1.00, the bound of the endpoint without masks


@dataclass(slots=True)
class _Leaks:
    """Counts over all runs: names, and words of masked relations, that reached the reasoner."""

    questions: int = 0
    names: int = 0
    words: int = 0


async def run_masked_table(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """Measures the embedded reasoner on every share, with and without descriptions, then the scripted endpoint.

    The endpoint reads descriptions as a model that understands them. `only` is a part of a set's name. Raises
    QuestionsError.
    """
    chosen = {name: source for name, source in SETS.items() if only.casefold() in name.casefold()}
    if not chosen:
        raise QuestionsError(f"no set's name holds what --only asks for; there are {', '.join(SETS)}")
    leaks, measures = _Leaks(), list[Measure]()
    reasoners: tuple[ReasonerName, ...] = ("embedded", "scripted")
    for reasoner in reasoners:
        for name, source in chosen.items():
            endpoint = ScriptedEndpoint() if reasoner == "scripted" else None
            async with asking(data, limit, seed, show, reasoner, endpoint, TO_THE_MODEL) as asker:
                measures += await _of_set(asker, f"{name}, {reasoner}", source, endpoint, leaks)
    return [
        *measures,
        none("names that reached the reasoner, all runs", leaks.questions, leaks.names),
        none("own words of masked relations that reached it", leaks.questions, leaks.words),
    ]


async def _of_set(
    asker: Asker, name: str, source: str, endpoint: ScriptedEndpoint | None, leaks: _Leaks
) -> list[Measure]:
    """Measures one set; the scripted endpoint is asked only questions whose gold answers the graph agrees with."""
    if endpoint is None:
        asker.sets.bench.embedded.head = NO_HEAD
    questions = asker.sets.questions(source)
    chosen = asker.sample([*filter(is_planned, questions)] if endpoint else questions)
    measures = []
    for masked in choices(source.partition(":")[0], asker.seed):
        if endpoint is not None and not masked.described:
            continue
        if endpoint is not None:
            endpoint.meanings = {text: words_of(each) for each, text in masked.means.items()}
        title = f"{name}: {masked.title}"
        asked = await _asked(asker, title, source, masked, chosen, leaks)
        measures.append(hits(title, asked.outcomes, MIN_RIGHT if endpoint else None, asked.leaks))
        # Questions that need a masked relation get a line of their own: the others lose only wrong candidates.
        needing = [one for one, question in zip(asked.outcomes, chosen, strict=True) if masked.is_needed(question)]
        if masked.means and endpoint is None and 0 < len(needing) < len(chosen):
            refused = sum(not outcome.answered for outcome in needing)
            measures.append(hits(f"{title}: those that need one ({refused} of them refused)", needing))
    return measures


async def _asked(
    asker: Asker, title: str, source: str, masked: Masked, questions: list[Question], leaks: _Leaks
) -> AskedSample:
    bench = asker.sets.bench
    plain, _ = asker.sets.of(source)
    loaded = bench.load("masked", [asker.sets.graph_file(source)], masked.policy(plain.policy))
    before = bench.sent_so_far
    asked = await asker.ask(title, loaded, questions)
    leaks.questions += len(questions)
    leaks.names += asked.leaks
    leaks.words += LeakScanner(masked.own_words(), ()).scan(bench.sent_from(before)).leaks.total()
    return asked
