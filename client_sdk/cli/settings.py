"""Finds a command's address, key and graph: from options and environment first, then client.toml, then defaults."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from client_sdk.crypto.private_files import SIGN_IN_FILE, config_folder, read_private
from client_sdk.errors import NotConfiguredError
from client_sdk.transport.address import DEFAULT_GRAPH, Bearer, checked_key, secret_of, url_on_this_machine

if TYPE_CHECKING:
    from client_sdk.client import AskOptions


@dataclass(frozen=True, slots=True)
class Where:
    """The service's address, the API key (or a person's token) and the graph that a command uses."""

    url: str
    api_key: Bearer = field(repr=False)
    graph: str


def choose(url: str | None, api_key: str | None, graph: str | None) -> Where:
    """Returns the address, key and graph. Without an API key, the token of `arog login` for that address.

    Raises NotConfiguredError if there is neither, or client.toml can't be used.
    """
    kept, where = _client_file(), chosen_url(url)
    key: Bearer = secret_of("AROG_API_KEY", os.environ, api_key) or kept.get("api_key", "") or _signed_in(where)
    return Where(url=where, api_key=checked_key(key), graph=graph or kept.get("graph") or DEFAULT_GRAPH)


def chosen_url(url: str | None) -> str:
    """Returns the service's address: `url`, else that of client.toml, else this machine's."""
    return url or _client_file().get("url") or url_on_this_machine(os.environ)


def _signed_in(url: str) -> Bearer:
    if read_private(config_folder() / SIGN_IN_FILE) is None:
        return ""
    # Imported only for whoever has signed in: it takes longer than the rest.
    from client_sdk.sign_in import kept_token

    return kept_token(url) or ""


def _client_file() -> dict[str, str]:
    """Returns the settings of client.toml in the config folder; empty if there is no such file.

    Raises NotConfiguredError if the file is not valid, or if others can read it.
    """
    path = config_folder() / "client.toml"
    content = read_private(path)
    if content is None:
        return {}
    hint = "it may set url, api_key and graph, each to a text"
    try:
        kept = tomllib.loads(content.decode())
    except ValueError:  # not UTF-8, or not TOML
        raise NotConfiguredError(f"{path} is not a TOML file", code="bad_client_file", hint=hint) from None
    texts = {
        name: text for name, text in kept.items() if name in ("url", "api_key", "graph") and isinstance(text, str)
    }
    if wrong := ", ".join(sorted(kept.keys() - texts)):
        raise NotConfiguredError(f"{path} is not valid: {wrong}", code="bad_client_file", hint=hint)
    return texts


TAKES_ID = {"ignore_unknown_options": True}
"""Settings for commands that take an id or a public key.

One in 64 of these begins with a hyphen, and must not count as an option.
"""

Url = Annotated[
    str | None, typer.Option(envvar="AROG_URL", help="The service's address  [default: http://127.0.0.1:8000]")
]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="AROG_API_KEY", help="Better there, or in AROG_API_KEY_FILE: others see options of a command"),
]
Graph = Annotated[str | None, typer.Option(envvar="AROG_GRAPH", help="The graph to ask  [default: demo]")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]
PlainHttp = Annotated[bool, typer.Option("--plain-http", help="Allow http to another machine")]
Names = Annotated[int, typer.Option(min=1, max=10_000, help="How many names of one set to restore")]
Language = Annotated[
    str | None,
    typer.Option(
        envvar="AROG_LANGUAGE",
        metavar="TAG",
        help="Names in this language (de, fr), where things have several  [default: the question's]",
    ),
]

Beside = Annotated[
    list[str],
    typer.Option(metavar="GRAPH", help="A public graph beside it; repeat it for more  [default: those of the owner]"),
]


LookFor = Annotated[
    list[str],
    typer.Option(metavar="WORDS", help="Look for public facts by these; repeat it for more  [default: worked out]"),
]


def beside_options(beside: list[str], look_for: list[str]) -> AskOptions:
    """Returns the options about public graphs: which stand beside the asked one, and what is looked for in them."""
    options: AskOptions = {"beside": beside} if beside else {}
    return {**options, "looked_for": look_for} if look_for else options


def names_options(names: int, language: str | None) -> AskOptions:
    """Returns the options about names: how many of a set are restored, and their language if it is chosen."""
    return {"names": names} if language is None else {"names": names, "language": language}
