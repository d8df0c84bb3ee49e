"""The reference of the command line: every command with its arguments and options, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from typer.main import get_command

from client_sdk.cli import main
from client_sdk.cli.commands import app

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "command_line.md"
_HEAD = """# The command line

<!-- Written by `python -m tests.write_docs` from the commands themselves. -->

`arog COMMAND --help` says the same. An option with a setting beside it is read from the environment where it is not
given; the address, the API key and the graph may also stand in `client.toml` in the config folder
(`~/.config/arog`, or `AROG_CONFIG_DIR`). `AROG_PORT` moves the default address. `arog --install-completion` teaches
your shell the commands, also where `arog` is not on the path and you type `.venv/bin/arog`.
"""
_HIDDEN = ("help", "install_completion", "show_completion")


def page() -> str:
    """The text of docs/reference/command_line.md."""
    main.join_commands(app, entry_points(group=main.GROUP))
    codes = " ".join((main.__doc__ or "").split("\n\n")[1].split())
    parts = [_HEAD, codes, ""]
    for words, command in sorted(_commands("arog", get_command(app))):
        parts += _section(words, command)
    return "\n".join(parts).rstrip("\n") + "\n"


def _commands(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with the words that call it."""
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield words, command
    for name, each in inner.items():
        if not each.hidden:
            yield from _commands(f"{words} {name}", each)


def _section(words: str, command: Any) -> list[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [
        one for one in command.params
        if one.param_type_name == "option" and not one.hidden and one.name not in _HIDDEN
    ]  # fmt: skip
    told = [f"## {words}", "", "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n")), ""]
    rows = [*(_argument(one) for one in arguments), *(_option(one) for one in options)]
    if rows:
        told += ["| | setting | default | |", "|---|---|---|---|", *rows, ""]
    return told


def _argument(argument: Any) -> str:
    name = f"`{argument.name.upper()}`" + (" ..." if argument.nargs != 1 else "")
    return f"| {name} | | {'needed' if argument.required else ''} | {_cell(getattr(argument, 'help', '') or '')} |"


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    envvar = option.envvar if isinstance(option.envvar, str) else ""
    default = "needed" if option.required else _default(option.default)
    return f"| {names} | {f'`{envvar}`' if envvar else ''} | {default} | {_cell(option.help or '')} |"


def _default(value: object) -> str:
    return f"`{value}`" if isinstance(value, (str, int, float)) and value != "" and not isinstance(value, bool) else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
