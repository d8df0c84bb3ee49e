"""Shell completion for `arog` wherever it lies: the scripts call the command as it was typed, not one of the PATH."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

OPTIONS = ("--install-completion", "--show-completion")
# Bash's script calls what was typed already.
_AS_TYPED = {
    "zsh": ("complete_zsh %(prog_name)s", "complete_zsh ${words[1]}"),
    "fish": ("(commandline -cp) %(prog_name)s", "(commandline -cp) (commandline -opc)[1]"),
}


def words_to_complete(environment: Mapping[str, str]) -> list[str]:
    """The words of the line that a shell completes, without the command itself; nothing, where none is completed."""
    if "_AROG_COMPLETE" not in environment:
        return []
    line = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS", "")
    return line.split()[1:]


def call_as_typed(arguments: Sequence[str]) -> None:
    """Changes the scripts of typer, which call `arog`, where one is about to be written."""
    if not any(word.startswith(OPTIONS) for word in arguments):
        return
    from typer._completion_shared import _completion_scripts

    for shell, (by_name, as_typed) in _AS_TYPED.items():
        _completion_scripts[shell] = _completion_scripts[shell].replace(by_name, as_typed)
