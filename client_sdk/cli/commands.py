"""The SDK's own commands: login, logout, keygen, ask, chat, ledger, trace, device, memory, proxy, mcp, try ..."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

import typer

from client_sdk.cli import memory
from client_sdk.cli.main import tell_wait
from client_sdk.cli.servers import mcp, proxy
from client_sdk.cli.settings import (
    TAKES_ID,
    ApiKey,
    AsJson,
    Beside,
    Graph,
    Language,
    LookFor,
    Names,
    PlainHttp,
    Url,
    beside_options,
    choose,
    names_options,
)
from client_sdk.cli.sign_in import login, logout
from client_sdk.cli.trial import try_files
from client_sdk.errors import NotConfiguredError

if TYPE_CHECKING:
    from collections.abc import Callable

    from client_sdk.client import AskOptions, Chat, ChatOptions
    from client_sdk.devices import Devices

OWN_COMMANDS = frozenset(
    {
        "login",
        "logout",
        "keygen",
        "ask",
        "chat",
        "ledger",
        "trace",
        "device",
        "memory",
        "break-glass",
        "proxy",
        "mcp",
        "try",
    }
)

# Repeats values of client_sdk.protocol, whose models take longer to import than a help page to show.
StrategyName = Literal["auto", "sets", "arog", "dialogue", "demands"]

Strategy = Annotated[
    StrategyName, typer.Option(help="The way to reply; auto decides by turn, arog asks the model more often")
]

app = typer.Typer(
    no_args_is_help=True,
    # Typer's own tracebacks would print local variables, and names with them.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"arog {version('arog')}")
        raise typer.Exit


@app.callback()
def arog(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Ask a private knowledge graph questions, in dialogue, through a model that you don't trust."""


app.command()(login)
app.command()(logout)


@app.command()
def keygen(
    post_quantum: Annotated[
        bool, typer.Option("--post-quantum", help="Of ML-KEM-768 and X25519 together; the service must know it")
    ] = False,
) -> None:
    """Make your key pair, if there is none, and print the public key, to which names are sealed."""
    from client_sdk.crypto.key_file import create_key, key_path, load_or_create_key
    from client_sdk.protocol import HYBRID_SUITE

    made = create_key(post_quantum=post_quantum)
    key = load_or_create_key()
    if post_quantum and key.suite != HYBRID_SUITE:
        hint = "move it away first (answers that are sealed to it then stay closed)"
        raise NotConfiguredError(f"{key_path()} holds a key of X25519 alone", code="other_suite", hint=hint)
    print(f"{'made' if made else 'there is one already'}: {key_path()}", file=sys.stderr)
    print(key.public_text)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input")],
    url: Url = None,
    api_key: ApiKey = None,
    graph: Graph = None,
    strategy: Strategy = "auto",
    names: Names = 50,
    language: Language = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Show the facts behind the answer")] = False,
    why: Annotated[bool, typer.Option("--why", help="Show the path to the answer")] = False,
    seen: Annotated[bool, typer.Option("--seen", help="Show what the model saw")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Show the stages, and the text as it comes")] = False,
    reason: Annotated[str, typer.Option(help="Why you ask, for the access record; name nobody")] = "",
    beside: Beside = [],  # noqa: B006 - typer copies it
    look_for: LookFor = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
    plain_http: PlainHttp = False,
) -> None:
    """Ask one question. The names in the answer are restored on this machine."""
    if stream and as_json:
        raise typer.BadParameter("choose one of --stream and --json: JSON is printed when all of it is there")
    text = sys.stdin.read().strip() if question == "-" else question
    options: AskOptions = {**names_options(names, language), **beside_options(beside, look_for)}
    if reason:
        options["reason"] = reason
    if not (as_json or sys.stdout.isatty()):
        options["suggestions"] = 0  # Into a pipe goes only the answer.
    chat = _open_chat(url, api_key, graph, plain_http=plain_http, strategy=strategy, **options)
    from client_sdk.cli import render

    console, notes = render.make_console(), not (evidence or why)
    with chat:
        answer = render.show_stream(console, chat.stream(text), notes=notes) if stream else chat.ask(text)
        rows = chat.ledger(answer.id) if seen else None
    if as_json:
        seen_rows = {} if rows is None else {"seen": [row.model_dump(mode="json") for row in rows]}
        render.print_json({**render.answer_as_dict(answer), **seen_rows})
        return
    render.show_parts(console, answer, rows, text=not stream, why=why, evidence=evidence)
    render.show_suggestions(console, answer)


