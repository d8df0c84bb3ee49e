"""Shows answers, evidence, the ledger and traces on a terminal, and returns them as dicts for JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from client_sdk.answers.answer import Answer
from client_sdk.answers.evidence import amendments, confidence_words, is_unsure
from client_sdk.answers.safe_output import printable
from client_sdk.memory import RememberedFact
from client_sdk.protocol import LedgerRow
from client_sdk.streaming import Stage, Stream, TextPiece
from client_sdk.trace import Trace, TraceStep, readable_payload

_STAGES = {
    "linking": "looking for names",
    "finding": "searching",
    "concluding": "checking the answer",
    "suggesting": "looking for questions to go on with",
    "sealing": "sealing its names",
}
_AS_IT_LEFT, _WITH_NAMES = "as the model had it", "with names, on this machine alone"
_RUN = re.compile(r"[0-9A-Za-z]+")
_TWO_COLUMNS_FROM = 120  # characters of the terminal's width
_OUTCOMES = {
    "unusable": "the reply broke its rules",
    "blocked": "the guard stopped it: nothing was sent",
    "none": "nothing came back",
}
_OF_AN_ANSWER = (
    *("id", "conversation", "text", "pseudonymous_text", "answered", "grounded", "confidence", "ambiguous", "inexact"),
    *("did_you_mean", "strategy", "removed", "suggestions", "notes"),
)
_OF_AN_ENTITY = ("names", "total", "concept", "kind", "pseudonym")


def make_console() -> Console:
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True)


def show_answer(console: Console, answer: Answer, *, notes: bool = True, marked: bool = False) -> None:
    """Shows the text, then what the asker should know about it.

    `notes` adds the notes that explain it; `marked` puts the numbers of supporting facts behind each sentence.
    """
    if not (marked and show_sentences(console, answer)):
        say(console, answer.text)
    show_remarks(console, answer, notes=notes)


def show_parts(
    console: Console, answer: Answer, rows: Sequence[LedgerRow] | None, *, text: bool, why: bool, evidence: bool
) -> None:
    """Shows those parts of the answer that are asked for: text, path, evidence, and what the model saw (`rows`).

    The notes are shown only once.
    """
    if text:
        show_answer(console, answer, notes=not (evidence or why), marked=evidence)
    if why:
        show_why(console, answer)
    if evidence:
        show_evidence(console, answer, marked=not text)
    if evidence and not why:
        show_notes(console, answer)
    if rows is not None:
        show_ledger(console, rows[::-1], payload=True)


def show_remarks(console: Console, answer: Answer, *, notes: bool = True) -> None:
    """Shows what the asker should know beside the text.

    That is: how the answer was reached, its confidence, how names were read, and what they may mean otherwise.
    """
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
    """Shows the questions that may have been meant, numbered; in a dialogue the number asks the question."""
    if answer.did_you_mean:
        _show_numbered(console, answer.did_you_mean)
        say(console, "(type a number, or ask in other words)", style="dim")


def show_suggestions(console: Console, answer: Answer, *, how: str = "") -> None:
    """Shows questions to ask next, numbered; `how` tells how to ask one."""
    if answer.suggestions:
        say(console, "You could ask next:", style="dim")
        _show_numbered(console, answer.suggestions)
        if how:
            say(console, f"({how})", style="dim")


def _show_numbered(console: Console, questions: Iterable[str]) -> None:
    for number, question in enumerate(questions, start=1):
        say(console, (f"  {number}. ", "cyan"), question)


def show_sentences(console: Console, answer: Answer) -> bool:
    """Shows the sentences as one text, each with the numbers of its supporting facts; False if there are none."""
    parts: list[Text | str | tuple[str, str]] = []
    for sentence in answer.sentences:
        numbers = [answer.evidence.index(fact) + 1 for fact in sentence.facts]
        marks = "".join(f"[{number}]" for number in numbers)
        parts += [(" " if parts else "", ""), sentence.text, (f" {marks}" if marks else "", "cyan")]
    if parts:
        say(console, *parts)
    return bool(parts)


def show_notes(console: Console, answer: Answer) -> None:
    """Shows the notes: how the answer was searched for, and what was left out."""
    for note in answer.notes:
        say(console, f"({note})", style="dim")


def show_why(console: Console, answer: Answer) -> None:
    """Shows the path to the answer, with its names in bold, and the notes."""
    for line in answer.why().splitlines():
        say(console, ("  ", ""), _with_names(line, answer.names))
    show_notes(console, answer)


def show_evidence(console: Console, answer: Answer, *, marked: bool = True) -> None:
    """Shows one line for each fact, bold if it leads to the answer, numbered if the answer has sentences.

    `marked` shows these sentences first, with the numbers of their facts.
    """
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
            (f" ({fact.head_concept})" if fact.head_concept else "", "dim"),
            (f", {' > '.join(fact.path)}, ", "cyan"),
            (fact.tail, name),
            (f" ({fact.tail_concept})" if fact.tail_concept else "", "dim"),
            (f", from {fact.public}" if fact.public else "", "dim"),
        )


def show_ledger(console: Console, rows: Sequence[LedgerRow], payload: bool) -> None:
    """Shows one line for each request to the model, and with `payload` below it what the model saw."""
    for row in rows:
        at = row.at.isoformat(timespec="seconds")
        head = f"{at}  {row.step}  {row.size} bytes  {row.verdict}  answer {row.answer}  sha256 {row.digest}"
        say(console, head, style="bold")
        if payload:
            say(console, readable_payload(row.payload))
    if not rows:
        say(console, "the model was sent nothing", style="dim")


def show_memory(console: Console, facts: Sequence[RememberedFact]) -> None:
    """Shows one line for each sentence that is remembered: its id, its day and its words."""
    for fact in facts:
        said = "" if fact.form == "fact" else "  (in your own words)"
        offer = f"  ({fact.offer})" if fact.offer else ""
        say(console, (f"{fact.id}  {fact.made_at:%Y-%m-%d}  ", "dim"), fact.text, (said, "dim"), offer)
    if not facts:
        say(console, "nothing is remembered", style="dim")


def fact_as_dict(fact: RememberedFact) -> dict[str, object]:
    """Returns every field of a sentence that is remembered, with names restored, for JSON."""
    return {**asdict(fact), "made_at": fact.made_at.isoformat()}


def print_json(content: object) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False))


def answer_as_dict(answer: Answer) -> dict[str, object]:
    """Returns every field of the answer, with names restored, for JSON."""
    sentences = [
        {"text": one.text, "facts": [answer.evidence.index(fact) for fact in one.facts], "restated": one.restated}
        for one in answer.sentences
    ]
    return {
        **{name: getattr(answer, name) for name in _OF_AN_ANSWER},
        "entities": [{name: getattr(one, name) for name in _OF_AN_ENTITY} for one in answer.entities],
        "why": answer.path,
        "evidence": [str(fact) for fact in answer.evidence],
        "sentences": sentences,
        "usage": answer.usage.model_dump(),
    }


def say(console: Console, *parts: Text | str | tuple[str, str], style: str = "") -> None:
    """Prints one line of texts, each plain or with its style, without control characters."""
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
    """Returns `line` in cyan, with the names of the answer in bold."""
    text = Text(printable(line), style="cyan")
    for name in {printable(name) for name in names if name}:
        at = text.plain.find(name)
        while at >= 0:
            text.stylize("bold", at, at + len(name))
            at = text.plain.find(name, at + len(name))
    return text


def show_stream(console: Console, stream: Stream, *, notes: bool = True) -> Answer:
    """Shows an answer as it comes, and returns it: stages beside a spinner, then the text, then the remarks.

    If the output is no terminal, no stages are shown. Text that has been shown ends with a line end even if an error
    follows.
    """
    status = console.status("asking") if console.is_terminal else nullcontext()
    has_text = False
    try:
        with stream, status:
            for piece in stream:
                if isinstance(piece, Stage) and isinstance(status, Status):
                    status.update(Text(printable(_STAGES.get(piece.name, str(piece)))))
                elif isinstance(piece, TextPiece):
                    if isinstance(status, Status):
                        status.stop()
                    has_text = True
                    console.print(Text(printable(piece.text)), end="")
    finally:
        if has_text:
            console.print()
    answer = stream.answer()
    show_remarks(console, answer, notes=notes)
    return answer


def show_trace(console: Console, trace: Trace) -> None:
    """Shows each step of a trace as it left and with names, side by side if the terminal is wide enough.

    Pseudonyms in what the model had are highlighted.
    """
    if not trace.names_kept:
        say(console, "(the conversation is not kept any more: there are no names)", style="yellow")
    if not trace.steps:
        say(console, "the model was sent nothing", style="dim")
    for number, step in enumerate(trace.steps, start=1):
        remark = f"  ({_OUTCOMES[step.outcome]})" if step.outcome in _OUTCOMES else ""
        say(console, f"{number}. {step.step}  {step.at.isoformat(timespec='seconds')}{remark}", style="bold")
        if step.anonymity is not None:
            say(
                console,
                f"(entities of the graph that match what it shows of a thing: {step.anonymity:,})",
                style="dim",
            )
        for title, text in _parts(step):
            _show_both(console, title, text, trace)


def trace_as_dict(trace: Trace) -> dict[str, object]:
    """Returns every step of a trace, for JSON: its prompt and reply as they left, and the same with names."""
    steps = [
        {
            "step": step.step,
            "at": step.at.isoformat(),
            "outcome": step.outcome,
            "anonymity": step.anonymity,
            "prompt": step.prompt,
            "prompt_with_names": step.prompt and trace.with_names(step.prompt),
            "reply": step.reply,
            "reply_with_names": step.reply and trace.with_names(step.reply),
        }
        for step in trace.steps
    ]
    return {"answer": trace.answer_id, "names_kept": trace.names_kept, "steps": steps}


def _parts(step: TraceStep) -> list[tuple[str, str]]:
    """Returns (title, text) of what a step has to show.

    Nothing if it was blocked, and only the prompt if no reply came.
    """
    prompt, reply = ("prompt", readable_payload(step.prompt)), ("reply", readable_payload(step.reply))
    return {"blocked": [], "none": [prompt]}.get(step.outcome, [prompt, reply])


def _show_both(console: Console, title: str, text: str, trace: Trace) -> None:
    plain, named = Text(printable(text)), trace.with_names(text)
    for run in _RUN.finditer(plain.plain):
        if run.group() in trace.pseudonyms:
            plain.stylize("bold magenta", run.start(), run.end())
    if console.is_terminal and console.width >= _TWO_COLUMNS_FROM:
        table = Table(f"{title}, {_AS_IT_LEFT}", _WITH_NAMES, expand=True)
        table.add_row(plain, Text(printable(named)))
        console.print(table, soft_wrap=False)
        return
    say(console, f"--- {title}, {_AS_IT_LEFT}", style="dim")
    say(console, plain)
    say(console, f"--- {title}, {_WITH_NAMES}", style="dim")
    say(console, named)
