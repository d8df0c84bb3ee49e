"""`arog endpoint` tests a model endpoint before it is used; `arog concepts` lets it rename concepts of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.cli.graphs import GraphName, Tenant
from app.cli.output import NOT_USABLE, bar, errors, failures_in_words, open_checked, say

if TYPE_CHECKING:
    from client_sdk.protocol import EndpointStatus

PUZZLES: Final = 5
endpoint = typer.Typer(help="Model endpoints: what they can do.", no_args_is_help=True)


@endpoint.callback()
def _endpoint() -> None:
    """Model endpoints: what they can do."""


@endpoint.command("test")
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
    """Test an endpoint with a few fixed questions: what it can do, how fast it is, what a question will cost.

    Nothing of a graph is sent, and no setting is needed. Exit code 2 if the endpoint can't be used.
    """
    import asyncio

    from pydantic import ValidationError

    from app.settings import ConfigurationError, EndpointChoice, Settings
    from app.wiring.endpoints import probe_once

    with failures_in_words(errors):
        try:
            choice = EndpointChoice.model_validate(
                {"url": url, "model": model, "api_key": api_key or None, "kind": kind}
                | {"prompt_price": prompt_price, "completion_price": reply_price}
            )
        except ValidationError as error:
            names = ", ".join(sorted({str(each["loc"][0]) for each in error.errors(include_input=False)}))
            raise ConfigurationError(f"not usable: {names}. The URL begins with http:// or https://") from None
        with errors.status("Asking the endpoint ..."):
            status = asyncio.run(probe_once(choice, Settings(_env_file=None)))
    for line in _told(status):
        say(line)
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


concepts = typer.Typer(help="Concepts: what kind of thing an entity is.", no_args_is_help=True)


@concepts.callback()
def _concepts() -> None:
    """Concepts: what kind of thing an entity is."""


@concepts.command()
def refine(
    name: GraphName,
    tenant: Tenant = "default",
    least: Annotated[int, typer.Option(min=2, help="Ask about concepts that so many entities share, or more")] = 20,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before tokens are spent")] = False,
) -> None:
    """Let the model endpoint rename a graph's concepts, from relation names alone, in a new version of the graph."""
    import asyncio

    with failures_in_words(errors), asyncio.Runner() as runner:
        store = open_checked()
        # Imported late, because these modules load the sentence model.
        from app.wiring.endpoints import probe_all
        from app.wiring.services import refiner_of, think

        thinking = think(store.settings)
        try:
            refiner = refiner_of(store, thinking)
            runner.run(probe_all(thinking.endpoints))
            say(refiner.estimate(tenant, name, least).sentence)
            if not yes:
                typer.confirm("Ask the model?", abort=True)
            job = refiner.job(tenant, "cli", name, least, runner.run)
            with bar(errors, name) as progress:
                refined = job.run(progress)
        finally:
            runner.run(thinking.close())
            store.close()
    for line in refined.notes:
        say(line)
