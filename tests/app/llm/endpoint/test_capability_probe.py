"""The probe: what an endpoint does, and not its status, says how it is asked; and a probe is constant."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.llm.endpoint.capability_probe import WORD, Capabilities, probe_body
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.request_body import MODES, Dialect, RequestTemplate
from app.llm.reasoner import ReasonerUnavailableError
from tests.support.processes.model_server import Canned, ModelServer, Request, completion, failure, in_turn

GOOD = json.dumps({"word": WORD})
WHITE = json.dumps({"word": "white"})
pytestmark = pytest.mark.usefixtures("no_waiting")


def serves(
    *modes: str,
    refuses: tuple[str, ...] = (),
    status: int = 400,
    streams: bool = False,
    plain: bool = True,
    usage: bool = True,
) -> Callable[[Request], Canned]:
    """A server that enforces schemas in `modes`, refuses others with `status`, and ignores the rest."""

    def reply(request: Request) -> Canned:
        body = request.json
        if plain != ("max_tokens" in body):
            return failure(400, "unsupported parameter")
        mode = mode_of(body)
        if mode in refuses:
            return failure(status, "unsupported response format")
        content = GOOD if mode in modes else WHITE if mode != "prompt" else "It is white."
        if not (streams and body.get("stream")):
            return completion(content, usage=(9, 3) if usage else None)
        chunks: list[dict[str, Any]] = [{"choices": [{"delta": {"content": content}, "finish_reason": "stop"}]}]
        chunks += [{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}] if usage else []
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return Canned(("".join(lines) + "data: [DONE]\n\n").encode(), content_type="text/event-stream")

    return reply


def mode_of(body: dict[str, Any]) -> str:
    if "structured_outputs" in body:
        return "structured_outputs"
    wanted = body.get("response_format", {})
    return "object_schema" if "schema" in wanted else str(wanted.get("type", "prompt"))


async def probed(server: ModelServer, replies: Callable[[Request], Canned], *, vllm: bool = False) -> Capabilities:
    server.replies = replies
    endpoint = ModelEndpoint(server.url, "m", wording=RequestTemplate("m", is_salted=vllm))
    found = await endpoint.probe()
    await endpoint.close()
    assert found.problem or endpoint.wording.dialect == found.dialect
    return found


async def test_an_endpoint_that_enforces_streams_and_counts(server: ModelServer) -> None:
    found = await probed(server, serves("json_schema", streams=True))
    assert found == Capabilities(Dialect("json_schema", streams=True), True, True, True)
    assert len(server.received) == 2


async def test_a_stream_without_usage_is_not_asked_for_where_whole_replies_have_it(server: ModelServer) -> None:
    def replies(request: Request) -> Canned:
        return serves("json_schema", streams=True, usage="stream" not in request.json)(request)

    found = await probed(server, replies)
    assert (found.streams, found.dialect.streams, found.reports_usage) == (True, False, True)


async def test_a_schema_that_is_ignored_with_200_is_seen(server: ModelServer) -> None:
    found = await probed(server, serves())
    assert found == Capabilities(Dialect("json_object"), reports_usage=True)


async def test_vllm_gets_its_own_field_where_the_nested_one_is_ignored(server: ModelServer) -> None:
    found = await probed(server, serves("structured_outputs"), vllm=True)
    assert (found.dialect.mode, found.enforces_schema) == ("structured_outputs", True)


async def test_no_field_of_vllm_goes_to_another_endpoint(server: ModelServer) -> None:
    found = await probed(server, serves("structured_outputs"))
    assert found.dialect.mode == "json_object"
    assert not any({"structured_outputs", "cache_salt"} & set(request.json) for request in server.received)


@pytest.mark.parametrize(
    ("refuses", "mode"),
    [(("json_schema",), "json_object"), (("json_schema", "object_schema", "json_object"), "prompt")],
)  # fmt: skip
@pytest.mark.parametrize("status", [400, 500])
async def test_a_format_that_is_refused_or_breaks_the_server_leads_to_the_next(
    server: ModelServer, refuses: tuple[str, ...], mode: str, status: int
) -> None:
    found = await probed(server, serves(refuses=refuses, status=status, usage=False))
    assert found == Capabilities(Dialect(mode))  # type: ignore[arg-type]


async def test_a_model_that_takes_no_temperature_is_found(server: ModelServer) -> None:
    found = await probed(server, serves("json_schema", plain=False))
    assert found.dialect == Dialect("json_schema", is_plain=False)
    last = server.received[-1].json
    assert "max_completion_tokens" in last
    assert not {"temperature", "seed"} & set(last)


@pytest.mark.parametrize(
    ("canned", "problem"),
    [(failure(401, "Canaria"), "401"), (failure(404, "Canaria"), "404"), (failure(503, "Canaria"), "503"),
     (Canned(b"Canaria"), "no chat completion")],
)  # fmt: skip
async def test_one_that_can_not_be_asked_is_told_in_our_words(
    server: ModelServer, canned: Canned, problem: str
) -> None:
    found = await probed(server, in_turn(canned))
    assert problem in found.problem
    assert "Canaria" not in found.problem


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("streams", [False, True])
def test_a_probe_is_a_constant_of_the_settings(mode: Any, streams: bool) -> None:
    body = json.loads(probe_body(RequestTemplate("m", seed=0), Dialect(mode, streams)))
    (message,) = body["messages"]
    assert message["content"].startswith("Reply with a JSON object whose field `word` holds the colour of fresh snow.")
    assert set(body) <= {
        "model", "temperature", "seed", "max_tokens", "response_format", "structured_outputs", "stream",
        "stream_options", "messages",
    }  # fmt: skip
    assert probe_body(RequestTemplate("m", seed=0), Dialect(mode, streams)) == probe_body(
        RequestTemplate("m", seed=0, is_salted=True), Dialect(mode, streams)
    )


async def test_what_makes_its_findings_doubtful_has_it_probed_anew(server: ModelServer) -> None:
    server.replies = serves("json_schema")
    endpoint = ModelEndpoint(server.url, "m")
    assert endpoint.is_in_doubt
    await endpoint.probe()
    assert not endpoint.is_in_doubt
    server.replies = in_turn(failure(400))
    with pytest.raises(Exception, match="400"):
        await endpoint.complete(b"{}")
    assert endpoint.is_in_doubt
    server.replies = serves(refuses=("json_schema",))
    await endpoint.probe()
    # What may have been one unlucky reply is believed when it is found twice.
    assert (endpoint.wording.dialect.mode, endpoint.is_in_doubt) == ("json_object", True)
    await endpoint.probe()
    assert (endpoint.wording.dialect.mode, endpoint.is_in_doubt) == ("json_object", False)
    await endpoint.close()


async def test_a_probe_that_is_answered_ends_the_rest(server: ModelServer) -> None:
    server.replies = in_turn(failure(500))
    endpoint = ModelEndpoint(server.url, "m")
    for _ in range(2):
        with pytest.raises(ReasonerUnavailableError):
            await endpoint.complete(b"{}")
    assert (endpoint.is_ready, endpoint.is_in_doubt) == (False, True)
    server.replies = serves("json_schema")
    await endpoint.probe()
    assert (endpoint.is_ready, endpoint.is_in_doubt) == (True, False)
    await endpoint.close()
