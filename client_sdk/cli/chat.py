"""The dialogue on a terminal: reads questions and commands line by line; an error ends only its own line.

A person gets text; a program gets one JSON object for each line that was read, whose `kind` says what it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import rated_sentence, right_answers
from client_sdk.cli.main import error_line, exit_code_of
from client_sdk.cli.render import (
    answer_as_dict,
    say,
    show_answer,
    show_choices,
    show_evidence,
    show_ledger,
    show_notes,
    show_stream,
    show_suggestions,
    show_trace,
    show_why,
    trace_as_dict,
)
from client_sdk.client import Chat
from client_sdk.crypto.private_files import create_private, read_private
from client_sdk.errors import ArogError, RefusedError, UnknownConversationError
from client_sdk.protocol import RatingWord

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.document import Document


COMMANDS = {
    "/why": "how the last answer was found",
    "/evidence": "every fact that was looked at",
    "/next [NUMBER]": "questions to go on with, or ask one of them",
    "/seen": "what the model saw, with names where this key may have them",
    "/right": "the last answer is right: later questions learn from it",
    "/wrong [ANSWER]": "the last answer is wrong; the right one, where you know it (several with ; between them)",
    "/graph [NAME]": "the graphs that this key may ask, or another of them",
    "/history": "the dialogue so far",
    "/reset": "begin anew",
    "/help": "these lines",
    "/quit": "end (or Ctrl-D); Ctrl-C ends a question",
}
_PSEUDONYMS_ALONE = (
    "(in pseudonyms alone: the names behind them are for keys with the grant inspect:{graph}, "
    "`arog api-key create --grant {graph} --grant inspect:{graph}`)"
)


@dataclass(frozen=True, slots=True)
class Message:
    """The reply to a command: `content` for JSON; `draw` shows the reply on a console."""

    kind: str
    content: Mapping[str, object] = field(repr=False)
    draw: Callable[[Console], None]


class ConsoleDisplay:
    """Shows a dialogue to people: text piece by piece on a terminal, whole into a pipe; errors on standard error."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def ask(self, chat: Chat, question: str) -> Answer:
        """Asks, and shows the answer and returns it. Raises ArogError."""
        if self._console.is_terminal:
            answer = show_stream(self._console, chat.stream(question))
        else:
            answer = chat.ask(question)
            show_answer(self._console, answer)
        show_choices(self._console, answer)
        show_suggestions(self._console, answer, how="/next 1 asks the first")
        return answer

    def show(self, told: Message) -> None:
        if problem := told.content.get("problem"):
            say(self._console, str(problem), style="yellow")
        told.draw(self._console)

    def fail(self, error: ArogError, advice: str) -> None:
        """Shows an error, and `advice` if it is not empty."""
        print(error_line(error), file=sys.stderr)
        if advice:
            print(f"arog: {advice}", file=sys.stderr)


class JsonDisplay:
    """Shows a dialogue to programs, as one JSON object for each reply."""

    def ask(self, chat: Chat, question: str) -> Answer:
        answer = chat.ask(question)
        self._print("answer", answer_as_dict(answer))
        return answer

    def show(self, told: Message) -> None:
        self._print(told.kind, told.content)

    def fail(self, error: ArogError, advice: str) -> None:
        told = {"code": error.code, "message": str(error), "hint": advice or error.hint, "id": error.id}
        self._print("error", told)

    def _print(self, kind: str, content: Mapping[str, object]) -> None:
        print(json.dumps({"kind": kind, **content}, ensure_ascii=False), flush=True)


