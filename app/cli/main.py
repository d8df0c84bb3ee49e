"""The service's commands of `arog`: `serve`, defined here, and the groups defined in the other files."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated

import typer

from app.cli import access, backup, cases, characters, erase, graphs, ledger, offers
from app.cli.endpoints import concepts, endpoint
from app.cli.keys import api_key, master_key
from app.cli.output import NOT_USABLE, errors, failures_in_words, tell

# Libraries that only `arog[light]` and larger extras install.
_LIBRARIES = ("pydantic_settings", "sqlalchemy", "fastapi", "onnxruntime")


def require_extra() -> None:
    """Raises ModuleNotFoundError if the extra `light` is not installed. Imports none of its libraries."""
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)


# Lets the retired commands `key` and `keys` take any arguments, so that they are refused in every form.
_ANY_WORDS = {"ignore_unknown_options": True, "allow_extra_args": True}


def commands(app: typer.Typer) -> None:
    """Adds the service's commands to `app`; this function is the entry point in the group `arog.commands`."""
    require_extra()
    # Keeps the progress bars of the model's library out of our output.
    os.environ.setdefault("TQDM_DISABLE", "1")
    # The products of one question are too small to share among cores: threads that wait for each other burn a core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    app.command()(serve)
    app.command("backup")(backup.back_up)
    app.command("restore")(backup.restore)
    for command in (erase.forget, erase.forgotten, erase.readers):
        graphs.app.command()(command)
    app.add_typer(graphs.app, name="graph")
    app.add_typer(concepts, name="concepts")
    app.add_typer(endpoint, name="endpoint")
    app.add_typer(access.app, name="access")
    app.add_typer(cases.app, name="cases")
    app.add_typer(offers.app, name="offers")
    app.add_typer(characters.app, name="character")
    app.add_typer(api_key, name="api-key")
    app.add_typer(master_key, name="master-key")
    ledger.join(app)
    for word in ("key", "keys"):
        app.command(word, hidden=True, context_settings=_ANY_WORDS, add_help_option=False)(refuse_old_word)


def refuse_old_word(context: typer.Context) -> None:
    """Refuses `key` and `keys`, and names the two commands that they could mean."""
    tell(
        f"arog: there is no `arog {context.info_name}`: API keys are made by `arog api-key`, the master key is "
        "replaced by `arog master-key`."
    )
    raise typer.Exit(NOT_USABLE)


def serve(
    init: Annotated[bool, typer.Option("--init", help="Write a master key if there is none")] = False,
    demo: Annotated[
        bool | None,
        typer.Option("--demo/--no-demo", help="Load the demo graph if there is no graph [default: on loopback only]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that answer questions [default: AROG_WORKERS]")
    ] = None,
) -> None:
    """Start the service. Its settings are environment variables AROG_NAME, or lines of a .env file."""
    with failures_in_words(errors):
        from app.settings import load_settings

        settings = load_settings()
        if workers is not None:
            settings = settings.model_copy(update={"workers": workers})
        from app.cli.first_checks import check_start

        checked = check_start(settings, init)
    # Imported late: it takes seconds, for which `arog --help` and a failing check should not wait.
    from app.cli.serve import run_service

    run_service(checked, demo)
