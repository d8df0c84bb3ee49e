"""Output of the service's commands: lines, tables, a progress bar, and failures as a sentence."""

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
    """Prints a line on standard output, without markup or line breaks."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def tell(line: str) -> None:
    """Prints a line on standard error, without markup or line breaks."""
    errors.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def failures_in_words(console: Console) -> Iterator[None]:
    """Turns an exception into one sentence and an exit code.

    The text of unknown errors, which may contain names, is not shown.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        code, sentence = _in_words(error)
        end = "" if sentence.endswith(".") else "."
        console.print(f"arog: {sentence}{end}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(code) from None


@contextmanager
def opened_store() -> Iterator[ServiceContext]:
    """Opens the data folder of the settings, and closes it at the end; failures become a sentence and an exit code."""
    with failures_in_words(errors):
        store = open_checked()
        try:
            yield store
        finally:
            store.close()


def check_settings() -> Settings:
    """Returns the settings. Raises ConfigurationError if they are wrong or no master key is set."""
    from app.settings import load_settings

    settings = load_settings()
    settings.require_master_key()
    return settings


def open_checked() -> ServiceContext:
    """Checks the settings, then opens their data folder; the check comes first because opening needs slow imports."""
    settings = check_settings()
    from app.wiring.store import open_store

    return open_store(settings)


def _in_words(error: Exception) -> tuple[int, str]:
    """Returns the exit code and the sentence for a failure."""
    from app.settings import ConfigurationError

    # These texts are fixed words of ours (see their docstrings), and suit a terminal better than the hints for HTTP.
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
    """Returns `name` if it is a valid name of a graph or tenant, by the same rule as the HTTP routes.

    Raises BadParameter if it is not.
    """
    if not _NAME.fullmatch(name):
        raise typer.BadParameter("a to z, 0 to 9, - and _, at most 63, the first a letter or digit")
    return name


def show_preview(seen: Preview) -> None:
    """Prints counts, the sampled entities as a model would see them, and what is masked and why.

    Only for the owner's own screen: each entity has its real name beside it. What is masked stays so until the owner's
    policy shows it.
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
    for join in seen.joins:
        tell(f"Refers to another table: {join} cells")
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
    """Prints how well prompts hide the entities they are about, one line for each profile, and warnings."""
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
    """Shows a progress bar, and yields the function `(step, percent)` that moves it."""
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
    """Returns how to call this program in a command to be pasted: `arog`, or its path relative to this folder."""
    called = shutil.which("arog")
    ours = Path(sys.argv[0])
    if called and ours.name == "arog" and Path(called).resolve() == ours.resolve():
        return "arog"
    return shlex.quote(str(shortest(ours))) if ours.name == "arog" else f"{shlex.quote(sys.executable)} -m client_sdk"


def shortest(path: Path) -> Path:
    """Returns `path` relative to the current folder if that is shorter, else as it is."""
    relative = Path(os.path.relpath(path))
    return relative if len(str(relative)) < len(str(path)) else path
