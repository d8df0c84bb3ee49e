"""GuardedReasoner: clear, record, ask; and nothing is sent when one of the first two fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from app.egress.budgets import QuestionBudgetUsedUpError, TenantBudgetUsedUpError
from app.egress.guard import BlockedError, Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, PseudonymSubstitution, RequestContext
from app.egress.ledger.chain import metadata
from app.egress.ledger.ledger import Ledger, LedgerUnavailableError
from app.llm.reasoner import ReasonerUnavailableError, Reply, Retry, Tokens
from app.llm.tasks import ReplyT, SchemaStep, StepInput, StructureInput, Task, TaskKind
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from app.strategies.prompts import STRUCTURE
from app.strategies.sets.prompts import STEP
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.name_words import NameWords
from kg_store.storage.master_key import MasterKey
from kg_store.text.english import PublicWords
from tests.support.tasks import thing

ERRAND = RequestContext("t1", "k1", "a1", "c1")


class KeepingReasoner:
    """Implements Reasoner: keeps what it is sent, and says how many entries the ledger then had."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.sent: list[bytes] = []
        self.tenants: list[str] = []
        self.recorded: list[int] = []
        self.tokens = Tokens(10, 3, by_endpoint=True)
        self.fails = False
        self.complains = False
        self.words: str | None = None
        self.waits: asyncio.Event | None = None

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return ()

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        told = "".join(task.manner.complaints).encode()
        return Egress((Segment(told), Segment(task.input.model_dump_json().encode())))

    @property
    def longest_reply(self) -> int:
        return 3

    def tokens_in(self, egress: Egress) -> int:
        return 10

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        self.tenants.append(task.manner.tenant)
        self.sent.append(egress.body)
        self.recorded.append(len(self.ledger.entries("t1")))
        if self.waits is not None:
            await self.waits.wait()
        if self.fails:
            raise ReasonerUnavailableError("no")
        if self.complains and not task.manner.complaints:
            manner = replace(task.manner, complaints=("Be brief. ",))
            return Retry(manner, self.tokens, "neither {this} nor that")
        value = task.kind.reply_model.model_validate({"thought": "", "path": [], "guess": ""})
        return Reply(value, self.tokens, self.words)


class Told:
    """Implements WirePseudonyms: each of `substitutions` in turn, the last for good; a test may change them."""

    def __init__(self, *substitutions: PseudonymSubstitution) -> None:
        self.substitutions = list(substitutions)

    def __call__(self) -> PseudonymSubstitution:
        return self.substitutions.pop(0) if len(self.substitutions) > 1 else self.substitutions[0]


def issued(*words: str) -> PseudonymSubstitution:
    return PseudonymSubstitution(issued=frozenset(words))


@pytest.fixture
def ledger(engine: Engine) -> Ledger:
    return Ledger(engine, MasterKey.from_text(MasterKey.generate()))


LEXICON = Lexicon(PublicWords.of(["b", "c"]), NameWords())


@pytest.fixture
def guarded(ledger: Ledger) -> GuardedReasoner:
    entries = [
        NameEntry(1, "Zofia Quarrel", "name", None, True, True),
        NameEntry(2, "Eq7f2k", "name", None, True, True),
    ]
    names = NameIndex.build(entries).with_public(PublicWords.of(()))
    return GuardedReasoner(
        KeepingReasoner(ledger),
        Guard(names, StaticSegments(), LEXICON),
        ledger,
        ERRAND,
        Told(issued("Eq7f2k")),
    )


def inner(guarded: GuardedReasoner) -> KeepingReasoner:
    assert isinstance(guarded.inner, KeepingReasoner)
    return guarded.inner


def task(question: str) -> Task:  # type: ignore[type-arg]
    return Task(STRUCTURE, StructureInput(question=question, dialogue=[], things=[]))


async def test_what_is_sent_has_been_recorded_before(guarded: GuardedReasoner, ledger: Ledger) -> None:
    await guarded.ask(task("who is Eq7f2k"))
    (body,) = inner(guarded).sent
    assert inner(guarded).recorded == [1]
    (entry,) = ledger.entries("t1")
    assert (entry.payload, entry.size, entry.verdict, entry.hits) == (body, len(body), "clear", 0)
    assert (entry.tenant, entry.caller, entry.answer, entry.conversation) == ("t1", "k1", "a1", "c1")
    assert entry.step == "structure"


