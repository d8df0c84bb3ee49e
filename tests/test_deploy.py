"""Dockerfile and deploy/ fit the code: no container engine is needed to see that."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import PREFIX, ConfigurationError, Settings, load_settings
from app.wiring.endpoints import endpoints_of

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
EXAMPLE = (DEPLOY / "example.env").read_text("utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
COMPOSE_FILES = sorted(DEPLOY.glob("compose*.yml"))
KUBERNETES = DEPLOY / "kubernetes.yml"
MANIFESTS = {each["kind"]: each for each in yaml.safe_load_all(KUBERNETES.read_text("utf-8"))}
KNOWN = {PREFIX + name.upper() for name in Settings.model_fields}


def services(path: Path) -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(path.read_text("utf-8"))["services"])


def instructions(word: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in DOCKERFILE.splitlines() if line.startswith(word + " ")]


@pytest.mark.parametrize(
    "path", [*COMPOSE_FILES, KUBERNETES, DEPLOY / "example.env", ROOT / "Dockerfile"], ids=lambda p: p.name
)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+", path.read_text("utf-8")))
    assert named
    assert named <= KNOWN


def test_the_example_names_every_setting() -> None:
    assert set(re.findall(rf"\b{PREFIX}[A-Z_]+", EXAMPLE)) >= KNOWN


@pytest.mark.parametrize("name", ["AROG_ADMIN_KEY", "AROG_ENDPOINT_API_KEY"])
def test_the_secrets_of_the_example_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = next(line for line in EXAMPLE.splitlines() if line.startswith(f"# {name}="))
    monkeypatch.setenv(name, line.split("=", 1)[1])
    with pytest.raises(ConfigurationError, match=name):
        load_settings(env_file=None)


def test_the_example_as_it_stands_gives_the_embedded_default(tmp_path: Path) -> None:
    copy = tmp_path / ".env"
    copy.write_text(EXAMPLE, "utf-8")
    assert load_settings(env_file=copy).reasoner == "embedded"


def test_what_the_dockerfile_copies_exists_and_passes_the_ignore_file() -> None:
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    ours = [words for words in instructions("COPY") if not words[0].startswith("--from=")]
    # The page is built in a stage of its own, of a part of `app`.
    copied = [path for words in ours for path in words[:-1] if not path.startswith("app/api/page")]
    assert sorted(copied) == sorted(let_in)
    assert all((ROOT / path).exists() for path in copied)


def test_the_image_holds_the_page_built_of_its_lock_file() -> None:
    page = DOCKERFILE.split("AS page")[1].split("\nFROM")[0]
    assert "npm ci" in page
    assert ["--from=page", "/page/dist", "app/api/page/dist"] in instructions("COPY")
    let_out = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {"app/api/page/node_modules", "app/api/page/dist"} <= set(let_out)


def test_the_image_runs_without_root_and_looks_after_its_health() -> None:
    assert instructions("USER") == [["10001:10001"]]
    assert "/healthz" in DOCKERFILE.split("HEALTHCHECK")[1]
    assert instructions("FROM")[-1] == ["python:3.11-slim"]
    assert 'CMD ["arog", "serve"' in DOCKERFILE


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_images_are_pinned_and_containers_have_no_more_rights_than_they_need(path: Path) -> None:
    for name, service in services(path).items():
        if "image" not in service:
            assert name in services(DEPLOY / "compose.yml")
            continue
        assert re.search(r":v?\d+\.\d+", service["image"]), name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert not service.get("privileged", False)


def test_the_service_has_a_read_only_root_and_listens_on_loopback_alone() -> None:
    service = services(DEPLOY / "compose.yml")["arog"]
    assert service["read_only"] is True
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "data:/data" in service["volumes"]
    assert service["ulimits"]["core"] == 0


def test_secrets_come_from_files_and_stand_in_no_compose_file() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yml").read_text("utf-8"))
    assert set(compose["secrets"]) == set(compose["services"]["arog"]["secrets"]) == {"admin_key", "master_key"}
    ignored = (ROOT / ".gitignore").read_text("utf-8")
    assert "/deploy/secrets/" in ignored
    for path in COMPOSE_FILES:
        for service in services(path).values():
            variables = service.get("environment", {})
            assert not {"AROG_ADMIN_KEY", "AROG_MASTER_KEY", "AROG_ENDPOINT_API_KEY"} & set(variables)


def test_the_model_server_is_on_a_network_that_leads_nowhere_else() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.vllm.yml").read_text("utf-8"))
    vllm = compose["services"]["vllm"]
    assert compose["networks"]["model"]["internal"] is True
    assert vllm["networks"] == ["model"]
    assert "ports" not in vllm


def test_the_pod_has_no_more_rights_than_it_needs() -> None:
    pod = MANIFESTS["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert re.search(r":\d+\.\d+", container["image"])
    assert container["resources"]["limits"]["memory"]
    # A service of this name would set AROG_PORT to an address.
    assert pod["enableServiceLinks"] is False


def test_the_pod_reads_its_secrets_from_files_that_others_can_not_read() -> None:
    pod = MANIFESTS["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    given = {each["name"]: each["value"] for each in container["env"]}
    assert not {"AROG_ADMIN_KEY", "AROG_MASTER_KEY", "AROG_ENDPOINT_API_KEY"} & set(given)
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert all(given[name].startswith(mounts["keys"]) for name in ("AROG_ADMIN_KEY_FILE", "AROG_MASTER_KEY_FILE"))
    (secret,) = (each["secret"] for each in pod["volumes"] if "secret" in each)
    assert secret["defaultMode"] & 0o027 == 0
    templates = MANIFESTS["StatefulSet"]["spec"]["volumeClaimTemplates"]
    assert set(mounts) == {each["name"] for each in pod["volumes"]} | {each["metadata"]["name"] for each in templates}
    assert mounts["data"] == "/data"


def test_the_pod_is_looked_after_and_reaches_nothing() -> None:
    (container,) = MANIFESTS["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    paths = {name: container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")}
    assert paths == {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    policy = MANIFESTS["NetworkPolicy"]["spec"]
    assert (policy["egress"], policy["policyTypes"]) == ([], ["Ingress", "Egress"])
    labels = MANIFESTS["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"] == MANIFESTS["Service"]["spec"]["selector"] == labels


VLLM_FLAGS = {
    flag: value
    for flag, _, value in (
        each.partition("=") for each in services(DEPLOY / "compose.vllm.yml")["vllm"]["command"]
    )
}  # fmt: skip


def test_the_model_server_enforces_schemas_compactly_and_caches_prefixes() -> None:
    assert "--enable-prefix-caching" in VLLM_FLAGS
    told = json.loads(VLLM_FLAGS["--structured-outputs-config"])
    # Other backends don't know the second.
    assert (told["backend"], told["disable_any_whitespace"]) == ("xgrammar", True)
    assert int(VLLM_FLAGS["--max-model-len"]) >= 8 * Settings.model_fields["endpoint_max_tokens"].default


def test_the_service_salts_the_cache_and_queues_what_the_model_server_can_not_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = services(DEPLOY / "compose.vllm.yml")["arog"]
    for name, value in service["environment"].items():
        monkeypatch.setenv(name, value)
    settings = load_settings(env_file=None)
    (endpoint,) = endpoints_of(settings)
    assert endpoint.wording.is_salted
    assert endpoint.wording.model == VLLM_FLAGS["--served-model-name"]
    assert settings.endpoint_concurrency == int(VLLM_FLAGS["--max-num-seqs"])
    assert set(service["networks"]) == {"default", "model"}
