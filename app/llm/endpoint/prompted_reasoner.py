"""Defines PromptedReasoner, which asks models at OpenAI-compatible endpoints (docs/reasoner_contract.md).

It accepts a reply only if all its words and numbers were offered in the request, also if no schema was enforced.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.answer_words import MAX_WORDS, MORE, NONE, WORDS, Tree, TreeError, flat, step_reply_of
from app.llm.endpoint.closed_schemas import choices_of, values_of, words_offered
from app.llm.endpoint.request_body import (
    BLANK,
    CUT_OFF,
    EMPTY,
    LONG,
    MISFIT,
    MISSING,
    NO_JSON,
    NOT_OFFERED,
    READ,
    CompletesChats,
    Completion,
    body_of,
    checked_tokens,
    input_text,
    least_tokens,
    plausible_tokens,
    statics_of,
    text_read,
)
from app.llm.endpoint.transport import MAX_WHITE_SPACE
from app.llm.reasoner import (
    ReasonerRefusedError,
    ReasonerUnavailableError,
    Reply,
    ReplyUnusableError,
    Retry,
    Tokens,
)
from app.llm.tasks import (
    AnswerInput,
    AnswerReply,
    ChooseInput,
    ChooseReply,
    DialogueReply,
    NameReply,
    ReplyT,
    StepInput,
    StepReply,
    Task,
    TaskKind,
    TaskModel,
)
from app.privacy.safe_text import Egress

_WORD = re.compile(r"[^\W_]+")
_GAP: Final = "?"


class MisfitError(Exception):
    """A reply can't be used.

    `complaints` say why, in fixed sentences that can be sent back to the model; `quoted`: words of the reply behind
    them, only of those that the request shows.
    """

    def __init__(self, *complaints: str, quoted: Sequence[str] = ()) -> None:
        super().__init__()
        self.complaints, self.quoted = complaints, tuple(quoted)


class _Answer(BaseModel):
    """The wire format of an answer; additional fields are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    answer: Any
    thought: str = ""
    sufficient: bool = True


def read_reply(task: Task[ReplyT], completion: Completion) -> ReplyT:
    """Returns the completion as a reply to `task`. Raises MisfitError if it does not fit the schema or the offer."""
    found = json_object_in(completion)
    model = task.kind.reply_model
    try:
        if issubclass(model, StepReply | AnswerReply):
            return cast(ReplyT, _answer(task.input, _Answer.model_validate(found)))
        known = {name: value for name, value in found.items() if name in model.model_fields}
        return _of_offered(task.input, model.model_validate(known))
    except (ValidationError, TreeError, RecursionError):
        raise MisfitError(MISFIT) from None


def wire_words(reply: TaskModel, tree: Tree) -> str:
    """Returns the JSON text that a model sends for the answer `tree`; used by programs that imitate a model."""
    told = {"thought": reply.thought, "sufficient": reply.sufficient} if isinstance(reply, AnswerReply) else {}
    return json.dumps(told | {"answer": tree})


def _answer(given: TaskModel, said: _Answer) -> TaskModel:
    tree = flat(said.answer)
    if isinstance(given, StepInput):
        choices = choices_of(given)
        if len(tree) == 1 and tree[0] in choices:
            return StepReply(action="answer", answer=[choices[tree[0]]])
        return _step_reply(tree, given, given.hint)
    if not said.sufficient:
        return AnswerReply(thought=said.thought, sufficient=False, answer=[])
    found = _step_reply(tree, cast(AnswerInput, given))
    return AnswerReply(thought=said.thought, sufficient=bool(found.answer), answer=found.answer)


def _step_reply(tree: Tree, given: StepInput | AnswerInput, hint: str = "") -> StepReply:
    """Returns the reply that `tree` means as words that were offered, also where the model split or joined them.

    Raises MisfitError, which quotes the words, if they are no answer.
    """
    words = _of_offered_words(tree, given)
    try:
        return step_reply_of(words, hint)
    except TreeError as error:
        if error.at < 0:
            raise
        wanted = next((each for each in MISSING if each in error.wants), "")
        wanted = "" if "" in error.wants else wanted
        quoted = (*words[: error.at], _GAP, *words[error.at :])
        raise MisfitError(MISFIT, MISSING[wanted], quoted=quoted) from None


