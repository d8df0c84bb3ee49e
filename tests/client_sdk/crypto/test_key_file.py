from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey

from client_sdk.crypto.key_file import (
    config_folder,
    create_key,
    create_private,
    key_path,
    load_key,
    load_or_create_key,
    read_private,
)
from client_sdk.errors import NotConfiguredError


def test_the_first_use_makes_a_key_that_later_uses_find(config: Path) -> None:
    assert load_key() is None
    made = load_or_create_key()
    assert load_or_create_key().to_bytes() == made.to_bytes()
    found = load_key()
    assert found is not None
    assert found.public_text == made.public_text


def test_only_the_user_can_read_it(config: Path) -> None:
    before = os.umask(0)
    try:
        load_or_create_key()
    finally:
        os.umask(before)
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(config.stat().st_mode) == 0o700
    assert [path.name for path in config.iterdir()] == ["key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o602])
def test_a_key_that_others_can_read_or_change_is_refused(mode: int) -> None:
    load_or_create_key()
    key_path().chmod(mode)
    with pytest.raises(NotConfiguredError, match="by others") as refused:
        load_or_create_key()
    assert "chmod 600" in refused.value.hint


def test_a_key_is_never_overwritten() -> None:
    assert create_key()
    first = key_path().read_bytes()
    assert not create_key()
    assert key_path().read_bytes() == first


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"garbage",
        b"arog-private-key-1",
        b"arog-private-key-1 AAAA",
        b"arog-private-key-2 " + b"A" * 43,
        b"arog-private-key-2 " + b"A" * 127 + b"B",
        b"arog-private-key-1 " + b"B" * 128,
        b"arog-private-key-2 " + b"B" * 42 + b"A",
        b"arog-private-key-1 " + b"A" * 43,
        b"\xff" * 40,
        b"arog-private-key-1 a b",
    ],
)
def test_a_damaged_file_is_refused_and_kept(config: Path, content: bytes) -> None:
    create_private(key_path(), content)
    with pytest.raises(NotConfiguredError, match="no key of this version") as refused:
        load_or_create_key()
    assert "AAAA" not in str(refused.value)
    assert key_path().read_bytes() == content


def _start(folder: str, gate: object, results: object) -> None:
    os.environ["AROG_CONFIG_DIR"] = folder
    gate.wait()  # type: ignore[attr-defined]
    results.put(load_or_create_key().public_text)  # type: ignore[attr-defined]


def test_without_the_suite_in_the_library_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def generate() -> None:
        raise UnsupportedAlgorithm("not here")

    monkeypatch.setattr(MLKEM768PrivateKey, "generate", generate)
    with pytest.raises(NotConfiguredError, match="no ML-KEM-768") as refused:
        create_key(post_quantum=True)
    assert "--post-quantum" in refused.value.hint
    assert load_key() is None


@pytest.mark.process
def test_parallel_first_starts_get_the_same_key(config: Path) -> None:
    context = multiprocessing.get_context("spawn")
    gate, results = context.Event(), context.Queue()
    starts = [context.Process(target=_start, args=(str(config), gate, results)) for _ in range(3)]
    for start in starts:
        start.start()
    gate.set()
    publics = {results.get() for _ in starts}
    for start in starts:
        start.join()
    results.close()
    results.join_thread()
    assert publics == {load_or_create_key().public_text}


def test_where_the_config_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AROG_CONFIG_DIR", "/named")
    assert config_folder() == Path("/named")
    monkeypatch.delenv("AROG_CONFIG_DIR")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/base")
    assert config_folder() == Path("/base/arog")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_folder() == tmp_path / ".config" / "arog"


def test_a_folder_in_the_files_place_is_refused(config: Path) -> None:
    key_path().mkdir(parents=True)
    with pytest.raises(NotConfiguredError):
        load_key()
    with pytest.raises(NotConfiguredError):
        load_or_create_key()


def test_a_device_in_the_files_place_is_refused() -> None:
    with pytest.raises(NotConfiguredError, match="not a file"):
        read_private(Path(os.devnull))


def test_a_folder_that_cannot_be_made_is_an_error_with_a_hint(config: Path) -> None:
    config.parent.mkdir(exist_ok=True)
    config.write_text("a file where the folder should be")
    with pytest.raises(NotConfiguredError) as refused:
        load_or_create_key()
    assert "AROG_CONFIG_DIR" in refused.value.hint


def test_a_file_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    load_or_create_key()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    if key_path().stat().st_uid == 0:  # root's files are fit for everybody
        os.chown(key_path(), 54321, -1)
    with pytest.raises(NotConfiguredError, match="another user"):
        load_or_create_key()


def test_nothing_is_left_behind_when_the_name_is_taken(config: Path) -> None:
    assert create_private(config / "a", b"1")
    assert not create_private(config / "a", b"2")
    assert [path.name for path in config.iterdir()] == ["a"]
    assert read_private(config / "a") == b"1"
