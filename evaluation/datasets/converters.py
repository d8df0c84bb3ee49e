"""Convert public question sets to the generic form: a graph that the loader reads, and questions with plans."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluation.datasets.derived_sets import half_of_wording
from evaluation.datasets.questions import PlanSet, QueryPlan, Question, QuestionsError, write_questions

Triple = tuple[str, str, str]

# Freebase ids without a name are mediators.
WEBQSP_MEDIATORS = r"^[mg]\.[0-9a-z_]+$"

_METAQA_RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "writer": "written_by",
    "genre": "has_genre",
    "year": "release_year",
    "language": "in_language",
    "tag": "has_tags",
    "tags": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}
_TOPIC = re.compile(r"\[(.*)\]")


@dataclass(frozen=True, slots=True)
class Converted:
    """The files that a converter wrote. `reproduced` counts questions whose plan gives exactly the gold answers."""

    graph: Path
    questions: Path
    count: int
    planned: int
    reproduced: int


class PublicSet(NamedTuple):
    """The triples and questions of a public set."""

    triples: list[Triple]
    questions: list[Question]


def convert(name: str, source: Path, out: Path) -> Converted:
    """Writes `graph.tsv` and `questions.jsonl` of a public set into `out`.

    `name` is a key of `CONVERTERS`; `source` is the file of questions, and the graph lies beside it. Raises
    QuestionsError.
    """
    triples, questions = read_public_set(name, source)
    out.mkdir(parents=True, exist_ok=True)
    graph, file = out / "graph.tsv", out / "questions.jsonl"
    graph.write_text("".join("\t".join(triple) + "\n" for triple in triples), encoding="utf-8")
    write_questions(questions, file)
    planned = [question for question in questions if question.plan]
    reproduced = sum(question.reproduced for question in planned)
    return Converted(graph, file, len(questions), len(planned), reproduced)


def read_public_set(name: str, source: Path) -> PublicSet:
    """Reads the questions in `source` and the graph beside it. Raises QuestionsError."""
    if name not in CONVERTERS:
        raise QuestionsError(f"unknown set; known: {', '.join(CONVERTERS)}")
    try:
        return CONVERTERS[name](source)
    except OSError as error:
        raise QuestionsError(f"{Path(str(error.filename)).name}: it can't be read ({error.strerror})") from None


def _path_question(source: Path) -> PublicSet:
    triples = list(_triples(source.with_name(source.stem + ".kb.tsv"), "\t"))
    graph = _GoldGraph(triples)
    return PublicSet(triples, [_of_path_question(record, graph) for record in _records(source)])


def _of_path_question(record: dict[str, object], graph: _GoldGraph) -> Question:
    topic, relations = str(record["topic_entity"]), _strings(record["gold_relations"])
    # People type spaces where the file has underscores.
    typed = str(record["question"]).replace(topic, topic.replace("_", " "))
    sets = {"A": PlanSet(start="topic:0", path=tuple(_words(relation) for relation in relations))}
    answers = _strings(record["answers"])
    # The service removes the topic from a plain set, but some paths of PathQuestion lead back to it.
    answer = "union(A, topic:0)" if topic in answers and len(answers) > 1 else "A"
    plan = QueryPlan(sets=sets, answer=(answer,), topics=(topic.replace("_", " "),))
    return Question(
        id=str(record["id"]),
        question=typed,
        answers=tuple(answers),
        topic_entities=(topic,),
        plan=plan,
        kind=f"{len(relations)} hops",
        reproduced=graph.reached([topic], relations) == set(answers),
    )


def _metaqa(source: Path) -> PublicSet:
    triples = list(_triples(source.with_name("kb.txt"), "|"))
    graph = _GoldGraph((head, _words(relation), tail) for head, relation, tail in triples)
    types = source.with_name(source.stem + "_qtype.txt").read_text(encoding="utf-8").splitlines()
    lines = zip(source.read_text(encoding="utf-8").splitlines(), types, strict=True)
    made = [_of_metaqa(f"{source.stem}-{number}", line, kind, graph) for number, (line, kind) in enumerate(lines)]
    return PublicSet(triples, made)


def _of_metaqa(identity: str, line: str, kind: str, graph: _GoldGraph) -> Question:
    bracketed, _, answers = line.partition("\t")
    match = _TOPIC.search(bracketed)
    if match is None:
        raise QuestionsError(f"{identity}: no [topic] in the question")
    path = [
        "^" + _words(_METAQA_RELATIONS[here]) if there == "movie" else _words(_METAQA_RELATIONS[there])
        for here, there in itertools.pairwise(kind.strip().split("_to_"))
    ]
    # MetaQA's gold answers never hold the topic and never continue from it: it is removed after the second hop.
    middle = graph.reached([match[1]], path[:2]) - ({match[1]} if len(path) > 1 else set())
    sets = {"A": PlanSet(start="topic:0", path=tuple(path[:2]))}
    answer = "A" if len(path) == 1 else "difference(A, topic:0)"
    if len(path) == 3:
        sets["B"], answer = PlanSet(start=answer, path=tuple(path[2:])), "B"
    gold = tuple(answers.split("|"))
    return Question(
        id=identity,
        question=bracketed.replace(match[0], match[1]),
        answers=gold,
        topic_entities=(match[1],),
        plan=QueryPlan(sets=sets, answer=(answer,), topics=(match[1],)),
        kind=kind.strip(),
        reproduced=graph.reached(middle, path[2:]) == set(gold),
        half=half_of_wording(bracketed.replace(match[0], "X")),
    )


def _webqsp(source: Path) -> PublicSet:
    """Reads WebQSP; plans come from the gold triples. The fourth column (certainty of the direction) is ignored."""
    triples = list(_triples(source.with_name("triples.tsv"), "\t"))
    graph = _GoldGraph(triples)
    return PublicSet(triples, [_of_webqsp(record, graph) for record in _records(source)])


def _of_webqsp(record: dict[str, object], graph: _GoldGraph) -> Question:
    topics, answers = _strings(record["topic_entities"]), _strings(record["answers"])
    gold = record["gold_triples"]
    relations = {str(triple[1]) for triple in gold} if isinstance(gold, list) else set()
    question = Question(
        id=str(record["id"]),
        question=str(record["question"]),
        answers=tuple(answers),
        topic_entities=tuple(topics),
        filtered=not record["llm_alone_right"],
    )
    best = _best_path(graph, topics, set(answers), relations)
    if best is None:
        return question
    topic, path, quality = best
    sets = {"A": PlanSet(start="topic:0", path=tuple(_words(label) for label in path))}
    plan = QueryPlan(sets=sets, answer=("A",), topics=(topic,))
    # A new Question, since a copy would not count `plan` among the fields that were set.
    fields = question.model_dump(exclude_unset=True)
    return Question(**{**fields, "plan": plan, "reproduced": quality == 1.0})


def _best_path(
    graph: _GoldGraph, topics: Iterable[str], answers: set[str], relations: set[str]
) -> tuple[str, tuple[str, ...], float] | None:
    """Returns the topic, path and F1 of the path that fits the gold answers best; None if no path reaches any.

    A path has one or two steps by gold relations; a step may pass through a mediator.
    """
    ranked: list[tuple[float, int, int, str, tuple[str, ...]]] = []
    for topic in topics:
        for path in _gold_paths(graph, topic, relations):
            ends = {name for name in graph.reached([topic], path) if not re.match(WEBQSP_MEDIATORS, name)}
            shared = len(ends & answers)
            if shared:
                backwards = "".join(path).count("^")
                ranked.append((-2 * shared / (len(ends) + len(answers)), len(path), backwards, topic, path))
    if not ranked:
        return None
    quality, _, _, topic, path = min(ranked)
    return topic, path, -quality


def _gold_paths(graph: _GoldGraph, topic: str, relations: set[str]) -> Iterator[tuple[str, ...]]:
    for first in _gold_steps(graph, {topic}, relations):
        yield (first,)
        for second in _gold_steps(graph, graph.reached([topic], [first]), relations):
            yield (first, second)


def _gold_steps(graph: _GoldGraph, names: set[str], relations: set[str]) -> set[str]:
    steps: set[str] = set()
    for hop in {hop for name in names for hop in graph.relations_of(name) if hop.removeprefix("^") in relations}:
        ends = graph.reached(names, [hop])
        mediators = {end for end in ends if re.match(WEBQSP_MEDIATORS, end)}
        if ends - mediators:
            steps.add(hop)
        onward = {next_hop for end in mediators for next_hop in graph.relations_of(end)}
        steps |= {f"{hop}|{next_hop}" for next_hop in onward if next_hop.removeprefix("^") in relations}
    return steps


def _triples(file: Path, separator: str) -> Iterator[Triple]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            parts = line.rstrip("\n").split(separator)
            if len(parts) < 3:
                raise QuestionsError(f"{file.name}, line {number}: three columns are needed")
            yield parts[0], parts[1], parts[2]


def _records(file: Path) -> Iterator[dict[str, object]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            raise QuestionsError(f"{file.name}, line {number}: it is not JSON") from None


def _strings(value: object) -> list[str]:
    return [str(part) for part in value] if isinstance(value, list) else []


def _words(relation: str) -> str:
    """Returns a relation's label as the loader writes it for TSV files: with spaces for underscores."""
    return relation.replace("_", " ")