@app.command()
def chat(
    url: Url = None,
    api_key: ApiKey = None,
    graph: Graph = None,
    strategy: Strategy = "auto",
    names: Names = 50,
    language: Language = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line that is read")] = False,
    history_file: Annotated[
        Path | None, typer.Option(help="Keep what is typed in this file (it will hold names); else it is forgotten")
    ] = None,
    beside: Beside = [],  # noqa: B006 - typer copies it
    plain_http: PlainHttp = False,
    character: Annotated[
        str | None, typer.Option(help="Talk with this character instead, which `arog character build` made here")
    ] = None,
) -> None:
    """Talk with a graph. /help lists the commands: /why, /seen, /graph and others."""

    def open_chat(other: str | None) -> Chat:
        options: AskOptions = {**names_options(names, language), **beside_options(beside, [])}
        return _open_chat(url, api_key, other or graph, plain_http=plain_http, strategy=strategy, **options)

    if character is not None:
        from client_sdk.cli.main import run

        # Characters are in the service's data folder, and so are their commands.
        raise typer.Exit(run(["character", "talk", character]))
    choose(url, api_key, graph)
    _talk(open_chat, as_json, history_file)


def _talk(open_chat: Callable[[str | None], Chat], as_json: bool, history_file: Path | None) -> None:
    """Asks what is typed or piped in, line by line."""
    from client_sdk.cli import render
    from client_sdk.cli.chat import (
        COMMANDS,
        ChatLoop,
        ConsoleDisplay,
        JsonDisplay,
        completing,
        piped_lines,
        typed_lines,
    )

    console = render.make_console()
    talk = ChatLoop(open_chat, JsonDisplay() if as_json else ConsoleDisplay(console))
    by_hand = sys.stdin.isatty() and not as_json
    if not by_hand:
        raise typer.Exit(talk.go_through(piped_lines()))
    render.say(console, "Ask away. /help lists the commands.", style="dim")
    complete = completing([command.split()[0] for command in COMMANDS], talk.graphs)
    talk.go_through(typed_lines(console, lambda: f"{talk.graph}> ", complete, history_file))


# A group, so that the service's commands about the ledger can be added to it.
ledger_app = typer.Typer(invoke_without_command=True)
app.add_typer(ledger_app, name="ledger")


