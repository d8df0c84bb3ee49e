"""The page of the command line: every command with arguments and options, generated from the commands themselves."""

from __future__ import annotations

from collections import Counter
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

`arog eval`, `arog attack` and `arog train` belong to the evaluation: [all of them](../evaluation.md#all-commands).
Their options are told by `--help`.
"""
OF_THE_EVALUATION = ("eval", "attack", "train")
_MANY = "Where a command names one of these without more, it is this:"
COMMON = 4
"""An option that at least this many commands share word for word is described once for all."""
_HIDDEN = ("help", "install_completion", "show_completion")


def page() -> str:
    """Returns the text of docs/reference/command_line.md."""
    main.join_commands(app, entry_points(group=main.GROUP))
    codes = " ".join((main.__doc__ or "").split("\n\n")[1].split())
    found = sorted(_commands("arog", get_command(app)))
    commands = [(words, command) for words, command in found if words.split()[1] not in OF_THE_EVALUATION]
    options = [one for _, command in commands for one in command.params if _is_shown(one) or _says(one)]
    counted = Counter(_option(one) for one in options)
    # Of options with the same name, the one that most commands have is described for all.
    most = {one.name: _option(one) for one in sorted(options, key=lambda one: counted[_option(one)])}
    common = {told for told in most.values() if counted[told] >= COMMON}
    # Commands word the option `tenant` differently, so that all of its texts count as common.
    common |= {_option(one) for one in options if one.name == "tenant"}
    parts = [
        _HEAD,
        codes,
        "",
        "## Options of many commands",
        "",
        _MANY,
        "",
        *(f"- {told}" for told in sorted(common & set(most.values()))),
    ]
    for words, command in commands:
        parts += ["", *_section(words, command, common)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _commands(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yields every command that does something, with the words that call it."""
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield words, command
    for name, each in inner.items():
        if not each.hidden:
            yield from _commands(f"{words} {name}", each)


def _section(words: str, command: Any, common: set[str]) -> list[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if _is_shown(one) or _says(one)]
    own = [_option(one) for one in options if _option(one) not in common]
    many = [f"`{one.opts[0]}`" for one in options if _option(one) in common and _is_shown(one)]
    calls = " ".join([words, *(_call(one) for one in arguments)])
    told = [f"## {calls}", "", " ".join((command.help or "").split()), ""]
    told += [f"- {each}" for each in own]
    return told + ([f"- also {', '.join(many)}"] if many else [])


def _says(one: Any) -> bool:
    """Returns True for an argument with a help text."""
    return one.param_type_name == "argument" and bool(getattr(one, "help", ""))


def _is_shown(one: Any) -> bool:
    return one.param_type_name == "option" and not one.hidden and one.name not in _HIDDEN


def _call(argument: Any) -> str:
    name = argument.name.upper() + (" ..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> str:
    if option.param_type_name == "argument":
        return f"`{option.name.upper()}`: {_text(option.help)}"
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    notes = ["needed"] if option.required else []
    notes += [f"`{option.envvar}`"] if isinstance(option.envvar, str) else []
    notes += [f"default {default}"] if (default := _default(option.default)) and not option.required else []
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"{names}{noted}: {_text(option.help)}"


def _default(value: object) -> str:
    return f"`{value}`" if isinstance(value, (str, int, float)) and value != "" and not isinstance(value, bool) else ""


def _text(text: str | None) -> str:
    return " ".join((text or "").split())
