"""Attack by forms of names: type every form of a name or value and search what is sent to the model for it.

Every family of `form_families.py` is asked of the graphs of one tenant in three languages, beside files that are
tables. No form may be sent: the bound is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.demo import GRAPH_FILE
from app.llm.endpoint.closed_schemas import marked_schema
from app.llm.endpoint.request_body import read_step
from app.llm.tasks import StepReply, TaskModel, TaskName
from app.strategies.prompts import REPLY
from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import StrategyName
from evaluation.attacks import form_graphs as graphs
from evaluation.attacks.form_families import Case, every_surname, family_cases, rare_words_of
from evaluation.attacks.form_graphs import GraphNames, TableFile, names_in_triples, names_in_turtle, table_files
from evaluation.attacks.form_judge import Judge, Verdict, can_be_judged, read_sent, shown_tokens
from evaluation.attacks.links import family_12
from evaluation.attacks.targets import (
    AML,
    HOSPITAL,
    OPENLY,
    TITLES,
    AttackTargets,
    Attempted,
    as_typed,
    dice_of,
    load_text,
    sent_by,
)
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet
from evaluation.bench.question_sets import DEMO, PQ_3H
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.errors import StoreError

COUNT = 40
# Every graph is asked in the first two languages and in one of the others, which changes from graph to graph.
LANGUAGES, THIRD = ("en", "de"), ("es", "fr", "tr", "it", "pl", "vi")
MAX_EVERYDAY = 0.02
FOUND_AS_TYPED = 0.98
_PQ_FILE = "pathquestion/PQ-3H.kb.tsv"
_NEUTRAL = ("who is there", "which of them are married", "how many are there", "what is it about")
MIN_FILES = 20
_OF_TABLES = ("who is there", "which of them live in the same city", "how many are there of each kind")


@dataclass(frozen=True, slots=True)
class Attacked:
    """One graph with the secrets that its source file holds.

    `private_relations` are names of relations that are masked or hidden or that hold a person's name.
    """

    title: str
    loaded: LoadedSet
    names: GraphNames
    private_relations: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The result of one case. `found_as_typed` is a control: the judge finds the name if nothing is replaced."""

    case: Case
    verdict: Verdict
    blocked: bool
    sent: bool
    found_as_typed: bool


