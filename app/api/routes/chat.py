"""Routes for those who ask: POST /chat, ratings of answers, and what a graph contains."""

from __future__ import annotations

from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.accounts.api_keys import require_grant
from app.api.problems import BadRequestError
from app.api.routes.routers import NOT_ADMITTED, GraphName, caller_router, described
from app.api.state import CallerOf, ServicesOf, StateOf
from app.api.streaming import HUNG_UP, AnswerStream
from app.chat.question_run import OnStage, no_progress
from client_sdk.protocol import (
    AnswerRated,
    AnswerRating,
    BrowseRequest,
    ChatAnswer,
    ChatRequest,
    GraphExcerpt,
    GraphNames,
    GraphSuggestions,
    GraphTable,
    TableRequest,
)
from client_sdk.transport.hang_up import while_connected

CHAT_EXAMPLES: Final = {
    "first": {
        "summary": "A first question; without a public key the answer stays in pseudonyms",
        "value": {
            "graph": "clinic",
            "messages": [{"role": "user", "content": "How many patients lie on the ward of Nurse Ida Holm?"}],
        },
    },
    "follow_up": {
        "summary": "A follow-up: the assistant's turn goes back as the service sent it",
        "value": {
            "graph": "clinic",
            "conversation": "q3hX0b1v8RkW2nTz5mYc7dLs",
            "messages": [
                {"role": "user", "content": "Who is the doctor of Nora Lindqvist?"},
                {"role": "assistant", "content": "It is Eq7f2k."},
                {"role": "user", "content": "Which other patients has he?"},
            ],
            "strategy": "auto",
            "options": {"width": 3, "depth": 3},
            "public_key": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo",
        },
    },
}
_CHAT_EVENTS: Final[dict[str, Any]] = {
    "description": "the answer; with `stream`, server-sent events: docs/api.md lists them",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "description": "one event of the stream",
                "required": ["event", "data"],
                "properties": {
                    "event": {"enum": ["stage", "text", "evidence", "usage", "answer", "error"]},
                    "data": {"type": "string", "contentMediaType": "application/json"},
                },
            }
        }
    },
}
_OF_A_GRAPH: Final = {
    404: "unknown_graph (not there, or no grant) or unknown_conversation",
    409: "conversation_busy: ask again",
}
_CHAT_ERRORS: Final = NOT_ADMITTED | described({**_OF_A_GRAPH, 502: "model_unavailable", 504: "deadline"})
_BROWSE_ERRORS: Final = described(
    {403: "not_permitted: it takes the grant inspect:GRAPH; device_not_admitted", **_OF_A_GRAPH}
)
_TABLE_ERRORS: Final = _BROWSE_ERRORS | described({422: "unknown_column: no such column, or not for that"})
_RATING_ERRORS: Final = described(
    {
        404: "unknown_conversation (not there, another key's, or expired), not_ratable (no such answer in it, or too "
        "long ago) or unknown_graph",
        409: "conversation_busy: send it again",
    }
)


@caller_router.post(
    "/chat",
    response_model=ChatAnswer,
    responses={200: _CHAT_EVENTS, **_CHAT_ERRORS},
    openapi_extra={"requestBody": {"content": {"application/json": {"examples": CHAT_EXAMPLES}}}},
)
async def post_chat(
    request: Request, question: ChatRequest, caller: CallerOf, services: ServicesOf, state: StateOf
) -> ChatAnswer | Response:
    """Asks a graph the last message. The answer is in pseudonyms; the capsule contains their names for the caller.

    If the caller closes the connection, the work on the answer ends.
    """
    require_grant(caller, question.graph)
    await run_in_threadpool(services.store.devices.admit, caller, question.public_key)
    if question.messages[-1].role != "user":
        raise BadRequestError(
            "The last of `messages` is not the user's.", "Put the question last, with the role `user`."
        )

    if caller.is_person:
        # Nobody who has signed in is several persons, whose budgets and ratings would count apart.
        question = question.model_copy(update={"options": question.options.model_copy(update={"person": ""})})

    async def answering(on_stage: OnStage) -> ChatAnswer:
        answer = await services.chat.answer(caller, question, on_stage)
        state.metrics.count_answer(answer.strategy or question.strategy, answer)
        return state.pace.in_steps(answer)

    if question.stream:
        return AnswerStream(answering, state.pace)
    answer = await while_connected(request.receive, state.pace.kept(answering(no_progress)))
    return answer or Response(status_code=HUNG_UP)


@caller_router.post("/ratings", responses=_RATING_ERRORS)
def rate_answer(rating: AnswerRating, caller: CallerOf, services: ServicesOf) -> AnswerRated:
    """Rates an answer of the caller's own conversation as right or wrong; later questions of this key learn from it.

    A rating may be sent again; the last one for an answer counts. `correct` gives the right names for a wrong answer:
    they are looked up in the service and not kept.
    """
    return services.ratings.rate(caller, rating)


@caller_router.get("/graphs")
def get_graphs(caller: CallerOf, services: ServicesOf) -> GraphNames:
    """Lists the graphs that this key may ask, those it may inspect, and the strategies that are offered."""
    graphs = [name for name in services.graphs.names(caller.tenant) if caller.may_ask(name)]
    inspectable = [name for name in graphs if caller.may_inspect(name)]
    return GraphNames(graphs=graphs, inspectable=inspectable, strategies=services.chat.strategies)


@caller_router.get("/graphs/{name}/suggestions", responses=_BROWSE_ERRORS)
async def suggest_questions(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphSuggestions:
    """Returns up to three questions without names that this graph can answer; the service has tested each once."""
    require_grant(caller, name)
    return await services.suggester.suggest(caller, name)


@caller_router.post("/graphs/{name}/table", responses=_TABLE_ERRORS)
def table_of_graph(name: GraphName, wanted: TableRequest, caller: CallerOf, services: ServicesOf) -> GraphTable:
    """Returns the kinds of a graph, and the things of one kind as rows: sorted, filtered, with counts for a column.

    Names are sealed to the caller's key. Only with the grant `inspect:GRAPH`, or for an admin.
    """
    require_grant(caller, name)
    services.store.devices.admit(caller, wanted.public_key)
    return services.browser.table(caller, name, wanted)


@caller_router.post("/graphs/{name}/browse", responses=_BROWSE_ERRORS)
def browse_graph(name: GraphName, wanted: BrowseRequest, caller: CallerOf, services: ServicesOf) -> GraphExcerpt:
    """Returns the things of a name, or one thing with its facts; names are sealed to the caller's key.

    Only with the grant `inspect:GRAPH`, or for an admin.
    """
    require_grant(caller, name)
    services.store.devices.admit(caller, wanted.public_key)
    return services.browser.excerpt(caller, name, wanted)
