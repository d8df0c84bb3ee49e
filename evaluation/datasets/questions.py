"""Questions with gold answers and gold plans in one generic form: a JSON object per line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

Text = Annotated[str, StringConstraints(min_length=1)]
COMPOUND: Final = Path(__file__).parents[1] / "compound" / "sets"
ModelT = TypeVar("ModelT", bound=BaseModel)
Letter = Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]?$")]


class QuestionsError(Exception):
    """A file of questions can't be read. The message names file, line and field, and quotes nothing of the content."""


class PlanSet(BaseModel):
    """One set of a gold plan: everything that `path` reaches from `start`.

    `start` is `topic:0` (the first thing named in the question), `earlier:0` (in the user's turns before it),
    `answer:0` (in the last answer), `kind:patient` (everything of one concept), `set:B`, or an expression over other
    sets. Each step of `path` holds a relation's words as prompts show them: `^a` walks it backwards, `a|b` passes
    through a mediator.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    start: Text
    path: tuple[Text, ...] = ()


class QueryPlan(BaseModel):
    """The query by which a model that understands the question would get its answer from the graph.

    `answer` holds expressions of `kg_store.algebra.expressions` over set letters and `topic:0`. `topics` are the words
    of the question that `topic:0`, `topic:1` stand for; without it they count by order of appearance.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    sets: dict[Letter, PlanSet] = Field(default_factory=dict)
    answer: tuple[Text, ...] = Field(min_length=1)
    text: str = ""
    topics: tuple[Text, ...] = ()


class Question(BaseModel):
    """A question, alone or as the last of several turns, and the answers that count as right.

    A `plan` of null means that the graph does not hold the answer; a missing `plan`, that none is known. `turn_plans`
    are the plans of the turns before the last. `filtered` marks questions that a language model alone gets wrong (#Fil
    in the paper). `reproduced` is false if the plan gives other answers than the gold ones. `half` is set if the
    wordings of a set are split: nobody looks at the `unseen` ones.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    id: Text
    question: Text | None = None
    turns: tuple[Text, ...] = ()
    answers: tuple[str, ...]
    topic_entities: tuple[str, ...] = ()
    plan: QueryPlan | None = None
    turn_plans: tuple[QueryPlan | None, ...] = ()
    kind: str = ""
    filtered: bool = False
    reproduced: bool = True
    half: Literal["", "seen", "unseen"] = ""

    @model_validator(mode="after")
    def _has_one_form(self) -> Question:
        if (self.question is None) == (not self.turns):
            raise ValueError("give either `question` or `turns`")
        if self.turn_plans and len(self.turn_plans) != len(self.texts) - 1:
            raise ValueError("`turn_plans` needs one plan for each turn before the last")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """Returns the user's texts turn by turn; the answers belong to the last one."""
        return self.turns if self.question is None else (self.question,)

    @property
    def has_plan(self) -> bool:
        """Returns True if a plan was given, also if it is null, which means that there is no answer."""
        return "plan" in self.model_fields_set

    @property
    def plans(self) -> tuple[QueryPlan | None, ...]:
        """Returns the plans turn by turn; None if the graph has no answer or no plan is known."""
        earlier = self.turn_plans or (None,) * (len(self.texts) - 1)
        return (*earlier, self.plan)

    @property
    def with_answers_alone(self) -> Question:
        """Returns the same question without its plans."""
        return Question.model_validate(self.model_dump(exclude_unset=True, exclude={"plan", "turn_plans"}))

    @property
    def is_answerable(self) -> bool:
        return bool(self.answers)


def read_questions(file: Path) -> list[Question]:
    """Reads every question of a JSONL file in order. Raises QuestionsError, with the line."""
    found: dict[str, Question] = {}
    for place, question in read_lines(file, Question):
        if question.id in found:
            raise QuestionsError(f"{place}: the id stands in an earlier line too")
        found[question.id] = question
    if not found:
        raise QuestionsError(f"{file.name}: there is no question in it")
    return list(found.values())


def compound_questions(graph: str) -> list[Question]:
    """Reads both halves of the questions with several constraints over `metaqa`, `opendialkg` or `webqsp`.

    Nobody looks at those whose `half` is unseen. Raises QuestionsError.
    """
    return [*read_questions(COMPOUND / f"{graph}-seen.jsonl"), *read_questions(COMPOUND / f"{graph}-shut.jsonl.gz")]


def write_questions(questions: Iterable[Question], file: Path) -> int:
    """Writes one line per question without unset fields and returns the number of lines."""
    lines = [question.model_dump_json(exclude_unset=True) + "\n" for question in questions]
    file.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def read_lines(file: Path, model: type[ModelT]) -> Iterator[tuple[str, ModelT]]:
    """Yields each line of a JSONL file, gzipped or not, with its place (file and line). Raises QuestionsError."""
    try:
        held = file.read_bytes()
        lines = (gzip.decompress(held) if file.suffix == ".gz" else held).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise QuestionsError(f"{file.name}: it is not UTF-8 text") from None
    except (OSError, EOFError, zlib.error) as error:
        told = getattr(error, "strerror", None) or "it is not whole"
        raise QuestionsError(f"{file.name}: it can't be read ({told})") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{file.name}, line {number}"
            try:
                yield place, model.model_validate_json(line)
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                field = ".".join(map(str, first["loc"]))
                raise QuestionsError(f"{place}: {field + ': ' if field else ''}{first['msg']}") from None
