"""Sends one HTTP request to an OpenAI-compatible endpoint, without retries; only this module uses `openai`."""

from __future__ import annotations

import datetime as dt
import errno
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, cast

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.llm.endpoint.request_body import Completion
from app.llm.reasoner import ReasonerRefusedError, ReasonerUnavailableError, ReplyUnusableError
from client_sdk.protocol.service import retry_after_s, seconds_of

if TYPE_CHECKING:
    import openai

MAX_WHITE_SPACE = 64  # Characters in a row; after so many a reply is given up, as constrained decoding may never end.
MAX_REPLY_BYTES = 4_194_304
# A pool of connections searches all of them for each request, so several small pools are faster than a large one.
POOLS, POOL_SIZE = 16, 16
_FOR_NOW = (408, 409, 429)
_NO_MONEY = "insufficient_quota"  # The code of a status 429 that waiting does not help against.
_COUNTS = ("prompt_tokens", "completion_tokens")
# The headers that a request needs. The openai package adds others, which reveal the platform, versions and
# OPENAI_ORG_ID; they are removed.
_HEADERS = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection", "authorization"}
)


class EndpointRateLimitError(ReasonerUnavailableError):
    """The endpoint asks to try again later (status 429, or a Retry-After).

    `retry_after_s`: the seconds that it asks to wait, None if it states none.
    """

    def __init__(self, text: str, retry_after_s: float | None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class _Part(BaseModel):
    """Base of the models of a reply: they have the fields that are read, and others are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Message(_Part):
    content: str | None = None


class _Choice(_Part):
    message: _Message
    finish_reason: str | None = None


class _Streamed(_Part):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _ChatReply(_Part):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None  # An implausible count is no reason to refuse a reply.


class _Chunk(_Part):
    choices: list[_Streamed] = []
    usage: Any = None


class _Error(_Part):
    """A body with status 200 that is an error: nested (`{"error": {...}}`) or flat (`{"object": "error", ...}`)."""

    error: Any = None
    object: str | None = None

    @property
    def is_one(self) -> bool:
        return bool(self.error) or self.object == "error"


class HttpTransport:
    """Sends requests to one endpoint.

    Promise: a request has exactly the given body, and only the headers that HTTP needs, the key and `User-Agent:
    arog`. Errors quote nothing of a reply, because a provider's error body may hold the prompt.
    """

    def __init__(self, url: str, api_key: str = "") -> None:
        # Imported here because it takes a second, which commands and services without an endpoint need not wait.
        import openai

        trusted = httpx2.create_ssl_context()
        # Local servers accept any key, but the package refuses an empty one.
        self._clients = [
            openai.AsyncOpenAI(
                base_url=url, api_key=api_key or "none", max_retries=0, timeout=None, http_client=_pool(trusted)
            )
            for _ in range(POOLS)
        ]
        self._open = [0] * POOLS

    async def send(self, body: bytes) -> Completion:
        """Sends `body` once and returns the completion; cancelling the call closes its connection.

        Raises ReasonerUnavailableError, ReasonerRefusedError, ReplyUnusableError.
        """
        with self._least_pool() as client:
            return await _exchange(client, body)

    async def close(self) -> None:
        for client in self._clients:
            await client.close()

    @contextmanager
    def _least_pool(self) -> Iterator[openai.AsyncOpenAI]:
        """Yields the client of the first pool with room, so that few connections stay open if few are needed."""
        at = next((at for at, held in enumerate(self._open) if held < POOL_SIZE), self._open.index(min(self._open)))
        self._open[at] += 1
        try:
            yield self._clients[at]
        finally:
            self._open[at] -= 1


def _pool(trusted: ssl.SSLContext) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=trusted,
        # No limits here: the queue limits open requests, and the caller keeps the deadline. The client's own timeouts
        # would count from one byte to the next.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        timeout=None,
        event_hooks={"request": [_strip_headers]},
    )


async def _exchange(client: openai.AsyncOpenAI, body: bytes) -> Completion:
    import openai

    try:
        response = await _post(client, body)
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return await _read_stream(client, response)
            return _completion_of(await _read_whole(response))
        finally:
            await response.aclose()
    except openai.OpenAIError as error:
        raise _typed(error) from None
    except httpx2.HTTPError:
        raise ReasonerUnavailableError("the endpoint broke off, or its answer could not be unpacked") from None


async def _post(client: openai.AsyncOpenAI, body: bytes) -> httpx2.Response:
    """Sends the request and returns the response, whose body has not been read yet."""
    import openai

    response = await client.post(
        "/chat/completions",
        cast_to=httpx2.Response,
        content=body,
        # Redirects are not followed, because the body was approved for this endpoint only.
        options={"headers": {"Content-Type": "application/json"}, "follow_redirects": False},
        stream=True,
        stream_cls=openai.AsyncStream[Any],
    )
    return cast(httpx2.Response, response)


async def _read_stream(client: openai.AsyncOpenAI, response: httpx2.Response) -> Completion:
    import openai

    content, tail, finish_reason, usage = "", "", "", None
    stream = openai.AsyncStream(cast_to=object, response=response, client=client)
    try:
        async for data in stream:
            chunk = _chunk_of(data)
            usage = chunk.usage or usage
            for choice in chunk.choices[:1]:
                piece = choice.delta.content or ""
                content, tail = content + piece, (tail + piece)[-MAX_WHITE_SPACE:]
                finish_reason = choice.finish_reason or finish_reason
            if len(tail) == MAX_WHITE_SPACE and tail.isspace():
                raise ReplyUnusableError("the endpoint sends white space without end")
            if len(content) > MAX_REPLY_BYTES:
                raise ReplyUnusableError("the endpoint's reply has no end")
    except ValueError:
        raise ReplyUnusableError("the endpoint's stream is no JSON") from None
    finally:
        await stream.close()
    return _completion(content, finish_reason, usage, is_streamed=True)


async def _strip_headers(request: httpx2.Request) -> None:
    for name in [name for name in request.headers if name not in _HEADERS]:
        del request.headers[name]
    request.headers["User-Agent"] = "arog"


async def _read_whole(response: httpx2.Response) -> bytes:
    raw = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            raw += piece
            if len(raw) > MAX_REPLY_BYTES:
                raise ReplyUnusableError("the endpoint's reply has no end")
    return bytes(raw)


def _completion_of(raw: bytes) -> Completion:
    try:
        reply = _ChatReply.model_validate_json(raw)
    except ValidationError:
        if _is_error(raw):
            raise ReasonerUnavailableError("the endpoint answered with an error in place of a completion") from None
        raise ReplyUnusableError("the endpoint's answer is no chat completion, or gives no choice") from None
    choice = reply.choices[0]
    return _completion(choice.message.content or "", choice.finish_reason or "", reply.usage)


def _completion(content: str, finish_reason: str, usage: object, is_streamed: bool = False) -> Completion:
    counts = [usage.get(name) for name in _COUNTS] if isinstance(usage, dict) else [None, None]
    prompt, written = (count if type(count) is int else None for count in counts)
    is_odd = not isinstance(usage, dict | None) or any(type(count) not in (int, type(None)) for count in counts)
    return Completion(content, finish_reason, prompt, written, has_odd_usage=is_odd, is_streamed=is_streamed)


def _is_error(raw: bytes) -> bool:
    try:
        return _Error.model_validate_json(raw).is_one
    except ValidationError:
        return False


def _chunk_of(data: object) -> _Chunk:
    """Returns `data` as a chunk of a stream.

    Raises ValueError if it is not one, ReasonerUnavailableError if it is an error.
    """
    if isinstance(data, dict) and _Error.model_validate(data).is_one:
        raise ReasonerUnavailableError("the endpoint sent an error inside its stream")
    return _Chunk.model_validate(data)


def _unreachable(reason: str) -> ReasonerUnavailableError:
    if not reason:
        return ReasonerUnavailableError("the endpoint could not be reached, or its answer could not be read")
    error = ReasonerUnavailableError(reason)
    error.reason = reason
    return error


def wait_asked_s(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Returns the seconds that the headers `retry-after-ms` or `Retry-After` ask to wait; None if both are missing."""
    thousandths = seconds_of(headers.get("retry-after-ms"))
    return retry_after_s(headers.get("retry-after"), now) if thousandths is None else thousandths / 1000


def _typed(error: openai.OpenAIError) -> ReasonerUnavailableError | ReasonerRefusedError:
    import openai

    if not isinstance(error, openai.APIStatusError):
        return _unreachable(connection_reason(error))
    status = error.status_code
    wait_s = wait_asked_s(error.response.headers, dt.datetime.now(dt.UTC))
    said = f"the endpoint answered with status {status}"
    typed: ReasonerUnavailableError | ReasonerRefusedError
    if (status in _FOR_NOW and error.code != _NO_MONEY) or (status >= 500 and wait_s is not None):
        typed = EndpointRateLimitError(said, wait_s)
    elif status >= 500:
        typed = ReasonerUnavailableError(said)
    else:
        typed = ReasonerRefusedError(f"the endpoint refused the request with status {status}")
    typed.status = status
    return typed


_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN)


def connection_reason(error: BaseException) -> str:
    """Returns the reason why a connection failed, from the error or its causes; empty if none of them is known."""
    return next((reason for each in _causes(error) if (reason := _reason_of(each))), "")


def _reason_of(error: BaseException) -> str:
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case socket.gaierror():
            return "its host name is not known"
        case ssl.SSLCertVerificationError():
            return "its certificate is not trusted"
        case ssl.SSLError():
            return "no TLS connection came about"
        case OSError() if error.errno in _NO_ROUTE:
            return "there is no route to its host"
        case _:
            return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields the error and all its causes.

    Members of exception groups are among them: if a host has several addresses, each may fail for its own reason.
    """
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in error.exceptions:
                yield from _causes(each)
        error = error.__cause__ or error.__context__
