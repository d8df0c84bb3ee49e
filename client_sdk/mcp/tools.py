"""The tools: what a client is told of them, what they take, and their results as text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser, printable
from client_sdk.mcp.dialogues import AnsweredTurn, Dialogues
from client_sdk.protocol import MAX_MESSAGE_CHARS, LedgerRow
from client_sdk.trace import Trace, readable_payload

NAMES_ARE_READ: Final = (
    "It holds real names of a private graph, put back on this machine: the model that this client works with reads "
    "them, and so does whoever runs that model."
)
NAMES_STAY: Final = (
    "It holds pseudonyms such as Eq7f2k in place of names: no name leaves the service, and none can be looked up here."
)
_EXPIRED: Final = "The earlier dialogue had expired, so this was asked without it."
_READ_OTHERWISE: Final = "A name of the question was read in another spelling."


class NoArguments(BaseModel):
    """The arguments of a tool that takes none."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Question(NoArguments):
    """The arguments of `ask`."""

    question: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS, description="The question, in plain words")
    graph: str | None = Field(default=None, description="The graph to ask; list_graphs names them")
    new_dialogue: bool = Field(default=False, description="Forget what was asked of this graph before")


@dataclass(frozen=True, slots=True)
class GraphTool:
    """One tool. `run` gives its result, and raises ArogError."""

    name: str
    title: str
    does: str
    arguments: type[NoArguments]
    run: Callable[[Dialogues, NoArguments, bool], Awaitable[str]]


async def _ask(dialogues: Dialogues, arguments: NoArguments, names: bool) -> str:
    assert isinstance(arguments, Question)
    turn = await dialogues.ask(arguments.question, arguments.graph, anew=arguments.new_dialogue)
    return answer_text(turn, names=names)


async def _why(dialogues: Dialogues, _arguments: NoArguments, _names: bool) -> str:
    return explanation_text(dialogues.newest())


async def _seen(dialogues: Dialogues, _arguments: NoArguments, _names: bool) -> str:
    trace = await dialogues.trace()
    return trace_text(trace) if isinstance(trace, Trace) else ledger_text(trace)


async def _graphs(dialogues: Dialogues, _arguments: NoArguments, _names: bool) -> str:
    return "\n".join(await dialogues.graphs()) or "There is no graph that this API key may ask."


TOOLS: Final = (
    GraphTool(
        "ask",
        "Ask a graph",
        "Ask a private knowledge graph a question in plain words, and get its answer. Questions of one session may "
        "lean on earlier ones: 'and Rose?', 'the second one'.",
        Question,
        _ask,
    ),
    GraphTool(
        "why",
        "Explain the last answer",
        "Explain the last answer: the path that was followed through the graph, and the facts that were looked at.",
        NoArguments,
        _why,
    ),
    GraphTool(
        "what_the_model_saw",
        "Show what the service's model saw",
        "Show what the language model behind the service was sent and replied for the last answer, in pseudonyms.",
        NoArguments,
        _seen,
    ),
    GraphTool("list_graphs", "List the graphs", "List the graphs that may be asked.", NoArguments, _graphs),
)


def description(tool: GraphTool, names: bool) -> str:
    """The text that a client's model reads of a tool; of names, where its result may hold some."""
    return tool.does if tool.name == "list_graphs" else f"{tool.does} {NAMES_ARE_READ if names else NAMES_STAY}"


def answer_text(turn: AnsweredTurn, *, names: bool) -> str:
    """The answer and what to know beside it; links, images and tags in it are inert. Without `names` no word of the
    question is said again: it may be one."""
    answer, after = turn.answer, ""
    if answer.inexact and not names:
        answer, after = replace(answer, inexact={}), f"\n\n{_READ_OTHERWISE}"
    before = f"{_EXPIRED}\n\n" if turn.began_anew else ""
    return _inert(before + answer.text + remarks(answer) + after)


def explanation_text(answer: Answer) -> str:
    facts = [f"- {fact}" for fact in answer.evidence] or ["- none"]
    notes = [f"- {note}" for note in answer.notes]
    parts = [answer.why(), "Facts that were looked at:", *facts, *(["Notes:", *notes] if notes else [])]
    return _inert("\n".join(parts))


def trace_text(trace: Trace) -> str:
    """Each prompt and reply as they left, and last what their pseudonyms stand for."""
    if not trace.steps:
        return "The model was sent nothing."
    parts = []
    for number, step in enumerate(trace.steps, start=1):
        parts += [
            f"{number}. {step.step}: sent",
            readable_payload(step.prompt),
            "replied",
            readable_payload(step.reply),
        ]
    met = sorted(word for word in trace.pseudonyms if any(word in part for part in parts))
    named = [f"{word} = {trace.with_names(word)}" for word in met]
    return printable("\n\n".join([*parts, *(["On this machine:\n" + "\n".join(named)] if named else [])]))


def ledger_text(rows: Sequence[LedgerRow]) -> str:
    """The requests as they left, in pseudonyms."""
    if not rows:
        return "The model was sent nothing."
    parts = [f"{number}. {row.step}: sent\n\n{readable_payload(row.payload)}" for number, row in enumerate(rows, 1)]
    return printable("\n\n".join(parts))


def _inert(text: str) -> str:
    return MarkdownNeutraliser().push(text)
