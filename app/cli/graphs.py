"""`arog graph`: inspects files, and loads, lists, reports on and deletes graphs, directly in the data folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.output import (
    bar,
    console,
    errors,
    failures_in_words,
    named,
    opened_store,
    program,
    say,
    show_preview,
    show_privacy,
    tell,
)
from kg_store.errors import LoadError

if TYPE_CHECKING:
    from app.graphs.admin import GraphAdmin
    from client_sdk.protocol import PrivacySummary
    from kg_store.catalog import PrivateGraph
    from kg_store.sources.policy import Policy
    from kg_store.sources.raw_graph import RawGraph

Tenant = Annotated[str, typer.Option(help="The tenant that the graph belongs to", callback=named)]
GraphName = Annotated[str, typer.Argument(help="The graph's name", callback=named)]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask")]


def _in_folders(paths: list[Path]) -> list[Path]:
    """Returns `paths` with each folder replaced by the files in it that can be read, judged by their endings.

    Hidden files are left out; other files left out are printed. Raises BadParameter for a folder without such files.
    """
    from kg_store.sources.reader import FORMATS

    found: list[Path] = []
    for path in paths:
        within = sorted(
            each
            for each in (path.rglob("*") if path.is_dir() else ())
            if each.is_file() and not any(part[0] == "." for part in each.relative_to(path).parts)
        )
        read = [each for each in within if each.name.lower().removesuffix(".gz").endswith(FORMATS)]
        if path.is_dir() and not read:
            raise typer.BadParameter(f"the folder {path} holds no file that can be read: one of {', '.join(FORMATS)}")
        if len(read) < len(within):
            left_out = ", ".join(str(each.relative_to(path)) for each in within if each not in read)
            tell(f"Not read, by their endings: {left_out}")
        found += read or [path]
    return found


Files = Annotated[
    list[Path],
    typer.Argument(exists=True, callback=_in_folders, help="Turtle, CSV, Excel, JSON, ...; .gz too; or folders"),
]
PolicyFile = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="TOML; else one is proposed")]
Ontology = Annotated[list[Path], typer.Option(exists=True, dir_okay=False, help="A file with labels of relations")]
Triples = Annotated[bool, typer.Option("--triples", help="Lines of text files are head, relation, tail: no tables")]
Public = Annotated[
    list[Path],
    typer.Option("--public", exists=True, dir_okay=False, help="A public file; if all are, so is the graph"),
]
app = typer.Typer(help="Private graphs.", no_args_is_help=True)


@app.command()
def inspect(
    files: Files = [],  # noqa: B006 - typer copies it
    policy: PolicyFile = None,
    out: Annotated[Path | None, typer.Option(help="Write the policy here instead of printing it")] = None,
    sample: Annotated[int, typer.Option(min=1, max=1000, help="How many entities to show")] = 10,
    triples: Triples = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask about each column, and write the policy")] = False,
    public: Public = [],  # noqa: B006 - typer copies it
) -> None:
    """Propose a policy for files, and show what a model would see. Nothing is loaded or sent.

    The output contains real names, for your own screen; the policy goes to standard output or a file.
    """
    # Imported late, because RDF parsers take a while to import.
    from app.settings import load_settings
    from kg_store.formats.files import PackedBounds, require_unpacked_within
    from kg_store.proposals.propose import preview
    from kg_store.proposals.row_checks import large_tables
    from kg_store.sources.reader import read_by_policy

    _require_files(files, public)
    with failures_in_words(errors):
        settings = load_settings()
        require_unpacked_within(
            [*files, *public], PackedBounds(settings.max_unpacked_bytes, settings.max_packed_facts)
        )
        if not (ask or triples or public) and (large := large_tables(files)):
            used = _inspect_first_rows(files, large, policy, sample)
            _tell_policy(used, policy, out)
            return
        raw, used = _read(files, policy, triples, public)
        if ask:
            from app.cli.column_questions import ask_columns

            used = ask_columns(errors, [*files, *public], raw, used)
            raw = read_by_policy([*files, *public], used)
        show_preview(preview(raw, used, sample))
        _tell_policy(used, None if ask else policy, out)


def _require_files(files: Sequence[Path], public: Sequence[Path]) -> None:
    """Raises BadParameter if there is neither a private nor a public file."""
    if not files and not public:
        raise typer.BadParameter("name at least one file, or a public one with --public")


def _inspect_first_rows(files: list[Path], large: list[Path], policy: Path | None, sample: int) -> Policy:
    """Shows a preview of the first rows of `files`, then checks all rows of the `large` ones; returns the policy."""
    from kg_store.formats.delimited_text import first_rows_alone
    from kg_store.proposals.propose import preview
    from kg_store.proposals.row_checks import ROWS_SHOWN, check_rows

    with first_rows_alone(ROWS_SHOWN):
        raw, used = _read(files, policy, False)
        show_preview(preview(raw, used, sample))
    names = ", ".join(path.name for path in large)
    tell(f"These are the first {ROWS_SHOWN:,} rows of {names}. All rows are checked now; Ctrl+C stops that.")
    try:
        with bar(errors, names) as progress:
            notes = check_rows(large, used.tables, lambda share: progress("checking", 100 * share))
    except KeyboardInterrupt:
        notes = ("Stopped: not all rows were checked",)
    for note in notes:
        tell(note)
    return used


def _tell_policy(used: Policy, given: Path | None, out: Path | None) -> None:
    """Writes the policy to `out`; without it, prints a policy that was proposed."""
    if out is not None:
        out.write_text(used.to_toml(), "utf-8")
    elif given is None:
        print(used.to_toml())


@app.command()
def load(
    name: Annotated[str, typer.Argument(help="The graph's name: a-z, 0-9, - and _", callback=named)],
    files: Files = [],  # noqa: B006 - typer copies it
    policy: PolicyFile = None,
    ontology: Ontology = [],  # noqa: B006 - typer copies it
    tenant: Tenant = "default",
    ask: Annotated[
        bool, typer.Option("--ask", help="Show what it tells of its entities, and ask, before it goes live")
    ] = False,
    triples: Triples = False,
    public: Public = [],  # noqa: B006 - typer copies it
) -> None:
    """Load a graph, or a new version of it; a running service uses it at once."""
    _require_files(files, public)
    with _graphs() as graphs, ExitStack() as shown:
        given = policy.read_text("utf-8") if policy else None
        if triples or public:
            given = _read([*files, *ontology], policy, triples, public)[1].to_toml()

        def confirm(privacy: PrivacySummary) -> None:
            show_privacy(privacy)
            if ask:
                shown.close()
                if not typer.confirm("Make this version live?"):
                    raise LoadError("this version is dropped, and nothing has changed")

        load = graphs.load(tenant, name, [*files, *ontology, *public], given, confirm, shows_relations=True)
        loaded = load.run(shown.enter_context(bar(errors, name)))
    graph = loaded.graph
    say(
        f"{name}: {graph.triples:,} triples, {graph.entities:,} entities, {graph.values:,} values, "
        f"{graph.relations:,} relations; {graph.public_words:,} names are public words"
    )
    ways = f"{program()} api-key create --grant {name}   and then   {program()} ask --graph {name} QUESTION"
    for note in (f"A key for it: {ways}", *loaded.notes):
        tell(note)


@app.command("list")
def list_graphs(tenant: Tenant = "default") -> None:
    """List the graphs of a tenant."""
    from rich.table import Table

    table = Table("name", "triples", "entities", "values", "relations", "loaded", "public", "beside")
    with opened_store() as store:
        reports = store.graph_reports(tenant)
        beside = store.ties.of_tenant(tenant, reports)
        for graph in reports:
            counts = (f"{each:,}" for each in (graph.triples, graph.entities, graph.values, graph.relations))
            told = ("true" if graph.is_public else "", ", ".join(beside.get(graph.name, ())))
            table.add_row(graph.name, *counts, f"{graph.loaded_at:%Y-%m-%d %H:%M}", *told)
    console.print(table)


@app.command()
def beside(
    name: GraphName,
    public: Annotated[str, typer.Argument(help="The public graph that stands beside it", callback=named)],
    remove: Annotated[bool, typer.Option("--remove", help="It stands beside it no more")] = False,
    tenant: Tenant = "default",
) -> None:
    """Put a public graph beside another one, for everybody who may ask that one."""
    with _graphs() as graphs:
        if remove:
            graphs.take_from_beside(tenant, name, public)
        else:
            graphs.put_beside(tenant, name, public)
    say(f"{public} stands beside {name}{' no more' if remove else ''}")


@app.command()
def versions(name: GraphName, tenant: Tenant = "default") -> None:
    """List the versions of a graph that are kept: the live one and those before it, which `rollback` brings back."""
    from rich.filesize import decimal
    from rich.table import Table

    table = Table("number", "id", "loaded", "entities", "triples", "relations", "on disk")
    with _graphs() as graphs:
        for each in graphs.versions(tenant, name).versions:
            counts = (f"{count:,}" for count in (each.entities, each.triples, each.relations))
            loaded = f"{each.loaded_at:%Y-%m-%d %H:%M}"
            number = f"{each.number} live" if each.live else str(each.number)
            table.add_row(number, each.version[:8], loaded, *counts, decimal(each.bytes))
    console.print(table)


@app.command()
def rollback(
    name: GraphName,
    version: Annotated[
        str | None, typer.Argument(help="Its number or id; else the one loaded before the live one")
    ] = None,
    yes: Yes = False,
    tenant: Tenant = "default",
) -> None:
    """Make a kept version of a graph live again; a running service uses it at once. The live one is kept too."""
    with _graphs() as graphs:
        plan = graphs.rollback(tenant, name, version)
        for sentence in plan.sentences(shows_relations=True):
            tell(sentence)
        if not yes:
            typer.confirm("Make it live?", abort=True)
        say(plan.run(lambda _step, _percent: None).notes[0])


@app.command()
def report(
    name: GraphName,
    tenant: Tenant = "default",
    out: Annotated[
        Path | None, typer.Option(help="Write report.md, report.json and report.svg into this folder")
    ] = None,
    k: Annotated[int | None, typer.Option(min=2, help="Fewer entities than this are few")] = None,
) -> None:
    """Report how well prompts about a graph hide the entities they are about.

    The report also lists names that the guard lets pass because they are public words, such as words of the schema.
    """
    with _graphs() as graphs:
        # Imported late, because these modules load large libraries for reading and drawing.
        from app.graphs.report_files import markdown, write_report

        made = graphs.report(tenant, name, k)
        if out is None:
            print(markdown(made))
        else:
            show_privacy(made)
            for note in write_report(made, out):
                tell(note)


@app.command()
def delete(
    name: str,
    tenant: Tenant = "default",
    yes: Yes = False,
) -> None:
    """Delete a graph, all its versions and its conversations."""
    if not yes:
        typer.confirm(f"Delete the graph {name!r} of tenant {tenant!r}?", abort=True)
    with _graphs() as graphs:
        graphs.delete(tenant, name)
    print(f"{name} is deleted")


def _read(
    files: list[Path], policy: Path | None, are_triples: bool, public: Sequence[Path] = ()
) -> tuple[RawGraph, Policy]:
    """Returns the triples of `files` and of the `public` ones beside them, and the policy given or proposed.

    With `are_triples`, text files are read as triples instead of tables. Raises BadParameter for public files beside a
    policy, which lists them itself.
    """
    from kg_store.proposals.propose import read_and_propose
    from kg_store.proposals.public_files import is_left_open, only_public, read_left_open
    from kg_store.sources.policy import Policy, TriplesPolicy
    from kg_store.sources.reader import read_by_policy

    told = (TriplesPolicy(),) if are_triples else ()
    if public and policy is not None:
        raise typer.BadParameter("a policy lists its public files itself (`[public] files`): leave --public out")
    if policy is None and not public:
        return read_and_propose(files, triples=told)
    used = Policy.from_toml(policy.read_text("utf-8")) if policy else only_public(path.name for path in public)
    if is_left_open(used):
        return read_left_open([*files, *public], used, told)
    # The policy's own entries, for one file or for all, override the command's.
    known = {each.file for each in used.triples}
    used = used.model_copy(update={"triples": (*used.triples, *(each for each in told if each.file not in known))})
    return read_by_policy(files, used), used


@contextmanager
def _graphs() -> Iterator[GraphAdmin]:
    with opened_store() as store:
        from app.wiring.administration import graphs_of

        yield graphs_of(store)


@app.command()
def roles(graph: GraphName, tenant: Tenant = "default") -> None:
    """List the roles of a graph: which relations each is shown, which are withheld, and how many things it sees."""
    told: list[str] = []
    with opened_store() as store:
        whole = store.catalog.open(tenant, graph)
        for role in whole.policy.roles:
            told += _told(graph, role, whole, store.catalog.open_as(tenant, graph, role))
    for line in told or [f"{graph} has no roles: write [roles.NAME] into its policy, and load it again"]:
        say(line)


def _told(graph: str, role: str, whole: PrivateGraph, part: PrivateGraph) -> Iterator[str]:
    from app.accounts.api_keys import ROLE_MARK
    from kg_store.terms import NodeKind

    (all_words, all_things), (words, things) = (
        (
            {relation.label for relation in schema.relations},
            sum(each.size for each in schema.signatures if each.kind is NodeKind.ENTITY),
        )
        for schema in (whole.blind.schema, part.blind.schema)
    )
    yield f"{role}: {things} of {all_things} things"
    yield "    relations shown: " + (", ".join(sorted(words)) or "none")
    yield "    relations withheld: " + (", ".join(sorted(all_words - words)) or "none")
    yield f"    a key for it: {program()} api-key create --grant {graph}{ROLE_MARK}{role}"
