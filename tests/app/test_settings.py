"""Settings: defaults, what is refused at start, and that no refusal quotes a value."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from app.settings import PREFIX, ConfigurationError, Settings, load_settings, unknown_names

GOOD_KEY = secrets.token_urlsafe(32)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)


def load() -> Settings:
    return load_settings(env_file=None)


def test_the_service_listens_on_loopback_and_reasons_without_a_model_by_default() -> None:
    settings = load()
    assert (settings.host, settings.port, settings.reasoner) == ("127.0.0.1", 8000, "embedded")
    assert settings.admin_key is None
    assert settings.allowed_load_dir is None
    assert settings.database.endswith("data/arog.db")
    assert settings.key_file == Path("data/master.key")


@pytest.mark.parametrize(
    "key", ["change-me", "short", "a" * 64, "please-change-me-to-32-random-characters-012", "<admin key>"]
)  # fmt: skip
def test_an_example_or_simple_admin_key_is_refused_with_a_sentence(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_ADMIN_KEY", key)
    with pytest.raises(
        ConfigurationError, match=r"^AROG_ADMIN_KEY is an example or too simple: set at least"
    ) as caught:
        load()
    assert key not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", ["AROG_MASTER_KEY", "AROG_ENDPOINT_API_KEY"])
def test_other_example_secrets_are_refused_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "v1:change-me")
    with pytest.raises(ConfigurationError, match=f"^{name} still holds the example's words"):
        load()


def test_every_secret_of_the_example_file_is_empty_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path(__file__).parents[2] / "deploy" / "example.env"
    lines = example.read_text().splitlines() if example.exists() else []
    assigned = [line.lstrip("# ").partition("=") for line in lines if "=" in line]
    for name in ("AROG_ADMIN_KEY", "AROG_MASTER_KEY", "AROG_ENDPOINT_API_KEY"):
        for value in (value.strip() for key, _, value in assigned if key == name and value.strip()):
            with monkeypatch.context() as patch:
                patch.setenv(name, value)
                with pytest.raises(ConfigurationError):
                    load()


def test_a_random_admin_key_is_taken_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_ADMIN_KEY", GOOD_KEY)
    settings = load()
    assert settings.admin_key is not None
    assert settings.admin_key.get_secret_value() == GOOD_KEY
    assert GOOD_KEY not in repr(settings)


@pytest.mark.parametrize("name", ["AROG_ADMIN_KEY", "AROG_ENDPOINT_API_KEY"])
def test_a_key_may_lie_in_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key"
    path.write_text(f"{GOOD_KEY}\n")
    path.chmod(0o400)
    monkeypatch.setenv(f"{name}_FILE", str(path))
    key = getattr(load(), name.removeprefix(PREFIX).lower())
    assert key.get_secret_value() == GOOD_KEY
    monkeypatch.setenv(name, GOOD_KEY)
    with pytest.raises(ConfigurationError, match=f"^{name} and {name}_FILE are both set: leave one out$"):
        load()


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        ("change-me", 0o600, "AROG_ADMIN_KEY is an example or too simple"),
        (GOOD_KEY, 0o644, "AROG_ADMIN_KEY_FILE: others may read or change the file"),
        ("", 0o600, "AROG_ADMIN_KEY_FILE: the file is empty"),
        (None, 0o600, "AROG_ADMIN_KEY_FILE: the file can't be read"),
    ],
    ids=["an example", "open to others", "empty", "missing"],  # the key itself is drawn at random
)
def test_a_file_of_a_key_is_checked(
    content: str | None, mode: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    monkeypatch.setenv("AROG_ADMIN_KEY_FILE", str(path))
    with pytest.raises(ConfigurationError, match=f"^{told}") as refused:
        load()
    assert str(path) not in str(refused.value)


def test_generated_keys_are_never_taken_for_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(200):
        monkeypatch.setenv("AROG_ADMIN_KEY", secrets.token_urlsafe(32))
        load()


def test_a_bad_value_is_told_by_setting_and_rule_without_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_PORT", "Nora Lindqvist")
    with pytest.raises(ConfigurationError, match=r"^AROG_PORT ") as caught:
        load()
    assert "Nora" not in str(caught.value)


@pytest.mark.parametrize(
    ("together", "told"),
    [
        ({"REASONER": "endpoint"}, "also needs AROG_ENDPOINT_URL and AROG_ENDPOINT_MODEL"),
        ({"MASTER_KEY": "v1:" + "A" * 43, "MASTER_KEY_FILE": "somewhere"}, "both set"),
        ({"PROFILE": "strict"}, "AROG_PROFILE=strict needs AROG_REASONER=endpoint"),
        ({"REPLY_WORDS": "model"}, "AROG_REPLY_WORDS=model also needs AROG_EXTRACTOR"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    together: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in together.items():
        monkeypatch.setenv(PREFIX + name, value)
    with pytest.raises(ConfigurationError, match=told):
        load()


def test_a_dotenv_file_is_read_and_empty_values_mean_the_default(tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_text("AROG_PORT=9001\nAROG_ADMIN_KEY=\nAROG_UNKNOWN=1\n")
    settings = load_settings(env_file)
    assert settings.port == 9001
    assert settings.admin_key is None


@pytest.mark.parametrize("url", ["foo", "localhost:8001/v1", "http://", "ftp://host/v1", "http://a b"])
def test_an_endpoint_url_that_is_none_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_ENDPOINT_URL", url)
    with pytest.raises(ConfigurationError, match="AROG_ENDPOINT_URL must be a base URL") as caught:
        load()
    assert url not in str(caught.value).replace("http://host/v1", "")


def test_names_that_are_no_settings_are_found_in_the_environment_and_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# AROG_REMARK=1\nexport AROG_LEDGER_DAY=3\nAROG_HOST=x\nOTHER=1\n")
    names = ("AROG_PORTS", "AROG_PORT", "AROG_API_KEY", "PATH")
    assert unknown_names(names, file) == ["AROG_LEDGER_DAY", "AROG_PORTS"]
    assert unknown_names(names, tmp_path / "none") == ["AROG_PORTS"]


FALLBACKS = '[{"url": "http://spare/v1", "model": "small", "kind": "vllm", "prompt_price": 0.1}]'


def test_fallbacks_follow_the_first_endpoint_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().endpoints == ()
    for name, value in {"URL": "http://h/v1", "MODEL": "m", "PROMPT_PRICE": "2", "FALLBACKS": FALLBACKS}.items():
        monkeypatch.setenv(f"AROG_ENDPOINT_{name}", value)
    first, second = load().endpoints
    assert (first.url, first.model, first.kind, first.prompt_price) == ("http://h/v1", "m", "openai", 2.0)
    assert (second.url, second.model, second.kind, second.prompt_price) == ("http://spare/v1", "small", "vllm", 0.1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Canaria", "AROG_ENDPOINT_FALLBACKS must be `embedded`, `none`, or a JSON list"),
        ("{}", "AROG_ENDPOINT_FALLBACKS"),
        ('[{"url": "http://h/v1"}]', r"AROG_ENDPOINT_FALLBACKS \(0.model\) "),
        ('[{"url": "Canaria", "model": "m"}]', r"AROG_ENDPOINT_FALLBACKS \(0.url\) must be a base URL"),
        ('[{"url": "http://h/v1", "model": "m", "Canaria": 1}]', r"AROG_ENDPOINT_FALLBACKS \(0\) "),
        ('[{"url": "http://h/v1", "model": "m", "api_key": "change-me-Canaria"}]', r"\(0.api_key\) still holds"),
    ],
)
def test_a_bad_fallback_is_told_by_its_place(text: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_ENDPOINT_FALLBACKS", text)
    with pytest.raises(ConfigurationError, match=told) as caught:
        load()
    assert "Canaria" not in str(caught.value)
    assert caught.value.__cause__ is None