CONVERTERS: dict[str, Callable[[Path], PublicSet]] = {
    "pathquestion": _path_question,
    "metaqa": _metaqa,
    "webqsp": _webqsp,
}


class _GoldGraph:
    """A graph of plain names that walks paths, to check that gold plans give the gold answers."""

    def __init__(self, triples: Iterable[tuple[str, str, str]]) -> None:
        self._tails: dict[tuple[str, str], set[str]] = defaultdict(set)
        for head, relation, tail in triples:
            self._tails[relation, head].add(tail)
            self._tails["^" + relation, tail].add(head)
        self._relations_of: dict[str, set[str]] = defaultdict(set)
        for relation, name in self._tails:
            self._relations_of[name].add(relation)

    def relations_of(self, name: str) -> Collection[str]:
        """Returns the relations of `name`; those that lead to it have `^` in front."""
        return self._relations_of.get(name, set())

    def reached(self, starts: Iterable[str], path: Iterable[str]) -> set[str]:
        """Returns the nodes at the end of `path`; a step through a mediator (`a|b`) never leads back to its start."""
        here = set(starts)
        for label in path:
            here = {tail for head in here for tail in self._step(head, label)}
        return here

    def _step(self, head: str, label: str) -> set[str]:
        hops = label.split("|")
        here = {head}
        for hop in hops:
            here = {tail for name in here for tail in self._tails.get((hop, name), ())}
        return here - {head} if len(hops) > 1 else here