class ChatLoop:
    """One dialogue on a terminal.

    `open_chat` returns a Chat with the graph of the given name; for None, with the graph of the settings.
    """

    def __init__(self, open_chat: Callable[[str | None], Chat], face: ConsoleDisplay | JsonDisplay) -> None:
        self._open_chat, self._face = open_chat, face
        self._chat = open_chat(None)
        self._last: Answer | None = None
        self.exit_code = 0

    @property
    def graph(self) -> str:
        return self._chat.graph

    def graphs(self) -> list[str]:
        """Returns the names of the graphs that the key may ask. Raises ArogError."""
        return self._chat.graphs()

    def go_through(self, lines: Iterable[str]) -> int:
        """Takes lines until /quit or the last one; returns the exit code of the last line that failed, or 0."""
        try:
            for line in lines:
                if line == "/quit":
                    break
                self._take(line)
        finally:
            self._chat.close()
        return self.exit_code

    def _take(self, line: str) -> None:
        try:
            question = self._meant(line)
            if question is None:
                self._face.show(self._command(*line.split()))
            else:
                self._last = self._face.ask(self._chat, question)
        except ArogError as error:
            self.exit_code = exit_code_of(error)
            advice = "/reset begins a new conversation." if isinstance(error, UnknownConversationError) else ""
            self._face.fail(error, advice)
        except KeyboardInterrupt:
            self._face.show(_remark("stopped", "(stopped)"))

    def _meant(self, line: str) -> str | None:
        """Returns the question that a line asks, or None if it is a command.

        A number chooses one of the last answer's `did_you_mean`, and `/next` with a number one of its suggestions.
        """
        command, _, rest = line.strip().partition(" ")
        is_next = command == "/next"
        if line.startswith("/") and not is_next:
            return None
        offered: Sequence[str] = ()
        if self._last is not None:
            offered = self._last.suggestions if is_next else self._last.did_you_mean
        word = (rest if is_next else line).strip()
        number = int(word) if word in ("1", "2", "3") else 0
        chosen = offered[number - 1] if 0 < number <= len(offered) else None
        return chosen if is_next else chosen or line

    def _command(self, name: str, *words: str) -> Message:
        match name, words, self._last:
            case "/help", (), _:
                return _help()
            case "/reset", (), _:
                self._chat.reset()
                self._last = None
                return _remark("reset", "(a new dialogue)")
            case "/history", (), _:
                return _history(self._chat)
            case "/graph", (), _:
                return _graphs(self._chat.graphs(), self.graph)
            case "/graph", (graph,), _:
                return self._switch(graph)
            case ("/why" | "/evidence" | "/seen" | "/right" | "/next", (), None) | ("/wrong", _, None):
                return _remark("nothing", "(no answer yet)")
            case "/why", (), Answer() as answer:
                return _why(answer)
            case "/evidence", (), Answer() as answer:
                return _evidence(answer)
            case "/next", (), Answer() as answer:
                return _suggestions(answer)
            case "/next", (number,), Answer() as answer if number.isdigit():
                return _suggestions(answer, "There is no suggestion of that number.")
            case "/seen", (), Answer() as answer:
                return _seen(self._chat, answer)
            case "/right", (), Answer() as answer:
                return self._rate(answer, "right")
            case "/wrong", _, Answer() as answer:
                return self._rate(answer, "wrong", right_answers(" ".join(words)))
        return _help("There is no such command.")

    def _rate(self, answer: Answer, rating: RatingWord, correct: Sequence[str] = ()) -> Message:
        told = self._chat.rate(answer, rating, correct)
        content = {"answer": answer.id, "rating": rating, "learnt": told.learnt}
        return _remark("rated", f"({rated_sentence(told, bool(correct))})", **content)

    def _switch(self, graph: str) -> Message:
        """Begins a new dialogue with another graph; names of one graph must not appear in questions to the other."""
        allowed = self._chat.graphs()
        if graph not in allowed:
            return _graphs(allowed, self.graph, "This key may not ask that graph, or there is none of that name.")
        before, self._chat = self._chat, self._open_chat(graph)
        before.close()
        self._last = None
        return _remark("graph", f"(a new dialogue with {graph})", graph=graph)


def _remark(kind: str, sentence: str, **content: object) -> Message:
    return Message(kind, content, lambda console: say(console, sentence, style="dim"))


def _help(problem: str = "") -> Message:
    def draw(console: Console) -> None:
        width = max(map(len, COMMANDS))
        for name, does in COMMANDS.items():
            say(console, (f"{name:<{width}}  ", "cyan"), does)

    return Message("help", {"problem": problem, "commands": COMMANDS}, draw)


def _why(answer: Answer) -> Message:
    content = {"answer": answer.id, "why": answer.path, "notes": answer.notes}
    return Message("why", content, lambda console: show_why(console, answer))


def _evidence(answer: Answer) -> Message:
    def draw(console: Console) -> None:
        show_evidence(console, answer)
        show_notes(console, answer)

    facts = [str(fact) for fact in answer.evidence]
    return Message("evidence", {"answer": answer.id, "evidence": facts, "notes": answer.notes}, draw)


