"""The command `arog`: the SDK's own commands, and those that join by the entry-point group `arog.commands`.

Exit codes: 0 done · 1 unexpected failure · 2 wrong usage, or a setting is missing · 3 no connection, or no reply in
time · 4 the service refused · 5 the service failed · 6 the reply can't be read or opened · 130 stopped with Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING

from client_sdk.errors import (
    ArogError,
    BadAnswerError,
    CannotOpenCapsuleError,
    NotConfiguredError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
    UnreachableError,
    in_sentences,
)

if TYPE_CHECKING:
    import typer

    from client_sdk.transport.flow import Wait

WRONG_USAGE = 2
STOPPED = 130
"""The exit code after Ctrl-C, by the convention of shells."""

_EXIT_CODES: tuple[tuple[type[ArogError], int], ...] = (
    (NotConfiguredError, WRONG_USAGE),
    (UnreachableError, 3),
    (RequestTimeoutError, 3),
    (RefusedError, 4),
    (ServerError, 5),
    (CannotOpenCapsuleError, 6),
    (BadAnswerError, 6),
)
# Hints for the command line, by the error's code; the service's own hints are about HTTP.
_HINTS = {
    "not_authenticated": "Check AROG_API_KEY; whoever runs the service makes keys with `arog api-key create`. If you "
    "signed in, do so again: `arog login`",
    "unknown_graph": "Name another with --graph, or get a key for it: `arog api-key create --grant GRAPH`",
}
GROUP = "arog.commands"
_GET_CLI = "arog: the command line is an extra; in a clone of arog, get it with: pip install '.[cli]'"
_GET_SERVER = (
    "Server commands (serve, graph, api-key) are an extra; in a clone of arog, get them with: pip install '.[server]'"
)
_GET_EVALUATION = (
    "arog: the commands that measure, attack and train are a package of their own; in a clone of arog, get them with: "
    "pip install ./evaluation"
)
_OF_EVALUATION = {"eval", "attack", "train"}
_OURS = ("app", "kg_store", "client_sdk")
# For each shell, the part of its completion script that calls `arog`, which may not be on the PATH, and the part to
# put there, which calls the command as it was typed. Bash's script does so already.
_COMPLETED_AS_TYPED = {
    "zsh": ("complete_zsh %(prog_name)s", "complete_zsh ${words[1]}"),
    "fish": ("(commandline -cp) %(prog_name)s", "(commandline -cp) (commandline -opc)[1]"),
}


@dataclass(slots=True)
class Joined:
    """The outcome of adding commands.

    `lacking`: the libraries that are not installed, because their extra is not; `broken`: sentences on commands that
    failed to load.
    """

    lacking: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def main() -> None:
    """Runs the command of `sys.argv` and exits; the entry point of the script `arog`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code.

    Ctrl-C ends it without a traceback, also while modules are imported.
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return STOPPED


def _run(arguments: Sequence[str]) -> int:
    try:
        # Most commands print with rich but import it late, so it is looked for here.
        import_module("rich")
        from client_sdk.cli.commands import OWN_COMMANDS, app
    except ModuleNotFoundError as missing:
        if _top_level(missing.name) not in ("typer", "rich"):
            raise
        print(_GET_CLI, file=sys.stderr)
        return WRONG_USAGE
    joined = Joined()
    words = arguments or _words_to_complete(os.environ)
    _complete_as_typed(arguments)
    # The SDK's own commands start faster without the service's; `ledger` has subcommands of both.
    if not words or words[0] not in OWN_COMMANDS or _is_of_the_server(words):
        # The service's commands come first in the help, because most people use them.
        joined = join_commands(app, sorted(entry_points(group=GROUP), key=lambda entry: entry.name != "server"))
    return _run_app(app, arguments, joined)


def _words_to_complete(environment: Mapping[str, str]) -> list[str]:
    """Returns the words typed after the command, if a shell asks what can complete them; empty otherwise."""
    if "_AROG_COMPLETE" not in environment:
        return []
    line = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS", "")
    return line.split()[1:]


def _complete_as_typed(arguments: Sequence[str]) -> None:
    """Changes the templates of completion scripts if such a script is about to be written."""
    if not any(word.startswith(("--install-completion", "--show-completion")) for word in arguments):
        return
    from typer._completion_shared import _completion_scripts

    for shell, (by_name, as_typed) in _COMPLETED_AS_TYPED.items():
        _completion_scripts[shell] = _completion_scripts[shell].replace(by_name, as_typed)


def _is_of_the_server(arguments: Sequence[str]) -> bool:
    """True if `ledger` is followed by a subcommand, which is one of the service's, or by `--help`."""
    return arguments[0] == "ledger" and any(word == "--help" or word[:1] != "-" for word in arguments[1:2])


def join_commands(app: typer.Typer, entries: Iterable[EntryPoint]) -> Joined:
    """Calls each entry point with the app, so that it adds its commands; a failure of one does not stop the others."""
    joined = Joined()
    for entry in entries:
        try:
            entry.load()(app)
        except Exception as problem:
            if isinstance(problem, ModuleNotFoundError) and _is_foreign(problem, entry):
                joined.lacking.append(_top_level(problem.name))
            else:
                # Only the text of import errors is shown: it names modules, while that of others may quote settings.
                text = f": {problem}" if isinstance(problem, ImportError) else ""
                joined.broken.append(f"the commands of {entry.name!r} are broken: {type(problem).__name__}{text}")
    return joined


def _run_app(app: typer.Typer, arguments: Sequence[str], joined: Joined) -> int:
    for sentence in joined.broken:
        print(f"arog: {sentence}", file=sys.stderr)
    notes = f"{_GET_SERVER} (missing: {', '.join(dict.fromkeys(joined.lacking))})" if joined.lacking else ""
    app.info.epilog = "\n\n".join(part for part in (notes, (__doc__ or "").split("\n\n")[1]) if part)
    try:
        _with_only(app, arguments[:1])(args=list(arguments), prog_name="arog")
    except ArogError as error:
        print(error_line(error), file=sys.stderr)
        return exit_code_of(error)
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 0 if done.code is None else 1
        if code == WRONG_USAGE and notes:
            print(notes, file=sys.stderr)
        elif code == WRONG_USAGE and set(arguments[:1]) & _OF_EVALUATION and find_spec("evaluation") is None:
            print(_GET_EVALUATION, file=sys.stderr)
        return code
    return 0


def _with_only(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """Returns the app with no more than the group of commands that `words` names; as it is if they name none.

    Typer reads the signature of every command that it is given, which takes longer than most commands.
    """
    named = [group for group in app.registered_groups if [group.name] == list(words)]
    if not named or any([command.name] == list(words) for command in app.registered_commands):
        return app
    one = copy(app)
    one.registered_groups, one.registered_commands = named, []
    return one


def _is_foreign(missing: ModuleNotFoundError, entry: EntryPoint) -> bool:
    """Returns True if commands are absent only because an extra is not installed.

    That is so if the missing module is a library, or the whole package of the commands. Any other missing module is
    one of our own, and so a bug.
    """
    package = _top_level(entry.module)
    return missing.name == package or _top_level(missing.name) not in (*_OURS, package)


def _top_level(module: str | None) -> str:
    return (module or "").partition(".")[0]


def error_line(error: ArogError) -> str:
    return f"arog: {in_sentences(error, _HINTS)}"


def tell_wait(wait: Wait) -> None:
    """Prints on standard error that a question waits, and why."""
    print(f"arog: {wait}", file=sys.stderr)


def exit_code_of(error: ArogError) -> int:
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)
