"""Persons sign in at a real OpenID provider, on the command line, and ask a real service over HTTP."""

from __future__ import annotations

import asyncio
import io
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import uvicorn

from app.accounts import openid
from app.api.web_page import DIST
from app.main import create_app
from app.wiring.services import Services
from client_sdk import AsyncChat, Chat, KeyPair
from client_sdk.errors import NotAuthenticatedError, NotPermittedError, RefusedError, ServerError
from client_sdk.sign_in import begin, kept_token, sign_out
from tests.support.processes.openid_provider import CLIENT_ID, Provider, providing
from tests.support.service import (
    CLINIC,
    OPERATOR,
    QUESTION,
    ScriptedReasoner,
    build_with,
    logging_to,
    question,
    settings_in,
)

pytestmark = pytest.mark.process
DOCTOR, NURSE, OWNER, GUEST = "8f0e-doctor", "8f0e-nurse", "8f0e-owner", "8f0e-guest"
GROUPS = """
[[group]]
name = "owners"
role = "admin"
grants = ["*"]
[[group]]
name = "doctors"
grants = ["clinic", "inspect:clinic"]
[[group]]
name = "nurses"
grants = ["clinic#reception"]
"""
OF_LOGINS = {DOCTOR: ["doctors", "staff"], NURSE: ["nurses", "staff"], OWNER: ["owners"], GUEST: ["staff"]}
POLICY = '[roles.reception]\nshow_relations = ["lives in"]\n'


@dataclass(frozen=True, slots=True)
class Served:
    """A service on a socket, with the clinic loaded."""

    url: str
    folder: Path
    log: io.StringIO
    services: Services

    def get(self, path: str, token: str | None = None) -> httpx2.Response:
        headers = OPERATOR if token is None else {"Authorization": f"Bearer {token}"}
        return httpx2.get(self.url + path, headers=headers)


@contextmanager
def serving(folder: Path, issuer: str) -> Iterator[Served]:
    (folder / "groups.toml").write_text(GROUPS)
    settings = settings_in(
        folder,
        oidc_issuer=issuer,
        oidc_client_id=CLIENT_ID,
        oidc_groups=folder / "groups.toml",
        requests_per_minute=999,
    )
    app = create_app(settings, build_with(ScriptedReasoner()))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    with logging_to(io.StringIO()) as log:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not (server.started and app.state.shared.services):
                assert thread.is_alive()
            (folder / "clinic.ttl").write_text(CLINIC)
            services = app.state.shared.services
            load = services.graphs.load("default", "clinic", [folder / "clinic.ttl"], POLICY)
            load.run(lambda _step, _percent: None)
            (folder / "clinic.ttl").unlink()
            port = server.servers[0].sockets[0].getsockname()[1]
            yield Served(f"http://127.0.0.1:{port}", folder, log, services)
        finally:
            server.should_exit = True
            thread.join(60)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing(OF_LOGINS) as provider:
        yield provider


