"""The documents say what is there: every setting, error code and route, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.accounts.api_keys import BadGrantError
from app.api.errors import _BY_STATUS
from app.api.problems import _KINDS, INTERNAL, BadRequestError, RateLimitedError, TooLargeError, problem_of
from app.api.routes.routers import administering, asking, owning, watching
from app.graphs.errors import AmbiguousNameError, ErasureUnfinishedError
from app.settings import PREFIX, Settings
from client_sdk.errors import _BY_CODE
from kg_store.errors import LoadError, PolicyError

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
API = (ROOT / "docs" / "api.md").read_text("utf-8")
CODES = {problem.code for problem in (*_KINDS.values(), *_BY_STATUS.values(), INTERNAL)} | {
    problem_of(error).code
    for error in (
        BadRequestError("", ""),
        TooLargeError(1, ""),
        RateLimitedError(1),
        LoadError(""),
        PolicyError(""),
        AmbiguousNameError(2),
        ErasureUnfinishedError(""),
        BadGrantError(""),
    )
}


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_has_its_line(name: str) -> None:
    assert f"`{PREFIX}{name.upper()}`" in (ROOT / "docs" / "operations.md").read_text("utf-8")


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_error_code_has_its_line(code: str) -> None:
    assert f"`{code}`" in API


def test_no_code_is_described_that_the_service_does_not_have() -> None:
    table = API.split("## Errors")[1]
    assert {
        code for row in re.findall(r"^\| \d{3} \| (.+?) \|", table, re.M) for code in row.strip("`").split("`, `")
    } <= CODES


def test_the_sdk_branches_on_codes_that_the_service_has() -> None:
    assert {code for _, code in _BY_CODE} <= CODES


@pytest.mark.parametrize(
    "route", [*asking.routes, *administering.routes, *owning.routes, *watching.routes], ids=lambda route: route.path
)
def test_every_route_is_described(route: object) -> None:
    for method in route.methods:  # type: ignore[attr-defined]
        assert f"{method} {route.path}".replace("{job_id}", "{id}").replace("{key_id}", "{id}") in API  # type: ignore[attr-defined]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", document.read_text("utf-8")):
        assert (document.parent / target).exists(), target