def _suggestions(answer: Answer, problem: str = "") -> Message:
    def draw(console: Console) -> None:
        show_suggestions(console, answer)
        if not answer.suggestions:
            say(console, "(no suggestions)", style="dim")

    return Message("next", {"problem": problem, "answer": answer.id, "suggestions": answer.suggestions}, draw)


def _history(chat: Chat) -> Message:
    turns = chat.history

    def draw(console: Console) -> None:
        for turn in turns:
            say(console, ("> " if turn.role == "user" else "  ", "cyan"), turn.text)
        if not turns:
            say(console, "(nothing yet)", style="dim")

    return Message("history", {"turns": [{"role": turn.role, "text": turn.text} for turn in turns]}, draw)


def _graphs(names: Sequence[str], current: str, problem: str = "") -> Message:
    def draw(console: Console) -> None:
        for name in names:
            say(console, ("* " if name == current else "  ", "cyan"), name)

    return Message("graph", {"problem": problem, "graph": current, "graphs": names}, draw)


def _seen(chat: Chat, answer: Answer) -> Message:
    """Returns the reply that shows each prompt and reply of an answer: with names if the key may have them.

    Otherwise it shows them in pseudonyms.
    """
    try:
        trace = chat.trace(answer.id)
    except RefusedError as refused:
        if refused.code != "unknown_answer":
            raise
    else:
        return Message("seen", trace_as_dict(trace), lambda console: show_trace(console, trace))
    rows = chat.ledger(answer.id)[::-1]

    def draw(console: Console) -> None:
        if rows:
            say(console, _PSEUDONYMS_ALONE.format(graph=chat.graph), style="yellow")
        show_ledger(console, rows, payload=True)

    requests = [row.model_dump(mode="json") for row in rows]
    return Message("seen", {"answer": answer.id, "names_kept": False, "requests": requests}, draw)


_MAX_LINES = 1000


def piped_lines() -> Iterator[str]:
    """Returns the lines of standard input that are not empty."""
    return (line.strip() for line in sys.stdin if line.strip())


def typed_lines(
    console: Console, prompt: Callable[[], str], complete: Callable[[str], Sequence[str]], kept: Path | None
) -> Iterator[str]:
    """Yields lines that are not empty, until Ctrl-D or Ctrl-C.

    `prompt` gives the text before each line, `complete` the words that may continue it. With `kept`, earlier lines are
    read from that file, and written to it at the end. Raises NotConfiguredError if others can read the file.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.shortcuts import CompleteStyle

    earlier = InMemoryHistory(_kept_lines(kept) if kept is not None else [])
    session: PromptSession[str] = PromptSession(
        history=earlier,
        completer=_completer(complete),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
    )
    style = "bold ansicyan" if console.is_terminal and not console.no_color else ""
    try:
        while True:
            try:
                line = session.prompt([(style, prompt())]).strip()
            except (EOFError, KeyboardInterrupt):
                console.print()
                return
            if line:
                yield line
    finally:
        if kept is not None:
            _keep_lines(kept, earlier.get_strings()[-_MAX_LINES:])


def completing(commands: Sequence[str], graphs: Callable[[], list[str]]) -> Callable[[str], Sequence[str]]:
    """Returns a function that completes commands, and the names of graphs after `/graph`."""

    def complete(line: str) -> Sequence[str]:
        if not line.startswith("/graph "):
            return [command for command in commands if command.startswith(line)] if line.startswith("/") else []
        begun = line.removeprefix("/graph ")
        try:
            return [name for name in graphs() if name.startswith(begun)]
        except ArogError:
            return []

    return complete


def _completer(complete: Callable[[str], Sequence[str]]) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Document, _event: object) -> Iterator[Completion]:
            begun = document.get_word_before_cursor(WORD=True)
            for word in complete(document.text_before_cursor.lstrip()):
                yield Completion(word, start_position=-len(begun))

    return Words()


def _kept_lines(kept: Path) -> list[str]:
    """Returns the lines typed in earlier dialogues, oldest first, from the file `kept`, which is made if missing.

    Raises NotConfiguredError if others can read the file.
    """
    create_private(kept, b"")
    read_private(kept)
    return kept.read_text("utf-8", errors="replace").splitlines()


def _keep_lines(kept: Path, lines: Sequence[str]) -> None:
    kept.write_text("".join(f"{' '.join(line.splitlines())}\n" for line in lines), "utf-8", errors="replace")
    kept.chmod(0o600)