def _of_offered_words(tree: Tree, given: StepInput | AnswerInput) -> Tree:
    """Returns `tree` as words that were offered, also where the model split or joined them or wrote brackets.

    `["reach(Eq7f2k, late", "fee)"]` becomes `["reach", "Eq7f2k", "late fee"]`. Raises MisfitError if anything else is
    left, or if nothing that was offered is used.
    """
    offered = words_offered(given)
    known = {*WORDS, *offered}
    words = tree if known.issuperset(tree) else _cut(" ".join(tree), known)
    if len(words) > MAX_WORDS:
        raise MisfitError(LONG)
    is_idle = {*words}.isdisjoint(offered) and words not in ([NONE], [MORE])
    if not words or is_idle or not known.issuperset(words):
        raise MisfitError(NOT_OFFERED, READ, quoted=_quoted(words, known, given))
    return words


def _cut(text: str, known: AbstractSet[str]) -> Tree:
    """Returns the known words in `text`, the longest first, and what stands between them."""
    longest = sorted(known, key=len, reverse=True)
    bounded = (rf"(?<!\w){re.escape(word)}(?!\w)" if word[-1:].isalnum() else re.escape(word) for word in longest)
    found: Tree = []
    end = -1
    for piece in re.finditer(rf"({'|'.join(bounded)})|[\s,()\[\]\"']+|(.)", text, re.DOTALL):
        if piece[2] and piece.start() == end:
            found[-1] += piece[2]
        elif piece[1] or piece[2]:
            found.append(piece[0])
        end = piece.end() if piece[2] else -1
    return found


def _quoted(words: Tree, known: AbstractSet[str], given: StepInput | AnswerInput) -> list[str]:
    """Returns `words` with a question mark for each that was not offered, or behind it if the request shows it.

    Promise: it holds no word that the request does not show, so that a model does not learn which words the guard
    would block.
    """
    shown = {*_WORD.findall(input_text(given, "tree"))}
    return [word if word in known else f"{word}{_GAP}" if word in shown else _GAP for word in words]


def _of_offered(given: TaskModel, reply: ReplyT) -> ReplyT:
    """Returns `reply` without numbers that were not offered.

    Raises MisfitError if a choice among candidates has none left.
    """
    offered = values_of(given).get("numbers", [])
    if isinstance(reply, ChooseReply) and isinstance(given, ChooseInput):
        kept = [number for number in reply.choices if number in offered]
        if reply.choices and offered and not kept and 0 not in reply.choices:
            raise MisfitError(NOT_OFFERED)
        return cast(ReplyT, ChooseReply(choices=kept))
    if isinstance(reply, DialogueReply):
        return cast(ReplyT, reply.model_copy(update={"facts": [at for at in reply.facts if at in offered]}))
    if isinstance(reply, NameReply):
        return cast(ReplyT, NameReply(concepts=[each for each in reply.concepts if each.number in offered]))
    return reply


def json_object_in(completion: Completion) -> dict[str, Any]:
    """Returns the JSON object that a completion consists of. Raises MisfitError if it is anything else."""
    content = _bare(completion.content)
    if not content:
        raise MisfitError(EMPTY)
    if completion.finish_reason == "length":
        raise MisfitError(CUT_OFF)
    if " " * MAX_WHITE_SPACE in content.replace("\n", " ").replace("\t", " ").replace("\r", " "):
        raise MisfitError(BLANK)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise MisfitError(NO_JSON) from None
    if not isinstance(found, dict):
        raise MisfitError(NO_JSON)
    return found


def _bare(content: str) -> str:
    """Returns the JSON text alone, without a code fence around it or a `<think>` part before it."""
    text = content.strip()
    if text.startswith("<think>"):
        text = text.partition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    return text


