"""Lists and deletes what a person told of a graph, outside a dialogue; names are restored on their machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from client_sdk.crypto.sealing import CannotOpenError, KeyPair, memory_context, open_capsule
from client_sdk.dialogue import Dialogue
from client_sdk.errors import BadAnswerError, CannotOpenCapsuleError
from client_sdk.protocol import MemoryForgotten, MemoryPage, OffersChanged, OfferWord
from client_sdk.restore import restore
from client_sdk.transport.drivers import AsyncDriver, BlockingDriver
from client_sdk.transport.flow import Call, Flow, RetryPolicy, exchange


@dataclass(frozen=True, slots=True)
class RememberedFact:
    """A sentence that was told, with its names restored, and when.

    `form`: `fact` if the service read it as a relation of the graph, `words` if it keeps it only as it was said.
    `conversation`: the id of the one in which it was told. `offer`: `offered`, `taken` or `refused`, if it was offered
    to the graph's owner.
    """

    id: str
    made_at: datetime
    text: str = field(repr=False)
    form: Literal["fact", "words"]
    conversation: str
    offer: OfferWord = ""


class _MemoryCalls:
    """The calls that Memory and AsyncMemory share. `person`: as for Chat.ask; by default the dialogue's."""

    def __init__(self, dialogue: Dialogue, patience: RetryPolicy) -> None:
        self._dialogue, self._patience = dialogue, patience

    def _listed(self, person: str | None) -> Flow[tuple[RememberedFact, ...]]:
        found: dict[str, RememberedFact] = {}
        params, key, offset = self._params(person), self._dialogue.key, 0
        if key is not None:
            params["public_key"] = key.public_text
        while True:
            call = Call("GET", "/memory", params={**params, "offset": str(offset)}, repeatable=True)
            page = yield from exchange(call, MemoryPage, self._patience)
            # What is told or deleted meanwhile shifts the pages: nothing is listed twice.
            found.update((fact.id, fact) for fact in open_memory_page(page, key, self._dialogue.graph))
            offset += len(page.facts)
            if not page.facts or offset >= page.total:
                return tuple(found.values())

    def _forgotten(self, fact_id: str | None, person: str | None) -> Flow[MemoryForgotten]:
        path = "/memory" if fact_id is None else f"/memory/{quote(fact_id, safe='')}"
        return exchange(Call("DELETE", path, params=self._params(person)), MemoryForgotten, self._patience)

    def _offered(self, fact_id: str, person: str | None, is_offered: bool) -> Flow[OffersChanged]:
        path, method = f"/memory/{quote(fact_id, safe='')}/offer", "POST" if is_offered else "DELETE"
        return exchange(
            Call(method, path, params=self._params(person), repeatable=True), OffersChanged, self._patience
        )

    def _params(self, person: str | None) -> dict[str, str]:
        sign = self._dialogue.person_sign(person)
        return {"graph": self._dialogue.graph, **({"person": sign} if sign else {})}


class Memory(_MemoryCalls):
    """The sentences that this API key, or a person who shares it, told of the graph of a Chat: `chat.memory`.

    Every method raises ArogError.
    """

    def __init__(self, driver: BlockingDriver, dialogue: Dialogue, patience: RetryPolicy) -> None:
        super().__init__(dialogue, patience)
        self._driver = driver

    def list(self, *, person: str | None = None) -> tuple[RememberedFact, ...]:
        """Returns everything that was told and may still be seen, the newest first."""
        return self._driver.run(self._listed(person))

    def forget(self, fact_id: str, *, person: str | None = None) -> None:
        """Deletes one sentence, by its id. Raises RefusedError if there is none of that id."""
        self._driver.run(self._forgotten(fact_id, person))

    def offer(self, fact_id: str, *, person: str | None = None) -> None:
        """Offers one sentence to the graph's owner, who then sees it and whose it is. Raises RefusedError."""
        self._driver.run(self._offered(fact_id, person, True))

    def withdraw(self, fact_id: str, *, person: str | None = None) -> None:
        """Withdraws the offer of one sentence, if the owner has not taken it. Raises RefusedError."""
        self._driver.run(self._offered(fact_id, person, False))

    def forget_all(self, *, person: str | None = None) -> int:
        """Deletes all that was told of the graph, what is not listed too, and returns how many sentences."""
        return self._driver.run(self._forgotten(None, person)).facts


class AsyncMemory(_MemoryCalls):
    """Memory for asyncio: `await chat.memory.list()`."""

    def __init__(self, driver: AsyncDriver, dialogue: Dialogue, patience: RetryPolicy) -> None:
        super().__init__(dialogue, patience)
        self._driver = driver

    async def list(self, *, person: str | None = None) -> tuple[RememberedFact, ...]:
        """Does the same as Memory.list, for asyncio."""
        return await self._driver.run(self._listed(person))

    async def forget(self, fact_id: str, *, person: str | None = None) -> None:
        """Does the same as Memory.forget, for asyncio."""
        await self._driver.run(self._forgotten(fact_id, person))

    async def offer(self, fact_id: str, *, person: str | None = None) -> None:
        """Does the same as Memory.offer, for asyncio."""
        await self._driver.run(self._offered(fact_id, person, True))

    async def withdraw(self, fact_id: str, *, person: str | None = None) -> None:
        """Does the same as Memory.withdraw, for asyncio."""
        await self._driver.run(self._offered(fact_id, person, False))

    async def forget_all(self, *, person: str | None = None) -> int:
        """Does the same as Memory.forget_all, for asyncio."""
        return (await self._driver.run(self._forgotten(None, person))).facts


def open_memory_page(page: MemoryPage, key: KeyPair | None, graph: str) -> tuple[RememberedFact, ...]:
    """Returns the sentences of a page with their names; in pseudonyms without a key.

    Promise: if the page was changed on the way, even by one letter, nothing opens. Raises CannotOpenCapsuleError and
    BadAnswerError.
    """
    if page.graph != graph or (key is not None and page.capsule is None):
        hint = "is this the service's own address, and of this version?"
        raise BadAnswerError("the list is of another graph or has no names", code="bad_answer", hint=hint, id=page.id)
    table = {}
    if key is not None and page.capsule is not None:
        try:
            content = open_capsule(page.capsule, key, memory_context(page))
        except CannotOpenError as problem:
            hint = "list it again; if it happens again, does something between you and the service change replies?"
            raise CannotOpenCapsuleError(
                f"the names can't be opened: {problem}", code="cannot_open", hint=hint, id=page.id
            ) from None
        table = content.table
    return tuple(
        RememberedFact(each.id, each.made_at, restore(each.text, table), each.form, each.conversation, each.offer)
        for each in page.facts
    )
