"""Messages of a dialogue's commands: the same content for programs and, as it looks, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from client_sdk.answers.answer import Answer
from client_sdk.cli.render import say, show_evidence, show_ledger, show_notes, show_suggestions, show_why
from client_sdk.cli.trace import show_trace, trace_as_dict
from client_sdk.client import Chat
from client_sdk.dialogue import Turn
from client_sdk.errors import RefusedError

PSEUDONYMS_ALONE = (
    "(in pseudonyms alone: the names behind them are for keys with the grant inspect:{graph}, "
    "`arog api-key create --grant {graph} --grant inspect:{graph}`)"
)


@dataclass(frozen=True, slots=True)
class OutputMessage:
    """`content` as JSON holds it, and what draws it."""

    kind: str
    content: Mapping[str, object] = field(repr=False)
    show: Callable[[Console], None]


def remark(kind: str, sentence: str, **content: object) -> OutputMessage:
    return OutputMessage(kind, content, lambda console: say(console, sentence, style="dim"))


def help_text(commands: Mapping[str, str], problem: str = "") -> OutputMessage:
    """`problem` says why they are listed, where nobody asked for it."""

    def show(console: Console) -> None:
        if problem:
            say(console, problem, style="yellow")
        width = max(map(len, commands))
        for name, does in commands.items():
            say(console, (f"{name:<{width}}  ", "cyan"), does)

    return OutputMessage("help", {"problem": problem, "commands": dict(commands)}, show)


def why(answer: Answer) -> OutputMessage:
    content = {"answer": answer.id, "why": answer.path, "notes": answer.notes}
    return OutputMessage("why", content, lambda console: show_why(console, answer))


def evidence(answer: Answer) -> OutputMessage:
    def show(console: Console) -> None:
        show_evidence(console, answer)
        show_notes(console, answer)

    facts = [str(fact) for fact in answer.evidence]
    return OutputMessage("evidence", {"answer": answer.id, "evidence": facts, "notes": answer.notes}, show)


def suggestions(answer: Answer, problem: str = "") -> OutputMessage:
    """`problem` says why they are listed, where one was asked for."""

    def show(console: Console) -> None:
        if problem:
            say(console, problem, style="yellow")
        show_suggestions(console, answer)
        if not answer.suggestions:
            say(console, "(no suggestions)", style="dim")

    content = {"problem": problem, "answer": answer.id, "suggestions": list(answer.suggestions)}
    return OutputMessage("next", content, show)


def history(turns: Sequence[Turn]) -> OutputMessage:
    def show(console: Console) -> None:
        for turn in turns:
            say(console, ("> " if turn.role == "user" else "  ", "cyan"), turn.text)
        if not turns:
            say(console, "(nothing yet)", style="dim")

    return OutputMessage("history", {"turns": [{"role": turn.role, "text": turn.text} for turn in turns]}, show)


def graphs(names: Sequence[str], current: str, problem: str = "") -> OutputMessage:
    """`problem` says why they are listed, where another was asked for."""

    def show(console: Console) -> None:
        if problem:
            say(console, problem, style="yellow")
        for name in names:
            say(console, ("* " if name == current else "  ", "cyan"), name)

    return OutputMessage("graph", {"problem": problem, "graph": current, "graphs": list(names)}, show)


def model_saw(chat: Chat, answer: Answer) -> OutputMessage:
    """Each prompt and reply with names where the key may have them, else the requests as they left."""
    try:
        trace = chat.trace(answer.id)
    except RefusedError as refused:
        if refused.code != "unknown_answer":
            raise
    else:
        return OutputMessage("seen", trace_as_dict(trace), lambda console: show_trace(console, trace))
    rows = chat.ledger(answer.id)[::-1]

    def show(console: Console) -> None:
        if rows:
            say(console, PSEUDONYMS_ALONE.format(graph=chat.graph), style="yellow")
        show_ledger(console, rows, payload=True)

    requests = [row.model_dump(mode="json") for row in rows]
    return OutputMessage("seen", {"answer": answer.id, "names_kept": False, "requests": requests}, show)
