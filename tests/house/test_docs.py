"""The documents say what is there: every setting, error code and route, and every link leads somewhere."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from app.accounts.api_keys import BadGrantError
from app.api.layers import _BY_STATUS
from app.api.problems import _KINDS, INTERNAL, BadRequestError, RateLimitedError, TooLargeError, problem_of
from app.api.routes.routers import admin_router, caller_router, probe_router
from app.graphs.jobs import AmbiguousNameError, ErasureUnfinishedError
from app.settings import PREFIX, Settings
from client_sdk.errors import _BY_CODE
from kg_store.errors import LoadError, PolicyError, VersionError
from tests.support.pages import (
    command_page,
    http_page,
    layers_page,
    layers_picture,
    policy_page,
    troubleshooting_page,
)

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# A change log and decisions tell of their day, and name files that may be gone.
TOLD_AS_THEY_ARE = [path for path in DOCUMENTS if path.name != "CHANGELOG.md" and path.parent.name != "decisions"]
OURS = "app|kg_store|client_sdk|evaluation|tests|docs|deploy"
API = (ROOT / "docs" / "api.md").read_text("utf-8")
CODES = {problem.code for problem in (*_KINDS.values(), *_BY_STATUS.values(), INTERNAL)} | {
    problem_of(error).code
    for error in (
        BadRequestError("", ""),
        TooLargeError(1, ""),
        RateLimitedError(1),
        LoadError(""),
        VersionError(""),
        PolicyError(""),
        AmbiguousNameError(2),
        ErasureUnfinishedError(""),
        BadGrantError(""),
    )
}


def test_every_setting_has_its_line() -> None:
    told = (ROOT / "docs" / "operations" / "settings.md").read_text("utf-8")
    assert [name for name in Settings.model_fields if f"`{PREFIX}{name.upper()}`" not in told] == []


def test_the_sdk_branches_on_codes_that_the_service_has() -> None:
    assert {code for _, code in _BY_CODE} <= CODES


def test_every_route_is_described() -> None:
    routes = [*caller_router.routes, *admin_router.routes, *probe_router.routes]
    told = [f"{method} {route.path}" for route in routes for method in route.methods]  # type: ignore[attr-defined]
    assert [each for each in told if each.replace("{job_id}", "{id}").replace("{key_id}", "{id}") not in API] == []


def test_every_link_leads_somewhere_and_to_a_heading_that_is_there() -> None:
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
        for target, heading in re.findall(r"\]\((?!https?://)([^)#]*)#([^)]+)\)", text):
            found = headings_of(document.parent / target if target else document)
            assert heading in found, f"{document.name}: {target}#{heading}"


def test_every_answer_to_a_hospital_names_its_test_or_says_no() -> None:
    lines = (ROOT / "docs" / "questionnaire.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    asked = [row for row in rows if row[0].endswith("?")]
    assert 40 <= len(asked) <= 60
    for row in asked:
        assert len(row) == 3, row
        tests = re.findall(r"`(tests/[\w/]+\.py)`", row[2])
        assert row[2] == "no" or ", ".join(f"`{each}`" for each in tests) == row[2], row
        assert all((ROOT / each).is_file() for each in tests), row


def test_every_path_and_function_that_is_told_is_there() -> None:
    told = "\n".join(document.read_text("utf-8") for document in TOLD_AS_THEY_ARE)
    for path in set(re.findall(rf"`((?:{OURS})/[\w./*-]+)", told)):
        # NAME stands for the reader's own; the page is built later.
        pattern = path.rstrip("./").replace("NAME", "*")
        assert path.startswith("app/api/page/dist") or any(ROOT.glob(pattern)), path
    for path, name in re.findall(rf"`((?:{OURS})/[\w./-]+\.py)::([\w.]+)`", told):
        assert name in definitions_of(path), f"{path}::{name}"


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_python_file_that_the_maps_for_developers_name_is_there(document: str) -> None:
    told = re.findall(r"`([\w./]+\.py)\b", (ROOT / document).read_text("utf-8"))
    files = [f"/{path.relative_to(ROOT)}" for part in OURS.split("|") for path in (ROOT / part).rglob("*.py")]
    # NAME stands for the reader's own file. Some are named without the folder that the text gives before.
    assert [path for path in told if "NAME" not in path and not any(f.endswith(f"/{path}") for f in files)] == []


def test_the_map_of_the_architecture_is_that_of_the_layers() -> None:
    assert layers_page.PAGE.read_text("utf-8") == layers_page.page(), "run `python -m tests.write_docs`"


def test_the_picture_of_the_layers_is_drawn_from_them() -> None:
    assert layers_picture.PICTURE.read_text("utf-8") == layers_picture.picture(), "run `python -m tests.write_docs`"


@pytest.mark.parametrize(
    "written", [command_page, http_page, policy_page, troubleshooting_page], ids=lambda page: page.PAGE.stem
)
def test_a_reference_is_written_from_the_code(written: ModuleType) -> None:
    assert written.PAGE.read_text("utf-8") == written.page(), "run `python -m tests.write_docs`"


def test_every_field_of_a_policy_is_described() -> None:
    missing = [f"{model}.{name}" for model, name in policy_page.fields() if name not in policy_page.SAID[model]]
    assert not missing, "describe them in tests/support/policy_fields.toml"


def test_every_error_code_has_what_to_do() -> None:
    to_do = troubleshooting_page.TO_DO
    assert set(to_do["service"]) == CODES, "tests/support/troubleshooting.toml"
    assert set(to_do["sdk"]) == troubleshooting_page.sdk_codes(), "tests/support/troubleshooting.toml"


@cache
def headings_of(document: Path) -> frozenset[str]:
    """The headings of a document as they stand in addresses."""
    if document.suffix != ".md":
        return frozenset()
    told = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.M | re.S), re.M)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in told)


@cache
def definitions_of(path: str) -> frozenset[str]:
    """Functions and classes of a file, and the methods of its classes as `Class.method`."""
    found = set()
    for node in ast.parse((ROOT / path).read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{each.name}" for each in inner}
    return frozenset(found)
