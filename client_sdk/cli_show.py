"""How answers, evidence and the ledger look on a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from client_sdk.answer import Answer
from client_sdk.printable import printable
from client_sdk.protocol import LedgerRow


def make_console() -> Console:
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True)


def show_answer(console: Console, answer: Answer, *, notes: bool = True) -> None:
    """The text, then what the asker should know about it; `notes`, where they may explain it."""
    _say(console, answer.text)
    show_remarks(console, answer, notes=notes)


def show_remarks(console: Console, answer: Answer, *, notes: bool = True) -> None:
    """What the asker should know beside the text: how names were read, and what they may mean otherwise."""
    if not answer.grounded and answer.answered:
        _say(console, "(not everything in this answer is in the evidence)", "yellow")
    for typed, name in answer.inexact.items():
        _say(console, f'("{typed}" was read as {name})', "yellow")
    for mention, choices in answer.ambiguous.items():
        numbered = "; ".join(f"{number}. {choice}" for number, choice in enumerate(choices, start=1))
        _say(console, f'({mention} may be: {numbered}. Say which: "the second one", or a full name.)', "yellow")
    if notes and (not answer.answered or answer.ambiguous):
        show_notes(console, answer)


def show_notes(console: Console, answer: Answer) -> None:
    """How the answer was searched for, and what was left out."""
    for note in answer.notes:
        _say(console, f"({note})", "dim")


def show_why(console: Console, answer: Answer) -> None:
    """The path to the answer, and how the question was read."""
    for line in answer.why().splitlines():
        _say(console, f"  {line}", "cyan")
    show_notes(console, answer)


def show_evidence(console: Console, answer: Answer) -> None:
    if not answer.evidence:
        _say(console, "no evidence", "dim")
    for fact in answer.evidence:
        _say(console, f"  {fact}", "cyan")


def show_ledger(console: Console, rows: Iterable[LedgerRow], payload: bool) -> None:
    """One line for each request to the model; with `payload`, what the model saw below it."""
    found = False
    for row in rows:
        found = True
        at = row.at.isoformat(timespec="seconds")
        head = f"{at}  {row.step}  {row.size} bytes  {row.verdict}  answer {row.answer}  sha256 {row.digest}"
        _say(console, head, "bold")
        if payload:
            _say(console, readable_payload(row.payload))
    if not found:
        _say(console, "the model was sent nothing", "dim")


def readable_payload(payload: str | None) -> str:
    """A chat request as its messages, another object with one line for each part, and the rest as it is."""
    if payload is None:
        return "(no longer kept)"
    try:
        content: Any = json.loads(payload)
    except ValueError:
        return payload
    messages = content.get("messages") if isinstance(content, dict) else None
    if isinstance(messages, list) and all(isinstance(message, dict) for message in messages):
        return "\n\n".join(f"[{message.get('role')}]\n{message.get('content')}" for message in messages)
    if isinstance(content, dict):
        return "\n".join(_lines_of(key, value) for key, value in content.items())
    return payload


def _lines_of(key: str, value: Any) -> str:
    if isinstance(value, list) and value:
        return "\n".join([f"{key}:", *(f"  {json.dumps(one, ensure_ascii=False)}" for one in value)])
    return f"{key}: {json.dumps(value, ensure_ascii=False)}"


def answer_as_json(answer: Answer, rows: Iterable[LedgerRow] | None) -> str:
    """Everything of the answer, names restored; `seen` holds the ledger's rows where they were asked for."""
    whole: dict[str, Any] = {
        "id": answer.id,
        "conversation": answer.conversation,
        "text": answer.text,
        "pseudonymous_text": answer.pseudonymous_text,
        "answered": answer.answered,
        "grounded": answer.grounded,
        "entities": [
            {
                "names": one.names,
                "total": one.total,
                "concept": one.concept,
                "kind": one.kind,
                "pseudonym": one.pseudonym,
            }
            for one in answer.entities
        ],
        "why": answer.path,
        "evidence": [str(fact) for fact in answer.evidence],
        "ambiguous": answer.ambiguous,
        "inexact": answer.inexact,
        "notes": answer.notes,
        "usage": answer.usage.model_dump(),
    }
    if rows is not None:
        whole["seen"] = [row.model_dump(mode="json") for row in rows]
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(printable(text), style=style))