@pytest.fixture
def service(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    for name in ("AROG_URL", "AROG_API_KEY", "AROG_API_KEY_FILE", "AROG_GRAPH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AROG_CONFIG_DIR", str(tmp_path / "config"))
    with serving(tmp_path, provider.issuer) as service:
        yield service


def sign_in(provider: Provider, service: Served, login: str) -> str:
    """Signs somebody in on this machine, in the place of whoever was, and returns their token."""
    prompt = begin(service.url)
    provider.sign_in(login, prompt.address, prompt.code)
    prompt.wait(lambda _seconds: None)
    token = kept_token(service.url)
    assert token is not None
    return token()


def arog(service: Served, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "AROG_URL": service.url}
    return subprocess.Popen(
        [sys.executable, "-m", "client_sdk", *arguments], env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_person_signs_in_on_the_command_line_asks_and_signs_out(provider: Provider, service: Served) -> None:
    with arog(service, "login") as login:
        assert login.stderr is not None
        line = login.stderr.readline().split()
        provider.sign_in(DOCTOR, line[1], line[-1])
        assert "you are signed in" in login.communicate(timeout=60)[1]
    kept = service.folder / "config" / "sign-in.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with arog(service, "ask", QUESTION, "--graph", "clinic") as asked:
        assert "Quenby Thistlewood" in asked.communicate(timeout=60)[0]
    refresh = json.loads(kept.read_bytes())[service.url]["refresh_token"]
    with arog(service, "logout") as logout:
        assert logout.communicate(timeout=60)[1] == "you are signed out\n"
    with arog(service, "ask", QUESTION, "--graph", "clinic") as asked:
        assert "arog login" in asked.communicate(timeout=60)[1]
    form = {"grant_type": "refresh_token", "refresh_token": refresh, "client_id": CLIENT_ID}
    assert httpx2.post(f"{provider.issuer}/token", data=form).status_code == 400
    assert not sign_out(service.url)


def test_groups_give_persons_their_graphs_roles_and_rights(provider: Provider, service: Served) -> None:
    token = sign_in(provider, service, DOCTOR)
    assert service.get("/graphs", token).json()["inspectable"] == ["clinic"]
    assert service.get("/admin/keys", token).status_code == 403
    with Chat(service.url, token, "clinic") as chat:
        assert "Quenby Thistlewood" in chat.ask(QUESTION).text
    with Chat(service.url, sign_in(provider, service, NURSE), "clinic") as chat:
        assert chat.graphs() == ["clinic"]
        assert "Quenby Thistlewood" not in chat.ask(QUESTION).text
    assert service.get("/admin/keys", sign_in(provider, service, OWNER)).status_code == 200
    with Chat(service.url, sign_in(provider, service, GUEST), "clinic") as chat:
        with pytest.raises(NotPermittedError) as refused:
            chat.ask(QUESTION)
        assert refused.value.code == "no_group"


def test_a_token_is_renewed_once_by_all_who_ask_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AROG_CONFIG_DIR", str(tmp_path / "config"))
    with providing(OF_LOGINS, id_token_s=50) as provider, serving(tmp_path, provider.issuer) as service:
        sign_in(provider, service, DOCTOR)
        first = (tmp_path / "config" / "sign-in.json").read_bytes()

        async def all_ask() -> list[list[str]]:
            token = kept_token(service.url)
            assert token is not None
            chats = [AsyncChat(service.url, token, "clinic") for _ in range(5)]
            found = await asyncio.gather(*(chat.graphs() for chat in chats))
            for chat in chats:
                await chat.close()
            return found

        assert asyncio.run(all_ask()) == [["clinic"]] * 5
        assert (tmp_path / "config" / "sign-in.json").read_bytes() != first


def test_what_the_provider_takes_back_ends_the_sign_in(provider: Provider, service: Served) -> None:
    prompt = begin(service.url)
    provider.sign_in(DOCTOR, prompt.address, prompt.code, refuse=True)
    with pytest.raises(RefusedError) as refused:
        prompt.wait(lambda _seconds: None)
    assert refused.value.code == "sign_in_refused"
    assert kept_token(service.url) is None


def test_new_keys_of_the_provider_are_taken_up_and_old_ones_end(
    provider: Provider, service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "MIN_PAUSE_S", 0.0)
    before = sign_in(provider, service, DOCTOR)
    assert service.get("/graphs", before).status_code == 200
    provider.rotate()
    after = sign_in(provider, service, DOCTOR)
    assert service.get("/graphs", after).status_code == 200
    assert service.get("/graphs", before).status_code == 401


def test_a_person_whose_id_is_revoked_is_out_at_once(provider: Provider, service: Served) -> None:
    token = sign_in(provider, service, DOCTOR)
    assert service.get("/graphs", token).status_code == 200
    (key,) = service.get("/admin/keys").json()["keys"]
    httpx2.delete(f"{service.url}/admin/keys/{key['key_id']}", headers=OPERATOR).raise_for_status()
    with Chat(service.url, token, "clinic") as chat, pytest.raises(NotAuthenticatedError):
        chat.graphs()


def test_without_the_provider_keys_work_and_the_service_says_what_does_not(
    provider: Provider, service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "KEYS_ARE_FRESH_S", 0.0)
    monkeypatch.setattr(openid, "MIN_PAUSE_S", 0.0)
    token = sign_in(provider, service, DOCTOR)
    assert service.get("/graphs", token).status_code == 200
    assert service.get("/readyz").json() == {"ready": True, "missing": [], "reasoner": "scripted", "endpoints": []}
    provider.fail()
    assert service.get("/graphs", token).status_code == 200
    monkeypatch.setattr(openid, "MAX_KEYS_AGE_S", 0.0)
    with Chat(service.url, token, "clinic") as chat, pytest.raises(ServerError) as failed:
        chat.graphs()
    assert failed.value.code == "sign_in_unavailable"
    assert service.get("/graphs").status_code == 200
    told = service.get("/readyz").json()
    assert told["ready"]
    assert "AROG_OIDC_ISSUER" in told["missing"][0]


def test_nobody_who_signed_in_is_several_persons(provider: Provider, service: Served) -> None:
    headers = {"Authorization": f"Bearer {sign_in(provider, service, DOCTOR)}"}
    for person in ("one", "another"):
        asked = question(options={"person": person}, public_key=KeyPair.generate().public_text)
        httpx2.post(f"{service.url}/chat", json=asked, headers=headers).raise_for_status()
    readers = service.services.store.names_read.days("default", "clinic")
    assert [each.person for each in readers] == [""]


def test_no_log_and_no_file_of_the_service_says_who_signed_in(provider: Provider, service: Served) -> None:
    token = sign_in(provider, service, DOCTOR)
    with Chat(service.url, token, "clinic") as chat:
        chat.ask(QUESTION)
    kept = b"".join(each.read_bytes() for each in (service.folder / "data").rglob("*") if each.is_file())
    for secret in (DOCTOR, token, token.split(".")[1]):
        assert secret.encode() not in kept
        assert secret not in service.log.getvalue()


def test_a_service_tells_where_to_sign_in(provider: Provider, service: Served) -> None:
    told = httpx2.get(f"{service.url}/sign-in").json()
    assert told == {"issuer": provider.issuer, "client_id": CLIENT_ID, "scopes": "openid offline_access"}


def test_the_page_may_reach_the_provider(provider: Provider, service: Served) -> None:
    if not (DIST / "index.html").is_file():
        pytest.skip("the page is not built: make page")
    policy = httpx2.get(service.url).headers["content-security-policy"]
    assert f"connect-src 'self' {provider.issuer};" in policy
