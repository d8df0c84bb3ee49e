"""Renders answers, evidence and the ledger on a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from client_sdk.answers.answer import Answer
from client_sdk.answers.confidence import confidence_words, is_unsure
from client_sdk.answers.evidence import amendments
from client_sdk.answers.safe_output import printable
from client_sdk.protocol import LedgerRow
from client_sdk.trace import readable_payload


def make_console() -> Console:
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True)


def show_answer(console: Console, answer: Answer, *, notes: bool = True, marked: bool = False) -> None:
    """The text, then what the asker should know about it; `notes`, where they may explain it. `marked`: with the
    numbers of the facts that carry each sentence."""
    if not (marked and show_sentences(console, answer)):
        say(console, answer.text)
    show_remarks(console, answer, notes=notes)


def show_parts(
    console: Console, answer: Answer, rows: Sequence[LedgerRow] | None, *, text: bool, why: bool, evidence: bool
) -> None:
    """The answer and the parts of it that were asked for; its notes once."""
    if text:
        show_answer(console, answer, notes=not (evidence or why), marked=evidence)
    if why:
        show_why(console, answer)
    if evidence:
        show_evidence(console, answer, marked=not text)
    if evidence and not why:
        show_notes(console, answer)
    if rows is not None:
        show_ledger(console, reversed(rows), payload=True)


def show_remarks(console: Console, answer: Answer, *, notes: bool = True) -> None:
    """Shows what the asker should know beside the text: how it was reached, how sure it is, how names were read, and
    what else they may mean."""
    if notes and answer.answered and answer.explanation:
        say(console, f"({answer.explanation})", style="dim")
    if words := confidence_words(answer.confidence):
        say(console, f"({words})", style="yellow" if is_unsure(answer.confidence) else "dim")
    for amendment in amendments(answer.removed, answer.sentences):
        say(console, f"({amendment})", style="yellow")
    if not answer.grounded and answer.answered:
        say(console, "(not everything in this answer is in the evidence)", style="yellow")
    for typed, name in answer.inexact.items():
        say(console, f'("{typed}" was read as {name})', style="yellow")
    for mention, choices in answer.ambiguous.items():
        numbered = "; ".join(f"{number}. {choice}" for number, choice in enumerate(choices, start=1))
        say(console, f'({mention} may be: {numbered}. Say which: "the second one", or a full name.)', style="yellow")
    if notes and (not answer.answered or answer.ambiguous):
        show_notes(console, answer)


def show_choices(console: Console, answer: Answer) -> None:
    """Shows the questions that may have been meant, each with the number that asks it in a dialogue."""
    for number, question in enumerate(answer.did_you_mean, start=1):
        say(console, (f"  {number}. ", "cyan"), question)
    if answer.did_you_mean:
        say(console, "(type a number, or ask in other words)", style="dim")


def show_suggestions(console: Console, answer: Answer, *, how: str = "") -> None:
    """Shows the questions to go on with, numbered; `how` says how one is asked."""
    if answer.suggestions:
        say(console, "You could ask next:", style="dim")
    for number, question in enumerate(answer.suggestions, start=1):
        say(console, (f"  {number}. ", "cyan"), question)
    if answer.suggestions and how:
        say(console, f"({how})", style="dim")


def show_sentences(console: Console, answer: Answer) -> bool:
    """Shows each sentence with the numbers of the facts that carry it, in one text; False where there are none."""
    parts: list[Text | str | tuple[str, str]] = []
    for sentence in answer.sentences:
        numbers = [answer.evidence.index(fact) + 1 for fact in sentence.facts]
        marks = "".join(f"[{number}]" for number in numbers)
        parts += [(" " if parts else "", ""), sentence.text, (f" {marks}" if marks else "", "cyan")]
    if parts:
        say(console, *parts)
    return bool(parts)


def show_notes(console: Console, answer: Answer) -> None:
    """Shows how the answer was searched for, and what was left out."""
    for note in answer.notes:
        say(console, f"({note})", style="dim")


def show_why(console: Console, answer: Answer) -> None:
    """The path to the answer, and how the question was read."""
    for line in answer.why().splitlines():
        say(console, ("  ", ""), _with_names(line, answer.names))
    show_notes(console, answer)


def show_evidence(console: Console, answer: Answer, *, marked: bool = True) -> None:
    """A line for each fact, those that lead to the answer in bold; numbered where sentences lean on them. `marked`:
    behind these sentences."""
    if marked:
        show_sentences(console, answer)
    if not answer.evidence:
        say(console, "no evidence", style="dim")
    for number, fact in enumerate(answer.evidence, start=1):
        name = "bold" if fact.cited else ""
        say(
            console,
            ("  ", ""),
            (f"[{number}] " if answer.sentences else "", "cyan"),
            (fact.head, name),
            (f" ({fact.head_concept})", "dim"),
            (f", {' > '.join(fact.path)}, ", "cyan"),
            (fact.tail, name),
            (f" ({fact.tail_concept})", "dim"),
        )


def show_ledger(console: Console, rows: Iterable[LedgerRow], payload: bool) -> None:
    """One line for each request to the model; with `payload`, what the model saw below it."""
    found = False
    for row in rows:
        found = True
        at = row.at.isoformat(timespec="seconds")
        head = f"{at}  {row.step}  {row.size} bytes  {row.verdict}  answer {row.answer}  sha256 {row.digest}"
        say(console, head, style="bold")
        if payload:
            say(console, readable_payload(row.payload))
    if not found:
        say(console, "the model was sent nothing", style="dim")


def answer_as_json(answer: Answer, rows: Iterable[LedgerRow] | None) -> str:
    """Everything of the answer; `seen` holds the ledger's rows where they were asked for."""
    whole = answer_as_dict(answer)
    if rows is not None:
        whole["seen"] = [row.model_dump(mode="json") for row in rows]
    return json.dumps(whole, indent=2, ensure_ascii=False)


def answer_as_dict(answer: Answer) -> dict[str, object]:
    """Everything of the answer, names restored."""
    return {
        "id": answer.id,
        "conversation": answer.conversation,
        "text": answer.text,
        "pseudonymous_text": answer.pseudonymous_text,
        "answered": answer.answered,
        "grounded": answer.grounded,
        "confidence": answer.confidence,
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
        "did_you_mean": answer.did_you_mean,
        "strategy": answer.strategy,
        "sentences": [
            {
                "text": one.text,
                "facts": [answer.evidence.index(fact) for fact in one.facts],
                "restated": one.restated,
            }
            for one in answer.sentences
        ],
        "removed": answer.removed,
        "suggestions": answer.suggestions,
        "notes": answer.notes,
        "usage": answer.usage.model_dump(),
    }


def say(console: Console, *parts: Text | str | tuple[str, str], style: str = "") -> None:
    """One line of texts, each alone or with its style; control characters of names do not reach the terminal."""
    line = Text(style=style)
    for part in parts:
        match part:
            case Text():
                line.append_text(part)
            case str():
                line.append(printable(part))
            case text, its_style:
                line.append(printable(text), its_style)
    console.print(line)


def _with_names(line: str, names: Sequence[str]) -> Text:
    """`line` in cyan, and what it names of the answer in bold."""
    text = Text(printable(line), style="cyan")
    for name in {printable(name) for name in names if name}:
        at = text.plain.find(name)
        while at >= 0:
            text.stylize("bold", at, at + len(name))
            at = text.plain.find(name, at + len(name))
    return text
