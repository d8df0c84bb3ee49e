"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Url = Annotated[
    str | None, typer.Option(envvar="AROG_URL", help="The service's address  [default: http://127.0.0.1:8000]")
]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="AROG_API_KEY", help="Better in the environment: others can see options of a command"),
]
PlainHttp = Annotated[bool, typer.Option("--plain-http", help="Allow http to another machine")]