@ledger_app.callback()
def ledger(
    context: typer.Context,
    url: Url = None,
    api_key: ApiKey = None,
    answer: Annotated[str | None, typer.Option(help="Only the requests of this answer's id")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many requests, newest first")] = 20,
    payload: Annotated[bool, typer.Option("--payload", help="Show what the model saw")] = False,
    as_json: AsJson = False,
    plain_http: PlainHttp = False,
) -> None:
    """List what the model was sent for your questions: step, size, digest, and the guard's verdict of each request."""
    if context.invoked_subcommand is not None:
        return
    dialogue = _open_chat(url, api_key, None, plain_http=plain_http)
    from client_sdk.cli import render

    with dialogue:
        rows = dialogue.ledger(answer, limit)
    if as_json:
        hidden = set() if payload else {"payload"}
        whole = [row.model_dump(mode="json", exclude=hidden) for row in rows]
        render.print_json(whole)
        return
    render.show_ledger(render.make_console(), rows, payload)


device_app = typer.Typer(help="The devices that an API key's names are sealed to.", no_args_is_help=True)
app.add_typer(device_app, name="device")

KeyId = Annotated[str | None, typer.Option("--key", help="Another API key's id, for an admin: `arog api-key list`")]


@device_app.command("register", context_settings=TAKES_ID)
def register_device(
    public_key: Annotated[str | None, typer.Argument(help="The device's; this one's by default")] = None,
    url: Url = None,
    api_key: ApiKey = None,
    key_id: KeyId = None,
    plain_http: PlainHttp = False,
) -> None:
    """Register a device by its public key, which `arog keygen` prints on that device."""
    with _open_devices(url, api_key, key_id, plain_http) as devices:
        from client_sdk.crypto.key_file import load_or_create_key

        device = devices.register(public_key or load_or_create_key().public_text)
    print(f"registered: {device.fingerprint}")


@device_app.command("list")
def list_devices(url: Url = None, api_key: ApiKey = None, key_id: KeyId = None, plain_http: PlainHttp = False) -> None:
    """List the devices of the API key, oldest first: fingerprint, since when, whether revoked. This one is marked."""
    with _open_devices(url, api_key, key_id, plain_http) as devices:
        told = devices.all()
    from client_sdk.crypto.key_file import load_key
    from client_sdk.crypto.sealing import fingerprint_of

    own = load_key()
    mark = fingerprint_of(own.public_text) if own else ""
    for device in told.devices:
        state = f"revoked {device.revoked_at:%Y-%m-%d}" if device.revoked_at else "valid"
        here = "  (this one)" if device.fingerprint == mark else ""
        print(f"{device.fingerprint}  {device.registered_at:%Y-%m-%d}  {state}  {device.suite}{here}")
    rule = "go to registered devices alone" if told.required else "go to every public key that is not revoked here"
    print(f"key {told.key_id}: names {rule}", file=sys.stderr)


@device_app.command("revoke", context_settings=TAKES_ID)
def revoke_device(
    fingerprint: Annotated[str, typer.Argument(help="As `arog device list` shows it, or its first 8 characters")],
    url: Url = None,
    api_key: ApiKey = None,
    key_id: KeyId = None,
    plain_http: PlainHttp = False,
) -> None:
    """Revoke a device at once: nothing more is sealed to it. If its API key was lost with it, revoke that too."""
    with _open_devices(url, api_key, key_id, plain_http) as devices:
        device = devices.revoke(fingerprint)
    print(f"revoked: {device.fingerprint}")


def _open_devices(url: str | None, api_key: str | None, key_id: str | None, plain_http: bool) -> Devices:
    where = choose(url, api_key, None)
    from client_sdk.devices import Devices

    return Devices(where.url, where.api_key, key_id=key_id, plain_http=plain_http)


app.add_typer(memory.app, name="memory")


@app.command("break-glass")
def break_glass(
    graph: Annotated[str, typer.Argument(help="The graph")],
    reason: Annotated[str, typer.Option(help="Why, in 10 characters or more; tell a case by its number, name nobody")],
    minutes: Annotated[int, typer.Option(min=1, max=240, help="For how long")] = 30,
    url: Url = None,
    api_key: ApiKey = None,
    plain_http: PlainHttp = False,
) -> None:
    """See all of a graph for some minutes, not only your role's part. It is recorded, and the owner is told."""
    with _open_chat(url, api_key, graph, plain_http=plain_http) as chat:
        until = chat.break_glass(reason, minutes).until
    print(f"{graph} is shown as a whole to this key until {until:%Y-%m-%d %H:%M:%S} UTC")


app.command()(proxy)
app.command()(mcp)
app.command("try")(try_files)


@app.command(context_settings=TAKES_ID)
def trace(
    answer: Annotated[str, typer.Argument(help="An answer's id: `arog ledger` lists them, `ask --json` gives it")],
    url: Url = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
    plain_http: PlainHttp = False,
) -> None:
    """Show each prompt and reply of an answer as it left, and beside it the same with names restored here."""
    dialogue = _open_chat(url, api_key, None, plain_http=plain_http)
    from client_sdk.cli import render

    with dialogue:
        traced = dialogue.trace(answer)
    if as_json:
        render.print_json(render.trace_as_dict(traced))
        return
    render.show_trace(render.make_console(), traced)


def _open_chat(url: str | None, api_key: str | None, graph: str | None, **options: Unpack[ChatOptions]) -> Chat:
    where = choose(url, api_key, graph)
    # Imported only once there is a key to ask with.
    from client_sdk.client import Chat

    options.setdefault("on_wait", tell_wait)
    return Chat(where.url, where.api_key, where.graph, **options)
