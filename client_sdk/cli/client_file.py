"""The settings that `client.toml` in the config folder holds."""

from __future__ import annotations

import tomllib

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from client_sdk.crypto.private_files import config_folder, read_private
from client_sdk.errors import NotConfiguredError

FILE_NAME = "client.toml"


class ClientFile(BaseModel):
    """The settings that `client.toml` may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    graph: str | None = None


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
