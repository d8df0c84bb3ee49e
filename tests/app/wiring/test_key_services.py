"""The master key's ring wrapped by AWS KMS (moto's server) and by Vault (a fake), and a service that waits for it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from botocore.session import Session
from pydantic import SecretStr

from app import main
from app.api.state import state_of
from app.cli.first_checks import prepare_folder
from app.main import create_app
from app.settings import ConfigurationError, Settings
from app.wiring.key_services import AwsKms, ring_file_of, wrapper_of
from app.wiring.store import open_store, read_master_key
from kg_store.errors import KeyServiceError, MasterKeyError
from kg_store.storage.master_key import MasterKey
from kg_store.storage.ring_file import KeyWrapper
from tests.support.processes.vault import TOKEN, FakeVault, fake_vault
from tests.support.service import ScriptedReasoner, build_with, logging_to, settings_in

RING = MasterKey.generate()


@dataclass(frozen=True, slots=True)
class KeyService:
    """A key service with two keys, as the settings name them."""

    kms: str
    other: str
    settings: Settings

    def wrapper(self, kms: str | None = None) -> KeyWrapper:
        return wrapper_of(kms or self.kms, self.settings)


@pytest.fixture
def vault() -> Iterator[FakeVault]:
    with fake_vault() as vault:
        yield vault


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # Takes long to import.

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def aws_environment(aws: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"AWS_ENDPOINT_URL_KMS": aws, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
    for name, value in {**values, "AWS_DEFAULT_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)


def new_aws_key() -> str:
    arn: str = Session().create_client("kms").create_key()["KeyMetadata"]["Arn"]
    return f"aws:{arn}"


@pytest.fixture(params=["vault", "aws"])
def service(
    request: pytest.FixtureRequest, vault: FakeVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> KeyService:
    if request.param == "vault":
        token = tmp_path / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        kms, other, more = vault.kms(), vault.kms("other"), {"vault_token_file": token}
    else:
        aws_environment(request.getfixturevalue("aws"), monkeypatch)
        kms, other, more = new_aws_key(), new_aws_key(), {}
    return KeyService(kms, other, settings_with(tmp_path, kms, **more))


def settings_with(folder: Path, kms: str, **more: Any) -> Settings:
    return settings_in(folder, kms=kms, master_key_file=folder / "ring", **more)


def test_what_is_wrapped_comes_back_and_shows_nothing(service: KeyService) -> None:
    wrapper = service.wrapper()
    wrapped = wrapper.wrap(RING.encode())
    assert RING.partition(":")[2] not in wrapped
    assert wrapped != wrapper.wrap(RING.encode())
    assert service.wrapper().unwrap(wrapped).decode() == RING


def test_another_key_and_a_changed_text_open_nothing(service: KeyService) -> None:
    wrapped = service.wrapper().wrap(RING.encode())
    changed = wrapped[:-8] + ("AAAA" if wrapped[-8:-4] != "AAAA" else "BBBB") + wrapped[-4:]
    for wrapper, text in (
        (service.wrapper(service.other), wrapped),
        (service.wrapper(), changed),
        (service.wrapper(), "vault:v1:ä"),
    ):
        with pytest.raises(KeyServiceError) as refused:
            wrapper.unwrap(text)
        assert RING not in str(refused.value)


def test_the_file_holds_the_ring_wrapped_and_the_folder_is_made_with_it(service: KeyService) -> None:
    settings = service.settings
    assert prepare_folder(settings, init=True) == settings.key_file
    text = settings.key_file.read_text()
    assert text.startswith(f"wrapped:{service.wrapper().name}:")
    assert settings.key_file.stat().st_mode & 0o777 == 0o600
    ring = ring_file_of(settings).read()
    assert ring not in text
    assert read_master_key(settings).versions == [1]
    open_store(settings).close()


def test_a_ring_of_another_key_of_another_service_or_in_clear_is_refused(service: KeyService) -> None:
    settings = service.settings
    prepare_folder(settings, init=True)
    with pytest.raises(KeyServiceError):
        read_master_key(settings.model_copy(update={"kms": service.other}))
    with pytest.raises(MasterKeyError, match="set AROG_KMS"):
        read_master_key(settings.model_copy(update={"kms": None}))
    settings.key_file.write_text(RING)
    with pytest.raises(MasterKeyError, match="is not wrapped"):
        read_master_key(settings)
    settings.key_file.write_text("wrapped:another:text")
    with pytest.raises(MasterKeyError, match="'another'"):
        read_master_key(settings)


def test_a_new_key_of_the_ring_is_taken_up_and_an_outage_takes_none_away(vault: FakeVault, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, vault.kms(), vault_token=SecretStr(TOKEN))
    prepare_folder(settings, init=True)
    master, file = read_master_key(settings), ring_file_of(settings)
    sealed = master.seal("purpose", b"", b"text")
    vault.status = 503
    master.refresh()
    assert master.open("purpose", b"", sealed) == b"text"
    vault.status = None
    vault.rotate("arog")
    file.write(MasterKey.rotated(file.read()))
    master.refresh()
    assert master.versions == [2, 1]
    master.drop_older()
    assert (master.versions, read_master_key(settings).versions) == ([2], [2])


@pytest.mark.parametrize(
    ("status", "told"), [(400, "another key"), (403, "token"), (404, "no such key"), (503, "sealed"), (500, "500")]
)
def test_a_refusal_of_vault_says_what_to_look_at(vault: FakeVault, tmp_path: Path, status: int, told: str) -> None:
    vault.status = status
    settings = settings_with(tmp_path, vault.kms(), vault_token=SecretStr(TOKEN))
    with pytest.raises(KeyServiceError) as refused:
        prepare_folder(settings, init=True)
    assert told in str(refused.value)
    assert not settings.key_file.exists()
    assert TOKEN not in f"{refused.value}{wrapper_of(vault.kms(), settings)!r}"


def test_a_token_is_read_anew_from_its_file(vault: FakeVault, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("hvs.one-that-has-ended")
    token.chmod(0o600)
    wrapper = wrapper_of(vault.kms(), settings_with(tmp_path, vault.kms(), vault_token_file=token))
    with pytest.raises(KeyServiceError):
        wrapper.wrap(b"ring")
    token.write_text(TOKEN)
    assert wrapper.unwrap(wrapper.wrap(b"ring")) == b"ring"
    token.chmod(0o644)
    with pytest.raises(KeyServiceError, match="AROG_VAULT_TOKEN_FILE"):
        wrapper.wrap(b"ring")


def test_aws_out_of_reach_or_without_credentials_is_told(
    aws: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws_environment(aws, monkeypatch)
    with pytest.raises(KeyServiceError, match="NotFoundException"):
        AwsKms("00000000-0000-0000-0000-000000000000").wrap(b"ring")
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", "http://127.0.0.1:9")
    with pytest.raises(KeyServiceError, match="EndpointConnectionError"):
        AwsKms("alias/arog").wrap(b"ring")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(KeyServiceError, match="NoCredentialsError"):
        AwsKms("alias/arog").wrap(b"ring")


@pytest.mark.parametrize(
    "kms",
    ["vault:http://vault.invalid/transit/arog", "vault:https://vault.invalid/arog", "vault:arog", "gcp:key"],
)
def test_a_key_service_that_is_named_wrongly_is_refused(kms: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="AROG_KMS"):
        wrapper_of(kms, settings_in(tmp_path))


async def test_a_service_waits_for_its_key_service_says_so_and_starts_with_no_other_key(
    vault: FakeVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "KEY_SERVICE_EVERY_S", 0.01)
    settings = settings_with(tmp_path, vault.kms(), vault_token=SecretStr(TOKEN))
    prepare_folder(settings, init=True)
    wrapped = settings.key_file.read_bytes()
    open_store(settings).close()
    vault.status = 503
    with logging_to(io.StringIO()) as log:
        app = create_app(settings, build_with(ScriptedReasoner()))
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as http,
        ):
            tried = len(vault.asked) + 2
            while len(vault.asked) < tried:
                await asyncio.sleep(0.01)
            told = await http.get("/readyz")
            assert told.status_code == 503
            assert "sealed" in told.json()["missing"][0]
            assert "No other key" in told.json()["missing"][0]
            assert "waits" in told.json()["missing"][0]
            assert (await http.get("/graphs")).status_code == 503
            vault.status = None
            while state_of(app).services is None:
                await asyncio.sleep(0.01)
    assert settings.key_file.read_bytes() == wrapped
    assert TOKEN not in log.getvalue()


async def test_a_service_that_waits_can_be_stopped(vault: FakeVault, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, vault.kms(), vault_token=SecretStr(TOKEN))
    prepare_folder(settings, init=True)
    vault.status = 503
    app = create_app(settings, build_with(ScriptedReasoner()))
    async with app.router.lifespan_context(app):
        asked = len(vault.asked)
        while len(vault.asked) == asked:
            await asyncio.sleep(0.01)
    assert state_of(app).services is None
