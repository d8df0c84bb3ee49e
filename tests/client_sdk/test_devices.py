from __future__ import annotations

import pytest

from client_sdk import Devices, KeyPair
from client_sdk.cli.main import run
from client_sdk.crypto.key_file import load_key
from client_sdk.crypto.sealing import fingerprint_of
from client_sdk.errors import BadRequestError
from tests.support.fake_service import API_KEY, FakeService


def test_devices_are_registered_listed_and_revoked(service: FakeService) -> None:
    pairs = [KeyPair.generate(), KeyPair.generate(post_quantum=True)]
    with Devices(service.url, API_KEY) as devices:
        for pair in pairs:
            assert devices.register(pair.public_text).fingerprint == fingerprint_of(pair.public_text)
        first = fingerprint_of(pairs[0].public_text)
        assert devices.revoke(first[:8]).fingerprint == first
        assert [one.revoked_at is None for one in devices.all().devices] == [False, True]


@pytest.mark.parametrize("fingerprint", ["", "ab", "0" * 64, "not-hex!"])
def test_what_fits_no_single_device_revokes_none(service: FakeService, fingerprint: str) -> None:
    with Devices(service.url, API_KEY) as devices:
        devices.register(KeyPair.generate().public_text)
        with pytest.raises(BadRequestError, match="devices match"):
            devices.revoke(fingerprint)
    assert [one.revoked_at for one in service.devices] == [None]


def test_an_admin_names_another_key(service: FakeService) -> None:
    with Devices(service.url, API_KEY, key_id="k2") as devices:
        devices.register(KeyPair.generate().public_text)
        devices.all()
    assert service.paths == ["/devices?key=k2"] * 2


def test_a_key_that_begins_with_a_hyphen_is_no_option(env: FakeService) -> None:
    key = next(key for _ in range(10_000) if (key := KeyPair.generate()).public_text.startswith("-"))
    assert run(["device", "register", key.public_text]) == 0
    assert [device.fingerprint for device in env.devices] == [fingerprint_of(key.public_text)]


def test_the_command_marks_this_device(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["device", "register"]) == 0
    assert run(["device", "register", KeyPair.generate().public_text]) == 0
    assert run(["device", "revoke", env.devices[1].fingerprint]) == 0
    capsys.readouterr()
    assert run(["device", "list"]) == 0
    printed = capsys.readouterr()
    own = load_key()
    assert own is not None
    here, other = printed.out.splitlines()
    assert here.startswith(fingerprint_of(own.public_text))
    assert here.endswith("(this one)")
    assert "revoked 2026-01-02" in other
    assert printed.err == "key k1: names go to every public key that is not revoked here\n"