async def test_a_name_stops_the_request_and_is_recorded_as_a_count(guarded: GuardedReasoner, ledger: Ledger) -> None:
    with pytest.raises(BlockedError):
        await guarded.ask(task("who treats zofia quarrel"))
    assert inner(guarded).sent == []
    (entry,) = ledger.entries("t1")
    assert (entry.verdict, entry.hits, entry.payload) == ("blocked", 1, None)
    assert guarded.spent.calls == 0


async def test_a_pseudonym_issued_meanwhile_is_known_at_the_next_call(guarded: GuardedReasoner) -> None:
    guarded.pseudonyms = Told(issued())
    with pytest.raises(BlockedError):
        await guarded.ask(task("who is Eq7f2k"))
    guarded.pseudonyms.substitutions = [issued("Eq7f2k")]
    await guarded.ask(task("who is Eq7f2k"))
    assert len(inner(guarded).sent) == 1


async def test_a_pseudonym_goes_out_under_its_sent_word_alone(guarded: GuardedReasoner) -> None:
    guarded.pseudonyms = Told(PseudonymSubstitution({"Eq7f2k": "Ez9y8x"}, frozenset({"Eq7f2k"})))
    await guarded.ask(task("who is Eq7f2k"))
    assert b"Ez9y8x" in inner(guarded).sent[0]
    assert b"Eq7f2k" not in inner(guarded).sent[0]


async def test_a_pseudonym_that_kept_its_own_word_is_blocked(guarded: GuardedReasoner) -> None:
    needed = PseudonymSubstitution({"Eq7f2k": "Ez9y8x"}, frozenset({"Eq7f2k"}))
    guarded.pseudonyms = Told(PseudonymSubstitution(), needed)
    with pytest.raises(BlockedError):
        await guarded.ask(task("who is Eq7f2k"))
    assert not inner(guarded).sent


async def test_an_error_of_the_model_goes_through_and_its_request_stays_recorded(
    guarded: GuardedReasoner, ledger: Ledger
) -> None:
    inner(guarded).fails = True
    with pytest.raises(ReasonerUnavailableError):
        await guarded.ask(task("a"))
    assert (guarded.spent.calls, len(ledger.entries("t1"))) == (0, 1)
    assert guarded.spent.reasoner_s > 0


async def test_a_repair_is_cleared_recorded_and_counted_like_any_request(
    guarded: GuardedReasoner, ledger: Ledger
) -> None:
    inner(guarded).complains = True
    await guarded.ask(task("who is Eq7f2k"))
    first, second = inner(guarded).sent
    assert second == b"Be brief. " + first
    assert inner(guarded).recorded == [1, 2]
    assert [entry.payload for entry in ledger.entries("t1")] == [second, first]
    spent = guarded.spent
    assert (spent.calls, spent.prompt_tokens, spent.retries) == (2, 20, 1)
    assert inner(guarded).tenants == ["t1", "t1"]


async def test_a_repair_that_would_name_something_is_blocked(guarded: GuardedReasoner) -> None:
    inner(guarded).complains = True
    # Once for each request's words, and once for the guard.
    guarded.pseudonyms = Told(issued("Eq7f2k"), issued("Eq7f2k"), issued())
    with pytest.raises(BlockedError):
        await guarded.ask(task("who is Eq7f2k"))
    assert len(inner(guarded).sent) == 1


async def test_every_reply_is_recorded_with_its_request(guarded: GuardedReasoner, ledger: Ledger) -> None:
    inner(guarded).complains = True
    async with guarded:
        await guarded.ask(task("who is Eq7f2k"))
        inner(guarded).complains, inner(guarded).words = False, '```json\n{"guess": "Eq7f2k"}```'
        await guarded.ask(task("where is Eq7f2k"))
    entries = ledger.entries("t1")[::-1]
    replies = ledger.replies_to(entries)
    assert [(replies[entry.id].outcome, replies[entry.id].text) for entry in entries] == [
        ("unusable", "neither {this} nor that"),
        ("used", '{"thought":"","path":[],"guess":""}'),
        ("used", '```json\n{"guess": "Eq7f2k"}```'),
    ]


async def test_replies_of_a_question_that_fails_are_recorded_too(guarded: GuardedReasoner, ledger: Ledger) -> None:
    async def question() -> None:
        async with guarded:
            await guarded.ask(task("who is Eq7f2k"))
            inner(guarded).fails = True
            await guarded.ask(task("where is Eq7f2k"))

    with pytest.raises(ReasonerUnavailableError):
        await question()
    entries = ledger.entries("t1")
    assert list(ledger.replies_to(entries)) == [entries[1].id]


