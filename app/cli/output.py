"""Output of the service's commands: a progress bar, and failures as a sentence instead of a traceback."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from kg_store.errors import StoreError

if TYPE_CHECKING:
    from app.settings import Settings
    from app.wiring.store import ServiceContext
    from client_sdk.protocol import PrivacySummary
    from kg_store.proposals.preview import Preview

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
NOT_USABLE = 2
FAILED = 1
MAX_MASKED_SHOWN = 20
console, errors = Console(), Console(stderr=True)


def say(line: str) -> None:
    """A line of ours on standard output, as it stands."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def tell(line: str) -> None:
    """A line of ours beside the output, as it stands."""
    errors.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def failures_in_words(console: Console) -> Iterator[None]:
    """Ends the command with one sentence; the text of unknown errors, which may hold names, is not shown."""
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        code, sentence = _in_words(error)
        end = "" if sentence.endswith(".") else "."
        console.print(f"arog: {sentence}{end}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(code) from None


@contextmanager
def opened_store() -> Iterator[ServiceContext]:
    """The data folder of the settings, opened and closed; failures in words."""
    with failures_in_words(errors):
        store = open_checked()
        try:
            yield store
        finally:
            store.close()


def check_settings() -> Settings:
    """The settings, where a master key is set too. Raises ConfigurationError."""
    from app.settings import load_settings

    settings = load_settings()
    settings.require_master_key()
    return settings


def open_checked() -> ServiceContext:
    """The data folder of the settings, opened; what can be checked at once is checked before slow imports."""
    settings = check_settings()
    from app.wiring.store import open_store

    return open_store(settings)


def _in_words(error: Exception) -> tuple[int, str]:
    """The exit code and the sentence of a failure."""
    from app.settings import ConfigurationError

    # Their texts are our own words (see their docstrings), and fit a command line better than HTTP's hints.
    if isinstance(error, ConfigurationError | StoreError) and str(error):
        return NOT_USABLE, str(error)
    from app.api.problems import INTERNAL, problem_of
    from app.telemetry.logs import place_of

    problem = problem_of(error)
    if isinstance(error, ConfigurationError | StoreError):
        return NOT_USABLE, problem.message
    if problem is INTERNAL:
        return FAILED, f"{type(error).__name__} at {place_of(error)}"
    return FAILED, f"{problem.message} {problem.hint}"


def named(name: str) -> str:
    """Checks the name of a graph or tenant, as the HTTP routes do."""
    if not _NAME.fullmatch(name):
        raise typer.BadParameter("a to z, 0 to 9, - and _, at most 63, the first a letter or digit")
    return name


def show_preview(seen: Preview) -> None:
    """Counts, and the sampled entities as a model would see them, each under its real name; then what stays masked
    until its owner says so, with the reasons. For the owner's own screen.
    """
    tell(
        f"{seen.triples:,} triples, {seen.entities:,} entities, {seen.values:,} values, {seen.mediators:,} mediators, "
        f"{len(seen.relations):,} relations"
    )
    tell("Relations a model would see: " + ", ".join(relation.label for relation in seen.relations))
    for entity in seen.sample:
        tell(f"\n{entity.name}  ->  {entity.pseudonym} ({entity.concept})")
        for fact in entity.facts:
            tell(f"    {fact.relation}  ->  {fact.end}")
    for line in ("", *seen.notes):
        tell(line)
    ordered = sorted(seen.masked, key=lambda each: (each.reason, each.kind))
    for (reason, kind), group in groupby(ordered, key=lambda each: (each.reason, each.kind)):
        words = [each.word for each in group]
        more = f", and {len(words) - MAX_MASKED_SHOWN:,} more" if len(words) > MAX_MASKED_SHOWN else ""
        tell(f"Masked, {kind} that {reason.value}: {', '.join(words[:MAX_MASKED_SHOWN])}{more}")
    if ordered:
        tell("To show those that are not data: show_relations = [...] and show_classes = [...] in the policy.")


def show_privacy(privacy: PrivacySummary) -> None:
    """Shows how well prompts hide whom they show, in a line each, and warnings."""
    from app.graphs.privacy_report import SHOWN

    if privacy.profiles:
        tell("Whoever knows the whole graph and sees one prompt names the right entity, where it shows")
    for each in privacy.profiles:
        what = "its concept alone" if each.profile == "concept" else SHOWN[each.profile]
        tell(
            f"  {what + ':':<34} in {each.expected:7.2%}; fewer than {privacy.k} match {each.few:6.1%} of the prompts"
        )
    for warning in privacy.warnings:
        tell(f"Warning: {warning}")


@contextmanager
def bar(console: Console, title: str) -> Iterator[Callable[[str, float], None]]:
    """A progress bar; gives the function that moves it: `(step, percent)`."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(title),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=100.0)
        yield lambda step, percent: progress.update(task, description=step, completed=percent)
        progress.update(task, description="done", completed=100.0)


def program() -> str:
    """This command as it was called, so that it can be called again from the same folder."""
    called = shutil.which("arog")
    ours = Path(sys.argv[0])
    if called and ours.name == "arog" and Path(called).resolve() == ours.resolve():
        return "arog"
    return shlex.quote(str(shortest(ours))) if ours.name == "arog" else f"{shlex.quote(sys.executable)} -m client_sdk"


def shortest(path: Path) -> Path:
    """Relative to the folder that the command was called in, where that is shorter."""
    relative = Path(os.path.relpath(path))
    return relative if len(str(relative)) < len(str(path)) else path
