"""Public graphs over HTTP: put beside another one by an admin, named by a question."""

from __future__ import annotations

import httpx2
import pytest

from tests.app.api.routes.test_chat import refused
from tests.support.service import OPERATOR, Running, question

pytestmark = pytest.mark.slow

COMMON = (
    "@prefix : <http://c.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    ':t1 rdfs:label "grapefruit" ; :isA :t2 . :t2 rdfs:label "fruit" .\n'
)


def load_common(service: Running, tenant: str = "default") -> None:
    file = service.services.store.settings.data_dir.parent / "common.ttl"
    file.write_text(COMMON)
    policy = '[public]\nfiles = ["common.ttl"]\n'
    service.services.graphs.load(tenant, "common", [file], policy).run(lambda _step, _percent: None)


async def listed(service: Running) -> dict[str, tuple[bool, list[str]]]:
    told = (await service.http.get("/admin/graphs", headers=OPERATOR)).json()["graphs"]
    return {each["name"]: (each["public"], each["beside"]) for each in told}


async def test_an_admin_puts_a_public_graph_beside_another(service: Running) -> None:
    load_common(service)
    path = "/admin/graphs/clinic/beside/common"
    assert (await service.http.put(path, headers=OPERATOR)).status_code == 204
    assert await listed(service) == {"clinic": (False, ["common"]), "common": (True, [])}
    refused(await service.http.put("/admin/graphs/common/beside/clinic", headers=OPERATOR), 422, "not_public")
    refused(await service.http.put("/admin/graphs/clinic/beside/none", headers=OPERATOR), 404, "unknown_graph")
    refused(await service.http.put(path, headers=service.key()), 403, "not_permitted")
    refused(await service.http.put(path, headers=service.key("south", role="admin")), 404, "unknown_graph")
    assert (await service.http.delete(path, headers=OPERATOR)).status_code == 204
    assert (await listed(service))["clinic"] == (False, [])


async def test_a_question_names_public_graphs_that_its_key_may_ask(service: Running) -> None:
    load_common(service)

    async def asked(beside: object, *grants: str) -> httpx2.Response:
        body = question(options={"beside": beside})
        return await service.http.post("/chat", json=body, headers=service.key("default", *grants))

    assert (await asked(["common"], "clinic", "common")).json()["answered"]
    body = refused(await asked(["common"], "clinic"), 404, "unknown_graph")
    assert "stand beside" in body.message
    refused(await asked(["clinic"], "clinic"), 422, "not_public")
    refused(await asked(["common"] * 5, "clinic", "common"), 422, "bad_request")
    refused(await asked(["../clinic"], "clinic"), 422, "bad_request")