async def test_replies_that_can_not_be_recorded_are_an_error(guarded: GuardedReasoner, engine: Engine) -> None:
    async def question() -> None:
        async with guarded:
            await guarded.ask(task("who is Eq7f2k"))
            metadata.drop_all(engine)

    with pytest.raises(LedgerUnavailableError):
        await question()


class KeptAccount:
    """Implements Account: keeps what it is told, and refuses where the test says so."""

    def __init__(self, is_limited: bool = True, refuses: bool = False) -> None:
        self.is_limited, self.refuses = is_limited, refuses
        self.reserved: list[tuple[int, int]] = []
        self.settled: list[int] = []

    def reserve(self, tokens: int, spent: int) -> None:
        if self.refuses:
            raise TenantBudgetUsedUpError(60)
        self.reserved.append((tokens, spent))

    def settle(self, spent: int) -> None:
        self.settled.append(spent)


async def test_a_request_that_a_budget_does_not_allow_is_neither_sent_nor_recorded(
    guarded: GuardedReasoner, ledger: Ledger
) -> None:
    # A call is counted for 10 tokens and 3 of its longest reply.
    guarded.most_tokens = 25
    await guarded.ask(task("who is Eq7f2k"))
    assert not guarded.fits(task("a"))
    with pytest.raises(QuestionBudgetUsedUpError):
        await guarded.ask(task("who is Eq7f2k"))
    guarded.most_tokens, guarded.account = None, KeptAccount(refuses=True)
    with pytest.raises(TenantBudgetUsedUpError):
        await guarded.ask(task("who is Eq7f2k"))
    assert (len(inner(guarded).sent), len(ledger.entries("t1"))) == (1, 1)


async def test_a_repair_has_to_fit_too(guarded: GuardedReasoner) -> None:
    inner(guarded).complains = True
    guarded.most_tokens = 25
    with pytest.raises(QuestionBudgetUsedUpError):
        await guarded.ask(task("who is Eq7f2k"))
    assert len(inner(guarded).sent) == 1


@pytest.mark.parametrize("is_limited", [True, False])
async def test_the_account_is_settled_with_what_was_taken(guarded: GuardedReasoner, is_limited: bool) -> None:
    guarded.account = account = KeptAccount(is_limited)
    inner(guarded).tokens = Tokens(7, 2)
    async with guarded:
        await guarded.ask(task("a"))
        await guarded.ask(task("b"))
    assert account.reserved == ([(13, 0), (13, 9)] if is_limited else [])
    assert account.settled == [18]


async def test_a_question_that_is_given_up_has_cost_its_prompt(guarded: GuardedReasoner) -> None:
    guarded.account = account = KeptAccount()
    inner(guarded).waits = asyncio.Event()

    async def question() -> None:
        async with guarded:
            await guarded.ask(task("a"))

    running = asyncio.create_task(question())
    while not inner(guarded).sent:
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert account.settled == [10]


def test_fields_of_the_house_are_kept_and_renamed_and_never_dumped() -> None:
    given = StepInput(
        question="Who treats Eq7f2k?", things=[thing("Eq7f2k", "patient")], evidence=[], candidates=[],
        steps=(SchemaStep("patient", "Rk3m2a", "Rk3m2a who treats", "doctor"),),
        kinds=(thing("Sd0c7r", "doctor"),),
        own={"Eq7f2k": ("Rk3m2a",)},
    )  # fmt: skip
    words = {"Eq7f2k": "Ea1b2c", "Rk3m2a": "Rz9y8x"}
    sent = PseudonymSubstitution(words).substitute_in(Task(STEP, given)).input
    assert (sent.steps[0].label, sent.kinds[0].name, sent.own) == ("Rz9y8x", "Sd0c7r", {"Ea1b2c": ("Rz9y8x",)})
    assert not {"steps", "kinds", "own"} & set(sent.model_dump())
    assert "Eq7f2k" not in sent.model_dump_json()


def test_texts_that_are_checked_together_are_told_apart(guarded: GuardedReasoner) -> None:
    assert guarded.may_leave([]) == ()
    assert guarded.may_leave(["b c", "Eq7f2k"]) == (True, True)
    assert guarded.may_leave(["b c", "Zofia Quarrel", "c"]) == (True, False, True)
    # Two texts beside each other make no name.
    assert guarded.may_leave(["b", "Zofia"]) == (True, guarded.may_leave(["Zofia"])[0])
