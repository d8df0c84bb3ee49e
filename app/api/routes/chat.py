"""POST /chat and GET /graphs: the routes of those who ask."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.accounts.api_keys import require_grant
from app.api.auth import (
    CallerOf,
    ServicesOf,
)
from app.api.problems import BadRequestError
from app.api.routes.descriptions import CHAT_ERRORS, CHAT_EVENTS, CHAT_EXAMPLES
from app.api.routes.routers import caller_router
from app.api.state import (
    StateOf,
)
from app.api.streaming import HUNG_UP, AnswerStream
from app.chat.question_run import OnStage, no_progress
from client_sdk.protocol import ChatAnswer, ChatRequest, GraphNames
from client_sdk.transport.hang_up import while_connected


@caller_router.post(
    "/chat",
    response_model=ChatAnswer,
    responses={200: CHAT_EVENTS, **CHAT_ERRORS},
    openapi_extra={"requestBody": {"content": {"application/json": {"examples": CHAT_EXAMPLES}}}},
)
async def post_chat(
    request: Request, question: ChatRequest, caller: CallerOf, services: ServicesOf, state: StateOf
) -> ChatAnswer | Response:
    """Asks a graph the last message. The answer is in pseudonyms; the capsule holds their names for the caller.

    Whoever hangs up before the answer is there ends the work on it.
    """
    require_grant(caller, question.graph)
    await run_in_threadpool(services.store.devices.admit, caller, question.public_key)
    if question.messages[-1].role != "user":
        raise BadRequestError(
            "The last of `messages` is not the user's.", "Put the question last, with the role `user`."
        )

    async def answering(on_stage: OnStage) -> ChatAnswer:
        answer = await services.chat.answer(caller, question, on_stage)
        state.metrics.count_answer(answer.strategy or question.strategy, answer)
        return state.pace.in_steps(answer)

    if question.stream:
        return AnswerStream(answering, state.pace)
    answer = await while_connected(request.receive, state.pace.kept(answering(no_progress)))
    return answer or Response(status_code=HUNG_UP)


@caller_router.get("/graphs", response_model=GraphNames)
async def get_graphs(caller: CallerOf, services: ServicesOf) -> GraphNames:
    """The graphs that this key may ask, and the strategies that are offered."""
    names = await run_in_threadpool(services.graphs.names, caller.tenant)
    graphs = [name for name in names if caller.may_ask(name)]
    inspectable = [name for name in graphs if caller.may_inspect(name)]
    return GraphNames(graphs=graphs, inspectable=inspectable, strategies=services.chat.strategies)