async def forms_in_egress(targets: AttackTargets) -> list[Attempted]:
    """Attacks each graph with families 1 to 10, `COUNT` cases per family and language; then with families 11 and 12.

    Family 11 loads tables (`cells_in_egress`), family 12 writes links into drafts (`family_12`). The strategy
    `dialogue` is attacked with a quarter of the cases.
    """
    judged = await _judged_forms(targets, "sets", TO_THE_MODEL, COUNT)
    in_dialogue = await _judged_forms(targets, "dialogue", {**TO_THE_MODEL, **OPENLY}, max(1, COUNT // 4))
    # With the open profile, `dialogue` sends something for most cases; the others prove nothing.
    sent = [each for each in in_dialogue if each.sent]
    note = f"of {len(in_dialogue)} cases, {sum(each.verdict.is_everyday for each in sent)} everyday words"
    return [
        *lines(judged),
        _line("all families, sent by dialogue", sent, note),
        *await cells_in_egress(targets),
        *await family_12(targets),
    ]


async def _judged_forms(
    targets: AttackTargets, strategy: StrategyName, changes: Mapping[str, object], count: int
) -> list[JudgedCase]:
    """Asks every case of every graph and judges what was sent."""
    bench, attacked = await _open_graphs(targets, changes)
    found: list[JudgedCase] = []
    for one in attacked:
        cases = list(_cases_of(one, attacked, targets.at_most(count)))
        progress = targets.counter(f"forms, {one.title}, {strategy}", len(cases))
        found += await _judge_all(bench, one, cases, strategy, progress)
    return found


async def _open_graphs(targets: AttackTargets, changes: Mapping[str, object]) -> tuple[Bench, list[Attacked]]:
    """Opens the demo and a generated population, and `hospital.ttl`, `aml.ttl` and PathQuestion if `targets` has data.

    Settings make every question go to the scripted endpoint, even those that need no model.
    """
    sources = targets.among(DEMO, HOSPITAL, AML, PQ_3H)
    opened = [(source, await targets.open(source, "scripted", changes)) for source in sources]
    bench, turtle = opened[0][1].bench, graphs.turtle()
    found = [Attacked(TITLES[source], target.loaded, _names(source, targets.data)) for source, target in opened]
    loaded = load_text(bench, f"{graphs.GRAPH}.ttl", turtle, graphs.POLICY, as_owner=True)
    private = (graphs.HIDDEN, graphs.MASKED, graphs.NAMED, graphs.NAMED_CLASS)
    return bench, [*found, Attacked(graphs.GRAPH, loaded, names_in_turtle(graphs.GRAPH, turtle), private)]


def _names(source: str, data: Path | None) -> GraphNames:
    if source == DEMO or data is None:
        return names_in_turtle(DEMO, GRAPH_FILE.read_text("utf-8"))
    if source == PQ_3H:
        return names_in_triples(TITLES[source], (data / _PQ_FILE).read_text("utf-8"))
    return names_in_turtle(TITLES[source], (data / source).read_text("utf-8"))


def _cases_of(one: Attacked, attacked: Sequence[Attacked], count: int) -> Iterator[Case]:
    """Yields `count` cases of every family in every language, and listed surnames asked of the generated graph.

    Cases whose sentence holds a word of the name are left out, since they can't be judged.
    """
    dice, third = dice_of(one.title), THIRD[attacked.index(one) % len(THIRD)]
    others = [each.names for each in attacked if each is not one and each.names.names]
    # Private relations of all graphs are typed: a person who knows one may type it in a question to any graph.
    private = [name for each in attacked for name in each.private_relations]
    for language in (*LANGUAGES, third):
        yield from filter(can_be_judged, family_cases(one.names, others, private, language, dice, count))
    if one.title == graphs.GRAPH:
        yield from filter(can_be_judged, every_surname(dice, count))


async def _judge_all(
    bench: Bench, one: Attacked, cases: Sequence[Case], strategy: StrategyName, progress: Callable[[int], None]
) -> list[JudgedCase]:
    """Asks each case in a conversation of its own and judges what was sent.

    Where a case names nothing of the graph, the strategy `dialogue` sends a request only under the profile "open" (the
    setting that lets prompts show single things).
    """
    key, found = KeyPair.generate(), []
    judge = Judge(await _shown(bench, one, strategy, key))
    for done, case in enumerate(cases, start=1):
        sent, blocked = await sent_by(bench, one.loaded.graph, case.turns, strategy, key)
        typed = judge.judge(case, [as_typed(bench, case.turns)])
        found.append(JudgedCase(case, judge.judge(case, sent), blocked, bool(sent), bool(typed.leaked)))
        progress(done)
    return found


async def _shown(bench: Bench, one: Attacked, strategy: StrategyName, key: KeyPair) -> frozenset[str]:
    """Returns the words that prompts show whatever is asked: words of the schema and of prompts for neutral questions.

    Rare words of private relations are taken out, so that they count as leaks even if the schema shows them.
    """
    schema = bench.graph(one.loaded).blind.schema
    texts = {text for r in schema.relations for text in (r.label, r.inverse_label, r.description, *r.words)}
    texts |= {str(concept) for concept in schema.concepts}
    texts |= {text for words in schema.kind_words.values() for text in words}
    if strategy == "dialogue":  # This strategy sends no prompt for neutral questions.
        texts |= {str(REPLY.instructions), str(marked_schema("reply", "tree"))}
    for question in _NEUTRAL:
        texts |= set(read_sent((await sent_by(bench, one.loaded.graph, [("user", question)], strategy, key))[0]).rest)
    return shown_tokens(texts) - {word for name in one.private_relations for word in rare_words_of(name)}


def lines(judged: Sequence[JudgedCase]) -> list[Attempted]:
    """Returns a line for each family, one for all everyday words that leaked, with a list of them, and one control.

    The control is how often the judge finds the name in the question as it was typed.
    """
    words = Counter(word for each in judged if each.verdict.is_everyday for word in each.verdict.leaked)
    told = ", ".join(f"{word} {count}" for word, count in words.most_common())
    everyday, as_typed = (each.verdict.is_everyday for each in judged), (each.found_as_typed for each in judged)
    found = []
    for family in sorted({each.case.family for each in judged}, key=lambda name: int(name.split(" ")[0])):
        own = [each for each in judged if each.case.family == family]
        left, blocked = sum(each.verdict.is_everyday for each in own), sum(each.blocked for each in own)
        silent = sum(not each.sent for each in own)
        found.append(_line(family, own, f"{left} everyday words, {blocked} blocked, {silent} sent nothing"))
    return [
        *found,
        Attempted.of("forms, everyday words that are a part of a name", everyday, most=MAX_EVERYDAY, note=told),
        Attempted.of("forms, found in the same questions with the rule off", as_typed, control=FOUND_AS_TYPED),
    ]


def _line(name: str, judged: Sequence[JudgedCase], note: str) -> Attempted:
    leaks = (bool(each.verdict.leaked) and not each.verdict.is_everyday for each in judged)
    return Attempted.of(f"forms, {name}", leaks, note=note)


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """The result of one file. `control`: the judge finds the file's cells in the file itself."""

    refused: bool
    leaked: frozenset[str] = field(repr=False)
    control: bool


async def cells_in_egress(targets: AttackTargets) -> list[Attempted]:
    """Attacks with family 11: loads each file as a graph of its own and searches what is sent for its cells.

    Files with a header are loaded a second time, with a policy.
    """
    files = table_files()[: targets.at_most(len(table_files()))]
    async with Bench("scripted", scripted=FollowingEndpoint(), changes=TO_THE_MODEL) as bench:
        return lines_of_tables([await _ask(bench, file) for file in files])


def lines_of_tables(found: Sequence[LoadedTable]) -> list[Attempted]:
    leaked, note = (bool(each.leaked) for each in found), f"{sum(each.refused for each in found)} files refused"
    controls = (each.control for each in found)
    return [
        Attempted.of("forms, 11 cells of tables in any byte", leaked, least=min(MIN_FILES, len(found)), note=note),
        Attempted.of("forms, 11 cells found in the files themselves", controls, control=1.0),
    ]


async def _ask(bench: Bench, file: TableFile) -> LoadedTable:
    control = bool(cells_in(file, [file.content.encode()]))
    try:
        loaded = load_text(bench, file.name, file.content, file.policy, as_owner=True)
    except StoreError:
        return LoadedTable(True, frozenset(), control)
    sent, key = list[bytes](), KeyPair.generate()
    for question in _OF_TABLES:
        sent += (await sent_by(bench, loaded.graph, [("user", question)], "sets", key))[0]
    return LoadedTable(False, cells_in(file, sent), control)


def cells_in(file: TableFile, payloads: Sequence[bytes]) -> frozenset[str]:
    """Returns words and figures of cells that stand in payloads.

    Figures of up to three digits count only if they are the whole of a short text, such as the label of a relation.
    """
    sent = read_sent(payloads)
    cells = shown_tokens(file.cells) - {"dr"}
    words = {word for word in cells if not word.isdigit() or len(word) > 3}
    figures = cells - words
    seen = shown_tokens((*sent.said, *sent.rest))
    short = {text.strip() for text in sent.rest if len(text) < 12}
    return frozenset((words & seen) | (figures & short))


class FollowingEndpoint(ScriptedEndpoint):
    """A model that follows as many candidates as it may in every round, so that it is shown as much as possible."""

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "step":
            return super().reply_to(task, block)
        asked = read_step(block)
        choices = [candidate.number for candidate in asked.candidates][: asked.width]
        follows = choices and not asked.last_round
        return StepReply(action="follow", choices=choices) if follows else StepReply(action="not_in_graph")