class PromptedReasoner:
    """Asks a model each task by one chat completion under a JSON schema.

    `fallbacks`: endpoints that are asked in order if `endpoint` can't be reached, failed too often or refuses. A reply
    that can't be used is asked for once more, with the reason. Both are returned as a Retry, so that the guard and the
    ledger check them like any request. `salt_key`: makes a salt for each tenant, so that they share no prefix cache.
    """

    def __init__(
        self,
        endpoint: CompletesChats,
        embedder: Embedder,
        fallbacks: Sequence[CompletesChats] = (),
        salt_key: bytes = b"",
    ) -> None:
        self._endpoints, self._embedder, self._salt_key = (endpoint, *fallbacks), embedder, salt_key

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return tuple(
            dict.fromkeys(data for endpoint in self._endpoints for data in statics_of(kind, endpoint.wording))
        )

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        position = self._position(task.manner.endpoint)
        return body_of(task, self._endpoints[position].wording, self._salt_of(task.manner.tenant), position)

    @property
    def longest_reply(self) -> int:
        return max(endpoint.wording.max_tokens for endpoint in self._endpoints)

    @property
    def is_capable(self) -> bool:
        return self._endpoints[self._position(0)].wording.dialect.form == "tree"

    def tokens_in(self, egress: Egress) -> int:
        return self._embedder.count_tokens(text_read(egress.body))

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        endpoint = self._endpoints[egress.endpoint]
        try:
            completion = await endpoint.complete(egress.body, task.manner.tenant)
        except (ReasonerUnavailableError, ReasonerRefusedError):
            if egress.endpoint + 1 == len(self._endpoints):
                raise
            return Retry(replace(task.manner, endpoint=egress.endpoint + 1))
        except ReplyUnusableError:
            if not _may_repair(task):
                raise
            return Retry(replace(task.manner, complaints=(EMPTY,)))
        tokens = self._tokens(endpoint, egress, completion)
        try:
            return Reply(read_reply(task, completion), tokens, completion.content)
        except MisfitError as misfit:
            return _repair(task, misfit, tokens, completion.content)

    def _position(self, first: int) -> int:
        """Returns the position of the first endpoint, from `first` on, that may be asked now; `first` if none may."""
        ready = (at for at in range(first, len(self._endpoints)) if self._endpoints[at].is_ready)
        return next(ready, first)

    def _salt_of(self, tenant: str) -> str:
        """Returns the tenant's salt: the HMAC of its id under `salt_key`, which only this service can compute.

        It is written in digits, so that the guard never takes it for a word.
        """
        if not self._salt_key:
            return ""
        return str(int.from_bytes(hmac.digest(self._salt_key, tenant.encode(), "sha256"), "big"))

    def _tokens(self, endpoint: CompletesChats, egress: Egress, completion: Completion) -> Tokens:
        most, text = endpoint.wording.max_tokens, text_read(egress.body)
        tokens = plausible_tokens(completion, least_tokens(text), most)
        if tokens is None:  # Only then they are counted here, which takes longer than most checks of a request.
            ours, written = self._embedder.count_tokens(text), self._embedder.count_tokens(completion.content)
            tokens = checked_tokens(completion, ours, written, most)
        cost = endpoint.price.of(tokens.prompt, tokens.completion) if endpoint.price else None
        return replace(tokens, retries=completion.retries, cost=cost)


def _repair(task: Task[ReplyT], misfit: MisfitError, tokens: Tokens, words: str) -> Retry:
    """Returns a Retry that asks for the reply once more, with the complaints.

    Raises ReplyUnusableError if the reply was already a second one, or the task is not asked again.
    """
    if _may_repair(task):
        manner = replace(task.manner, complaints=misfit.complaints, quoted=misfit.quoted)
        return Retry(manner, tokens, words)
    unusable = ReplyUnusableError(f"{task.kind.name}: {misfit.complaints[0].strip()}")
    unusable.tokens, unusable.words = tokens, words
    raise unusable from None


def _may_repair(task: Task[ReplyT]) -> bool:
    return task.kind.asks_again and not task.manner.complaints
