"""Renders a trace on a terminal: each prompt and reply as they left, beside or above the same with names."""

from __future__ import annotations

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from client_sdk.answers.safe_output import printable
from client_sdk.cli.render import say
from client_sdk.trace import Trace, TraceStep, readable_payload

AS_IT_LEFT, WITH_NAMES = "as the model had it", "with names, on this machine alone"
_RUN = re.compile(r"[0-9A-Za-z]+")
TWO_COLUMNS_FROM = 120  # columns of the terminal
_OUTCOMES = {
    "unusable": "the reply broke its rules",
    "blocked": "the guard stopped it: nothing was sent",
    "none": "nothing came back",
}


def show_trace(console: Console, trace: Trace) -> None:
    """Two columns on a wide terminal, else two blocks; pseudonyms stand out from what the model had."""
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
            _show_both(console, title, _marked(text, trace.pseudonyms), trace.with_names(text))


def trace_as_dict(trace: Trace) -> dict[str, object]:
    """Every step, its prompt and reply as they left and with names."""

    def named(text: str | None) -> str | None:
        return None if text is None else trace.with_names(text)

    steps = [
        {
            "step": step.step,
            "at": step.at.isoformat(),
            "outcome": step.outcome,
            "anonymity": step.anonymity,
            "prompt": step.prompt,
            "prompt_with_names": named(step.prompt),
            "reply": step.reply,
            "reply_with_names": named(step.reply),
        }
        for step in trace.steps
    ]
    return {"answer": trace.answer_id, "names_kept": trace.names_kept, "steps": steps}


def _parts(step: TraceStep) -> list[tuple[str, str]]:
    """Title and text of what there is to show."""
    if step.outcome == "blocked":
        return []
    prompt = ("prompt", readable_payload(step.prompt))
    if step.outcome == "none":
        return [prompt]
    return [prompt, ("reply", readable_payload(step.reply))]


def _marked(text: str, pseudonyms: frozenset[str]) -> Text:
    marked = Text(printable(text))
    for run in _RUN.finditer(marked.plain):
        if run.group() in pseudonyms:
            marked.stylize("bold magenta", run.start(), run.end())
    return marked


def _show_both(console: Console, title: str, plain: Text, named: str) -> None:
    if console.is_terminal and console.width >= TWO_COLUMNS_FROM:
        table = Table(f"{title}, {AS_IT_LEFT}", WITH_NAMES, expand=True)
        table.add_row(plain, Text(printable(named)))
        console.print(table, soft_wrap=False)
        return
    say(console, f"--- {title}, {AS_IT_LEFT}", style="dim")
    say(console, plain)
    say(console, f"--- {title}, {WITH_NAMES}", style="dim")
    say(console, named)
