"""Where the command line asks: options and environment first, then client.toml, then the defaults."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from client_sdk.crypto.private_files import config_folder, read_private
from client_sdk.errors import NotConfiguredError
from client_sdk.transport.address import DEFAULT_GRAPH, DEFAULT_URL, checked_key

FILE_NAME = "client.toml"


@dataclass(frozen=True, slots=True)
class Where:
    """The service, the key and the graph that a command uses."""

    url: str
    api_key: str = field(repr=False)
    graph: str


class ClientFile(BaseModel):
    """What `client.toml` in the config folder may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    graph: str | None = None


def choose(url: str | None, api_key: str | None, graph: str | None) -> Where:
    """Raises NotConfiguredError when there is no API key, or client.toml is not usable."""
    kept = read_client_file()
    return Where(
        url=url or kept.url or DEFAULT_URL,
        api_key=checked_key(api_key or kept.api_key or ""),
        graph=graph or kept.graph or DEFAULT_GRAPH,
    )


def read_client_file() -> ClientFile:
    """The file's settings, or none where there is no file; one that others can read is refused."""
    path = config_folder() / FILE_NAME
    content = read_private(path)
    if content is None:
        return ClientFile()
    hint = "it may set url, api_key and graph, each to a text"
    try:
        return ClientFile.model_validate(tomllib.loads(content.decode()))
    except ValidationError as problem:
        fields = ", ".join(sorted({str(error["loc"][0]) for error in problem.errors(include_input=False)}))
        raise NotConfiguredError(f"{path} is not valid: {fields}", code="bad_client_file", hint=hint) from None
    except ValueError:  # not UTF-8, or not TOML
        raise NotConfiguredError(f"{path} is not a TOML file", code="bad_client_file", hint=hint) from None


Url = Annotated[
    str | None, typer.Option(envvar="AROG_URL", help="The service's address  [default: http://127.0.0.1:8000]")
]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="AROG_API_KEY", help="Better in the environment: others can see options of a command"),
]
PlainHttp = Annotated[bool, typer.Option("--plain-http", help="Allow http to another machine")]
