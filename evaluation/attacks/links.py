"""Attacks by what a model writes around a name: drafts that would have it followed, fetched or drawn once restored."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from app.demo import GRAPH_FILE, POLICY_FILE
from app.llm.tasks import ReplyInput, TaskModel, TaskName, WordedReply, WordedSentence
from app.reader.sentences.dialogue_text import dialogue_text
from client_sdk.answers.answer import Answer
from client_sdk.answers.safe_output import MarkdownNeutraliser
from evaluation.attacks.link_judge import follows
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.exchanges import ask
from evaluation.attacks.setup.targets import OPENLY, AttackTarget, AttackTargets
from evaluation.bench.bench import TO_THE_MODEL, Bench
from evaluation.bench.question_sets import DEMO
from evaluation.datasets.questions import QueryPlan, Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.scripted_replies import ScriptedReplies

MARK: Final = "{1}"
_WORDED: Final = {**TO_THE_MODEL, **OPENLY, "reply_words": "model"}
# For a form's control: a name that is put in by hand.
_NAME: Final = "Quennell"
_TALK: Final = "Tell me about Rosalind Rose."


def link_forms() -> list[str]:
    """Drafts that would have a name followed: every address in a sentence, each place with some, and all else."""
    told = _told()
    addresses, places = told["addresses"], told["places"]
    some = [(place, each) for at, place in enumerate(places) for each in addresses[at :: len(places)]]
    placed = [place.replace("{address}", each) for place, each in some]
    return [*(f"See {each} for more." for each in addresses), *placed, *told["forms"]]


def prose_forms() -> list[str]:
    """Drafts in which a name stands as prose has it; they have to be restored."""
    return _told()["prose"]


async def links_on_demo(targets: AttackTargets) -> list[Attempted]:
    """A model whose every draft is one of these forms, asked through the whole service."""
    target = await targets.open(DEMO, "scripted", TO_THE_MODEL)
    question = next(each for each in target.questions if each.plan is not None and len(each.texts) == 1)
    forms, prose = link_forms()[: targets.at_most(10_000)], prose_forms()
    shown = [await _answered(target, question, form) for form in forms]
    restored = [await _answered(target, question, form) for form in prose]
    return [
        Attempted.of(
            "such drafts, names put in by hand: taken for what is followed",
            (follows(form.replace(MARK, _NAME), [_NAME]) for form in forms),
            control=0.85,
        ),
        Attempted.of(
            "drafts of prose, restored",
            (bool(answer.names) and answer.names[0] in answer.text for answer in restored),
            control=1.0,
        ),
        Attempted.of("names restored into what a program follows", map(_is_followed, shown), least=200),
        Attempted.of(
            "names restored into what a program follows, drafts of prose", map(_is_followed, restored), least=40
        ),
    ]


async def replies_on_demo(targets: AttackTargets) -> list[Attempted]:
    """The same forms in replies in dialogue."""
    return await links_in_dialogue(link_forms()[: targets.at_most(10_000)])


class LinkingEndpoint(ScriptedEndpoint):
    """Replies in dialogue with what is true, with `form` beside it, and with both in one sentence."""

    form = ""

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        super().expect(plan, typed)
        self._replies = _LinkingReplies(self.form)


class _LinkingReplies(ScriptedReplies):
    def __init__(self, form: str) -> None:
        super().__init__(None)
        self._form = form

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "worded_reply":
            return super().reply_to(task, block)
        asked = ReplyInput.model_validate_json(block)
        said = dialogue_text(asked)[0]
        form = self._form.replace(MARK, asked.evidence[said.facts[0]].end)
        told = (said.text, form, f"{said.text.rstrip('.')}, {form}")
        facts = [at + 1 for at in said.facts]
        return WordedReply(sentences=[WordedSentence(text=text, facts=facts) for text in told])


def _all_of_it(text: str, _known: str, _relation: str) -> tuple[str, ...]:
    """A reader that finds every fact in every sentence, so that only the other checks stand before it."""
    return (text,)


async def links_in_dialogue(forms: Sequence[str]) -> list[Attempted]:
    """A model that writes these forms beside what is true, which is shown each time."""
    endpoint, shown = LinkingEndpoint(), []
    async with Bench("scripted", scripted=endpoint, changes=_WORDED, read_back=_all_of_it) as bench:
        bench.load(DEMO, [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        for form in forms:
            endpoint.form = form
            endpoint.expect(None)
            shown.append((await ask(bench.services.chat, DEMO, _TALK, "dialogue", options={"suggestions": 0}))[1])
    told = [bool(answer.names) and any(name in answer.text for name in answer.names) for answer in shown]
    followed = map(_is_followed, shown)
    return [
        Attempted.of("replies in dialogue with such sentences, names restored", told, control=1.0),
        Attempted.of("names restored into what a program follows, in dialogue", followed, least=min(200, len(forms))),
    ]


async def _answered(target: AttackTarget, question: Question, draft: str) -> Answer:
    assert target.endpoint is not None
    assert question.plan is not None
    text = question.texts[0]
    target.endpoint.expect(question.plan.model_copy(update={"text": draft}), text)
    return (await ask(target.bench.services.chat, target.loaded.graph, text))[1]


def _is_followed(answer: Answer) -> bool:
    """As the SDK shows it, and as `arog proxy` does."""
    facts = [name for fact in answer.evidence for name in (*fact.head_names, *fact.tail_names)]
    names = [name for name in (*answer.names, *facts) if name in answer.text]
    return follows(answer.text, names) or follows(MarkdownNeutraliser().push(answer.text), names)


def _told() -> dict[str, list[str]]:
    return tomllib.loads(Path(__file__).with_name("link_forms.toml").read_text("utf-8"))
