"""Questions go through a chat service and the SDK's own dialogue; what comes back is scored and summed up."""

import json
from pathlib import Path

from app.accounts.api_keys import Caller
from app.chat.sealing import seal_names
from app.llm.reasoner import ReasonerUnavailableError, Reply, Tokens
from app.llm.tasks import AnswerInput, AnswerReply, ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress, SafeText, Segment
from client_sdk.protocol import ChatAnswer, ChatRequest, Item, Message, Names, Usage
from evaluation.bench.bench import RecordingReasoner
from evaluation.bench.report import Asking, QuestionOutcome, RunLabel, markdown, stages_markdown, summarise, write_json
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.questions import QueryPlan, Question

CALLER = Caller("t", "k", "user", frozenset({"g"}))
PLAN = QueryPlan(answer=("topic:0",))
ANSWER_KIND = TaskKind("answer", SafeText("Say it."), AnswerReply)


class EchoReasoner:
    """Sends the question as it is typed: it leaks on purpose."""

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return ()

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        return Egress((Segment(task.input.model_dump_json().encode()),))

    @property
    def longest_reply(self) -> int:
        return 50

    def tokens_in(self, egress: Egress) -> int:
        return len(egress.body.split())

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        value = {"thought": "", "sufficient": True, "answer": []}
        return Reply(task.kind.reply_model.model_validate(value), Tokens(5, 2))


class OpenChat:
    """A service that forgets to anonymise, and answers every question with two names."""

    def __init__(self, reasoner: RecordingReasoner) -> None:
        self.reasoner = reasoner
        self.requests: list[ChatRequest] = []

    async def answer(self, caller: Caller, request: ChatRequest) -> ChatAnswer:
        self.requests.append(request)
        question = request.messages[-1].content
        if "unreachable" in question:
            raise ReasonerUnavailableError("no")
        asked = AnswerInput(question=question, dialogue=[], path=[], things=[], evidence=[], last_round=True)
        await self.reasoner.reply_to(Task(ANSWER_KIND, asked), self.reasoner.egress_of(Task(ANSWER_KIND, asked)))
        knows = "unknown" not in question
        assert request.public_key is not None
        table = {"Sa1b2c": Names(names=["Bo", "Cy"], total=2)} if knows else {}
        items = [Item(pseudonym="Sa1b2c", kind="set", concept="person", size=2)] if knows else []
        answer = ChatAnswer(
            id="a", conversation="c", graph=request.graph,
            message=Message(role="assistant", content="It is Sa1b2c."),
            answered=knows, entities=items, evidence=[], grounded=True, ambiguous=[],
            usage=Usage(calls=1, prompt_tokens=5, rounds=1, milliseconds={"linking": 2.0, "reasoning": 50.0}),
        )  # fmt: skip
        return seal_names(request.public_key, answer, table)


def names_in(text: str) -> frozenset[str]:
    return frozenset({"Ann Quill"}) if "ann quill" in text else frozenset()


def question(identity: str, text: str, *answers: str, **more: object) -> Question:
    return Question.model_validate({"id": identity, "question": text, "answers": answers, **more})


QUESTIONS = [
    question("right", "who treats ann quill", "bo", "cy", topic_entities=["Ann_Quill"], plan=PLAN, kind="one"),
    question("half", "who else treats someone", "Bo", topic_entities=["Ann_Quill"], kind="two"),
    question("none", "unknown", plan=None),
    question("trap", "who is nobody"),
    question("broken", "unreachable", "Bo"),
]


async def run(expected: list[str]) -> tuple[list[QuestionOutcome], RecordingReasoner]:
    reasoner = RecordingReasoner(EchoReasoner())
    asking = Asking(
        OpenChat(reasoner),
        CALLER,
        "g",
        names=names_in,
        expect=lambda plan, typed: expected.append(f"{typed}: {plan}"),
    )
    done: list[int] = []
    outcomes = await asking.ask_all(QUESTIONS, done.append)
    assert done == [1, 2, 3, 4, 5]
    return outcomes, reasoner


async def test_answers_are_opened_with_the_sdk_and_scored() -> None:
    expected: list[str] = []
    right, half, none, trap, broken = (await run(expected))[0]
    assert (right.score.hit, right.score.f1, right.linked) == (1, 1, True)
    assert right.names == ("Bo", "Cy")
    assert (half.score.hit, half.linked) == (0.5, False)
    assert (none.answered, none.score.f1, none.linked) == (False, 1, None)
    assert (trap.answered, trap.expects_answer, trap.score.f1) == (True, False, 0)
    assert (broken.problem, broken.score.hit) == ("ReasonerUnavailableError", 0)
    assert 2 <= right.local_ms < 50
    assert expected[0].startswith("who treats ann quill: sets={} answer=('topic:0',)")
    assert "Bo" not in repr(right)


async def test_follow_ups_are_one_dialogue_with_the_turns_before() -> None:
    reasoner = RecordingReasoner(EchoReasoner())
    chat = OpenChat(reasoner)
    turns = Question(
        id="1", turns=("who is ann", "and her mother"), answers=("Bo", "Cy"), turn_plans=(PLAN,), plan=None
    )
    expected: list[QueryPlan | None] = []
    (outcome,) = await Asking(chat, CALLER, "g", expect=lambda plan, _: expected.append(plan)).ask_all([turns])
    assert expected == [PLAN, None]
    assert [message.content for message in chat.requests[1].messages] == [
        "who is ann",
        "It is Sa1b2c.",
        "and her mother",
    ]
    assert chat.requests[1].conversation == "c"
    assert chat.requests[1].options.names == 10_000
    assert outcome.score.f1 == 1


async def test_a_leaking_service_is_caught_and_its_report_says_so(tmp_path: Path) -> None:
    outcomes, reasoner = await run([])
    findings = LeakScanner({"Ann Quill", "Treats", "Say"}, ["Say it."]).scan(reasoner.sent)
    report = summarise(RunLabel(set_name="s", strategy="sets", reasoner="scripted"), outcomes, findings, 2)
    assert report.leaks.leaked == {"ann quill": 1, "treats": 2}
    assert report.leaks.payloads == 4
    assert (report.quality.questions, report.quality.hits_at_1) == (5, 0.5)
    assert (report.answered, report.refused, report.unanswerable, report.unanswerable_answered) == (3, 1, 2, 1)
    assert report.problems == {"ReasonerUnavailableError": 1}
    assert report.linked == 0.5
    assert report.tokens_counted_by == "wordpiece"
    assert report.by_kind["one"].f1 == 1
    table = markdown([report])
    assert "| s | sets | scripted | 5 | 0.500" in table
    assert len({line.count("|") for line in table.strip().splitlines()}) == 1
    assert "| reasoning | 50.00" in stages_markdown(report)
    write_json([report], [outcomes], tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["rows"][0]["report"]["leaks"]["leaks"] == 3
    assert [each["id"] for each in written["rows"][0]["questions"]] == ["right", "half", "none", "trap", "broken"]
    assert "ann quill" not in json.dumps(written["rows"][0]["questions"])
