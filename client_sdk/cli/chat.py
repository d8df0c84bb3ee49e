"""The terminal dialogue: one line after the other, from a person or from a pipe; an error ends the line alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from client_sdk.answers.answer import Answer
from client_sdk.answers.ratings import rated_sentence, right_answers
from client_sdk.cli.display import Display
from client_sdk.cli.errors import exit_code_of
from client_sdk.cli.messages import (
    OutputMessage,
    evidence,
    graphs,
    help_text,
    history,
    model_saw,
    remark,
    suggestions,
    why,
)
from client_sdk.client import Chat
from client_sdk.errors import ArogError, UnknownConversationError
from client_sdk.protocol import RatingWord

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


class ChatLoop:
    """One dialogue on a terminal. `open_chat` gives a Chat with the graph of a name, or the one of the settings."""

    def __init__(self, open_chat: Callable[[str | None], Chat], face: Display) -> None:
        self._open_chat, self._face = open_chat, face
        self._chat = open_chat(None)
        self._last: Answer | None = None
        self.exit_code = 0

    @property
    def graph(self) -> str:
        return self._chat.graph

    def graphs(self) -> list[str]:
        """Those that the key may ask. Raises ArogError."""
        return self._chat.graphs()

    def go_through(self, lines: Iterable[str]) -> int:
        """Until /quit or the last line. Gives the exit code of the last line that failed, or 0."""
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
            self._face.show(remark("stopped", "(stopped)"))

    def _meant(self, line: str) -> str | None:
        """The question that a number or `/next` chooses, where the last answer offered some; None for another command,
        else the line itself."""
        command, _, rest = line.strip().partition(" ")
        is_next = command == "/next"
        if line.startswith("/") and not is_next:
            return None
        offered, word = self._last_offered(is_next), (rest if is_next else line).strip()
        number = int(word) if word in ("1", "2", "3") else 0
        chosen = offered[number - 1] if 0 < number <= len(offered) else None
        return chosen if is_next else chosen or line

    def _last_offered(self, is_next: bool) -> Sequence[str]:
        if self._last is None:
            return ()
        return self._last.suggestions if is_next else self._last.did_you_mean

    def _command(self, name: str, *words: str) -> OutputMessage:
        match name, words, self._last:
            case "/help", (), _:
                return help_text(COMMANDS)
            case "/reset", (), _:
                self._chat.reset()
                self._last = None
                return remark("reset", "(a new dialogue)")
            case "/history", (), _:
                return history(self._chat.history)
            case "/graph", (), _:
                return graphs(self._chat.graphs(), self.graph)
            case "/graph", (graph,), _:
                return self._switch(graph)
            case "/why" | "/evidence" | "/seen" | "/right" | "/next", (), None:
                return remark("nothing", "(no answer yet)")
            case "/wrong", _, None:
                return remark("nothing", "(no answer yet)")
            case "/why", (), Answer() as answer:
                return why(answer)
            case "/evidence", (), Answer() as answer:
                return evidence(answer)
            case "/next", (), Answer() as answer:
                return suggestions(answer)
            case "/next", (number,), Answer() as answer if number.isdigit():
                return suggestions(answer, "There is no suggestion of that number.")
            case "/seen", (), Answer() as answer:
                return model_saw(self._chat, answer)
            case "/right", (), Answer() as answer:
                return self._rate(answer, "right")
            case "/wrong", _, Answer() as answer:
                return self._rate(answer, "wrong", right_answers(" ".join(words)))
        return help_text(COMMANDS, "There is no such command.")

    def _rate(self, answer: Answer, rating: RatingWord, correct: Sequence[str] = ()) -> OutputMessage:
        told = self._chat.rate(answer, rating, correct)
        content = {"answer": answer.id, "rating": rating, "learnt": told.learnt}
        return remark("rated", f"({rated_sentence(told, bool(correct))})", **content)

    def _switch(self, graph: str) -> OutputMessage:
        """Another graph is another dialogue: names of one must not stand in questions to the other."""
        allowed = self._chat.graphs()
        if graph not in allowed:
            return graphs(allowed, self.graph, "This key may not ask that graph, or there is none of that name.")
        before, self._chat = self._chat, self._open_chat(graph)
        before.close()
        self._last = None
        return remark("graph", f"(a new dialogue with {graph})", graph=graph)
