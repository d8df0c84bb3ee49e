"""Reply to each task by a gold plan, as a model would that understands every question."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.llm import tasks
from app.llm.endpoint.closed_schemas import labels_in
from app.llm.endpoint.request_body import read_step
from app.llm.tasks import Evidence, PathTriple, StepInput, StepReply, TaskModel, TaskName, Thing, Turn
from app.reader.sentences.dialogue_text import dialogue_text
from evaluation.datasets.gold_plan import (
    GoldPlan,
    ShownNames,
    folded_path,
    pseudonyms_in,
    surfaces_of,
    topic_among,
)
from evaluation.datasets.questions import QueryPlan
from kg_store.algebra.expressions import walked_along

_THOUGHT = "scripted"
_NO_WORDS = re.compile(r"[\W_]+")
_RUN = re.compile(r"[0-9A-Za-z]+")
_QUOTED = re.compile(r'"([^"]*)"')


class ScriptedReplies:
    """Answers the tasks of one question from its plan and what the tasks show.

    Evidence is remembered from task to task, since `choose_relations` shows none. `typed` is the question as typed,
    and only serves to find the pseudonym of the topic. With `at_once`, an answer may use the end of a candidate
    (`way(2)`) that was not followed yet, if that completes the plan.
    """

    def __init__(self, plan: QueryPlan | None, typed: str = "", at_once: bool = False) -> None:
        self._plan, self._typed, self._at_once = plan, typed, at_once
        self._evidence: dict[str, Evidence] = {}
        self._things: tuple[Thing, ...] = ()
        self._dialogue: tuple[Turn, ...] = ()
        self._asked: StepInput | None = None

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        """Returns the reply to the task whose JSON is `block`. Raises pydantic.ValidationError on a bad block."""
        if task == "structure":
            structure = tasks.StructureInput.model_validate_json(block)
            self._see(structure.things, structure.dialogue)
            return tasks.StructureReply(thought=_THOUGHT, path=self._concept_path(structure.question), guess="")
        if task == "choose_relations":
            choose = tasks.ChooseInput.model_validate_json(block)
            gold = self._gold(choose.question)
            return tasks.ChooseReply(choices=gold.continuing(choose.candidates, choose.width) if gold else [])
        if task == "name_concepts":
            clusters = tasks.NameInput.model_validate_json(block).clusters
            named = [tasks.NamedCluster(number=each.number, concepts=[_concept(each.relations)]) for each in clusters]
            return tasks.NameReply(concepts=named)
        if task == "answer":
            asked = tasks.AnswerInput.model_validate_json(block)
            self._see(asked.things, asked.dialogue, asked.evidence)
            answer = self._gold_answer(asked.question)
            return tasks.AnswerReply(thought=_THOUGHT, sufficient=bool(answer), answer=answer)
        if task in ("reply", "worded_reply"):
            told = dialogue_text(tasks.ReplyInput.model_validate_json(block))
            facts = [[at + 1 for at in each.facts] for each in told]
            if task == "reply":
                return tasks.DialogueReply(facts=list(dict.fromkeys(at for each in facts for at in each)))
            said = zip(told, facts, strict=True)
            return tasks.WordedReply(sentences=[tasks.WordedSentence(text=one.text, facts=ats) for one, ats in said])
        if task == "demands":
            words = _RUN.findall(tasks.DemandsInput.model_validate_json(block).question)
            listed = tasks.DemandList(thought=_THOUGHT, terms=words[-5:])
            none = tasks.DemandList(thought=_THOUGHT, terms=[])
            return tasks.DemandsReply(explicit=listed, implicit=none, maintained=listed, extended=none)
        if "choices" in json.loads(block):
            return self._chosen()
        self._asked = read_step(block)
        return self._step(self._asked)

    def _step(self, asked: StepInput) -> StepReply:
        self._see(asked.things, asked.dialogue, asked.evidence)
        if asked.graph:
            answer = self._answer_in(asked)
            return StepReply(action="answer" if answer else "not_in_graph", answer=answer)
        gold, answer = self._gold(asked.question), self._gold_answer(asked.question)
        choices = gold.continuing(asked.candidates, asked.width) if gold and not answer else []
        if choices and self._at_once:
            answer = self._answer_over(asked, choices)
        if not answer and choices and not asked.last_round:
            return StepReply(action="follow", choices=choices)
        return StepReply(action="answer" if answer else "not_in_graph", answer=answer)

    def _chosen(self) -> StepReply:
        """Returns the answer to a request to repair a reply; its candidates are those of the step before."""
        asked = self._asked
        gold = self._gold(asked.question) if asked else None
        ways = gold.continuing(asked.candidates, asked.width) if gold and asked else []
        answer = self._answer_over(asked, ways) if asked and ways else gold.answer() if gold else []
        return StepReply(action="answer" if answer else "not_in_graph", answer=answer)

    def _answer_over(self, asked: StepInput, choices: Sequence[int]) -> list[str]:
        """Returns the answer as if the chosen candidates had been followed; empty if more is needed."""
        before = self._evidence
        walked = {
            f"way {way.number}": Evidence(
                start=way.start, path=way.path, end=f"way({way.number})", end_concept=way.concept
            )
            for way in asked.candidates
            if way.number in choices
        }
        self._evidence = before | walked
        answer = self._gold_answer(asked.question)
        self._evidence = before
        return answer

    def _answer_in(self, asked: StepInput) -> list[str]:
        """Returns the answer over the schema that a request shows whole, without following any path; may be empty."""
        labels = {folded_path([label])[0]: label for label in labels_in(asked.graph)}
        before, known = dict(self._evidence), -1
        while len(self._evidence) > known and (gold := self._gold(asked.question)):
            known = len(self._evidence)
            for _, start, rest in gold.open_ends():
                # A prompt shows a step through nameless nodes in its parts.
                parts = [labels.get(part, "") for part in rest[0].split("|")]
                if all(parts):
                    end = walked_along(start, parts)
                    self._evidence[end] = Evidence(start=start, path=["|".join(parts)], end=end, end_concept="thing")
        answer, self._evidence = self._gold_answer(asked.question), before
        return answer

    def _gold_answer(self, question: str) -> list[str]:
        gold = self._gold(question)
        return gold.answer() if gold else []

    def _see(self, things: Sequence[Thing], dialogue: Sequence[Turn], evidence: Sequence[Evidence] = ()) -> None:
        self._things, self._dialogue = tuple(things), tuple(dialogue)
        self._evidence |= {fact.model_dump_json(): fact for fact in evidence}

    def _gold(self, question: str) -> GoldPlan | None:
        if self._plan is None:
            return None
        known = {thing.name for thing in self._things}
        earlier = [turn.text for turn in self._dialogue if turn.role == "user" and turn.text != question]
        answers = [turn.text for turn in self._dialogue if turn.role == "assistant"]
        shown = ShownNames(
            topics=self._topics(question),
            earlier=pseudonyms_in(earlier, known),
            answers=pseudonyms_in(answers[-1:], known),
            things=self._things,
            evidence=tuple(self._evidence.values()),
        )
        return GoldPlan(self._plan, shown)

    def _topics(self, question: str) -> tuple[str, ...]:
        known = {thing.name for thing in self._things}
        if self._plan is None or not self._plan.topics:
            return pseudonyms_in([question], known)
        surfaces = surfaces_of(self._typed, question, known, self._plan.topics)
        return tuple(topic_among(surfaces, topic) for topic in self._plan.topics)

    def _concept_path(self, question: str) -> list[PathTriple]:
        """Returns the plan in plain words, as a model imagines it before it has seen a relation of the graph."""
        if self._plan is None:
            return []
        topics = self._topics(question)
        triples: list[PathTriple] = []
        for planned in self._plan.sets.values():
            kind, _, rest = planned.start.partition(":")
            here = rest if kind == "kind" else "thing"
            if kind == "topic" and rest.isdigit() and int(rest) < len(topics):
                here = topics[int(rest)] or here
            for label in planned.path:
                words = " ".join(_NO_WORDS.sub(" ", label).split())
                ends = {"head": "thing", "tail": here} if label.startswith("^") else {"head": here, "tail": "thing"}
                triples.append(PathTriple(relation=words, **ends))
                here = "thing"
        return triples


def _concept(relations: Sequence[str]) -> str:
    """Returns a concept made of the last words of the first relation, enough to tell clusters apart."""
    if not relations:
        return "thing"
    return "thing with " + " ".join(_NO_WORDS.sub(" ", relations[0]).split()[-2:])


@dataclass(frozen=True, slots=True)
class Unmasked:
    """A task's block in which masked relations have the words of plans, as if a model understood their descriptions.

    `words` maps the opaque word of each masked relation to the words of plans.
    """

    block: str
    words: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, block: str, meanings: Mapping[str, str]) -> Unmasked:
        """Returns the block with the words of plans for opaque ones; `meanings` maps descriptions to these words."""
        if not meanings:
            return cls(block)
        task = json.loads(block)
        told = {each["relation"]: each["means"] for each in task.get("masked_relations", ())}
        words = {word: meanings[means] for word, means in told.items() if means in meanings}
        texts = {key: task.pop(key) for key in ("question", "dialogue") if key in task}
        changed = _each_text(task, lambda text: _RUN.sub(lambda run: words.get(run[0], run[0]), text))
        return cls(json.dumps(texts | changed), words)

    def in_its_words(self, reply: str) -> str:
        """Returns a reply with opaque words for the words of plans, where its expressions name masked relations."""
        if not self.words:
            return reply
        back = {words: word for word, words in self.words.items()}
        return json.dumps(_each_text(json.loads(reply), lambda text: _QUOTED.sub(lambda m: _masked(m[1], back), text)))


def _masked(path: str, back: Mapping[str, str]) -> str:
    parts = [part.strip() for part in path.split("|")]
    words = ["^" * part.startswith("^") + back.get(part.lstrip("^"), part.lstrip("^")) for part in parts]
    return f'"{"|".join(words)}"'


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(each, change) for each in value]
    if isinstance(value, dict):
        return {key: _each_text(each, change) for key, each in value.items()}
    return value
