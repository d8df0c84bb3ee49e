"""`arog endpoint`: finds out what a model endpoint can do, before questions go to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console

from app.cli.output import NOT_USABLE, failures_in_words

if TYPE_CHECKING:
    from client_sdk.protocol import EndpointStatus

PUZZLES: Final = 5
app = typer.Typer(help="Model endpoints: what they can do.", no_args_is_help=True)
_console, _errors = Console(), Console(stderr=True)


@app.callback()
def endpoint() -> None:
    """Model endpoints: what they can do."""


@app.command("test")
def find_out(
    url: Annotated[str, typer.Argument(help="Base URL, such as http://host/v1")],
    model: Annotated[str, typer.Option(help="Name of the model at the endpoint")],
    api_key: Annotated[
        str, typer.Option(envvar="AROG_ENDPOINT_API_KEY", help="Bearer key; better in the environment")
    ] = "",
    kind: Annotated[
        str, typer.Option(help="`vllm` for vLLM, whose own fields are used then; else `openai`")
    ] = "openai",
    prompt_price: Annotated[float | None, typer.Option(min=0, help="Money for a million tokens of prompts")] = None,
    reply_price: Annotated[float | None, typer.Option(min=0, help="Money for a million tokens of replies")] = None,
) -> None:
    """Ask an endpoint a few constant questions: what it can do, how fast it is, what a question will cost.

    Nothing of a graph is sent, and no setting is needed. Ends with code 1 where it can't be used.
    """
    import asyncio

    from pydantic import ValidationError

    from app.settings import ConfigurationError, EndpointChoice, Settings
    from app.wiring.endpoints import probe_once

    with failures_in_words(_errors):
        try:
            choice = EndpointChoice.model_validate(
                {"url": url, "model": model, "api_key": api_key or None, "kind": kind}
                | {"prompt_price": prompt_price, "completion_price": reply_price}
            )
        except ValidationError as error:
            names = ", ".join(sorted({str(each["loc"][0]) for each in error.errors(include_input=False)}))
            raise ConfigurationError(f"not usable: {names}. The URL begins with http:// or https://") from None
        with _errors.status("Asking the endpoint ..."):
            status = asyncio.run(probe_once(choice, Settings(_env_file=None)))
    for line in _told(status):
        _console.print(line, markup=False, highlight=False, soft_wrap=True)
    if status.problem:
        raise typer.Exit(NOT_USABLE)


def _told(status: EndpointStatus) -> Iterator[str]:
    if status.problem:
        yield f"It can't be used: {status.problem}."
        return
    enforced = "yes" if status.enforces_schema else "no: it works as well as the model keeps to instructions"
    yield f"Enforces a JSON schema: {enforced} ({status.dialect})"
    yield f"Streams: {'yes' if status.streams else 'no'}; counts tokens: {'yes' if status.reports_usage else 'no'}"
    form = "it may write answers of its own" if status.form == "tree" else "it chooses from a list of readings"
    yield f"Puzzles answered: {status.puzzles} of {PUZZLES}; {form}"
    yield f"A question: about {status.seconds:.1f} s, {status.tokens or 'uncounted'} tokens"
    if status.tokens_per_second:
        yield f"Replies: {status.tokens_per_second:.0f} tokens a second"
    if status.cost is not None:
        yield f"A question will cost about {status.cost:.6f} of your currency"
