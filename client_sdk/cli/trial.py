"""`arog try`: asks files at once, without a service that runs or a graph that stays."""

from __future__ import annotations

import subprocess  # our own words alone  # nosec B404
import sys
import webbrowser
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer

from client_sdk.errors import NotConfiguredError

if TYPE_CHECKING:
    from rich.console import Console

    from client_sdk.trial import RunningTrial


def try_files(
    files: Annotated[
        list[Path],
        typer.Argument(exists=True, dir_okay=False, help="Turtle, CSV, Excel, JSON, ...; .gz too; as they are"),
    ],
    page: Annotated[bool, typer.Option("--page", help="Ask in the browser instead of here")] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="NAME", help="Load the files as a graph of this name when you have asked")
    ] = None,
    public: Annotated[
        list[Path],
        typer.Option("--public", exists=True, dir_okay=False, help="A file of a public graph beside these"),
    ] = [],  # noqa: B006 - typer copies it
) -> None:
    """Read files, and ask them at once. All that was loaded is deleted at the end."""
    from client_sdk.cli import render
    from client_sdk.trial import trial

    console = render.make_console()
    count = len(files) + len(public)
    print(f"Reading {count} file{'s' if count > 1 else ''} ...", file=sys.stderr)
    with trial(files, public) as running:
        if running.doubts:
            print("To look at, before you trust an answer:", file=sys.stderr)
            for doubt in running.doubts:
                print(f"  - {doubt}", file=sys.stderr)
        code = _on_the_page(running) if page else _in_the_terminal(running, console)
        if keep is not None:
            _keep(keep, [*files, *public], running.policy)
    print("Deleted: the graph of this trial and its folder.", file=sys.stderr)
    if code:
        raise typer.Exit(code)


def _in_the_terminal(running: RunningTrial, console: Console) -> int:
    from client_sdk.cli.chat import COMMANDS, ChatLoop, ConsoleDisplay, completing, piped_lines, typed_lines
    from client_sdk.cli.render import say

    talk = ChatLoop(lambda _graph: running.chat(), ConsoleDisplay(console))
    if not sys.stdin.isatty():
        return talk.go_through(piped_lines())
    say(console, "Ask away. /help lists the commands; Ctrl-D ends.", style="dim")
    complete = completing([command.split()[0] for command in COMMANDS], talk.graphs)
    talk.go_through(typed_lines(console, lambda: "files> ", complete, None))
    return 0


def _on_the_page(running: RunningTrial) -> int:
    print(f"The page: {running.url}/", file=sys.stderr)
    print(f"The key that it asks for: {running.api_key}", file=sys.stderr)
    webbrowser.open(f"{running.url}/")
    print("Enter (or Ctrl-C) ends the trial.", file=sys.stderr)
    try:
        sys.stdin.readline()
    except KeyboardInterrupt:
        return 0
    return 0


def _keep(name: str, files: list[Path], policy: str) -> None:
    """Loads the files into the data folder of the settings, under the policy of the trial."""
    with NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as proposed:
        proposed.write(policy)
        proposed.flush()
        command = [sys.executable, "-m", "client_sdk", "graph", "load", name, *map(str, files)]
        ended = subprocess.run([*command, "--policy", proposed.name], check=False)  # noqa: S603  # nosec B603
    if ended.returncode:
        hint = f"the lines above say why; then: arog graph load {name} FILE..."
        raise NotConfiguredError(f"the files were not kept as {name}", code="not_kept", hint=hint)
