"""Asks the questions and dialogues of whole domains, loaded by the proposed policy, and reports them beside bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.graphs.markdown_table import markdown_table
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TENANT, Bench
from evaluation.bench.question_sets import Show
from evaluation.natural.verdicts import VERDICTS, Half, NaturalQuestion, Verdict, judge
from evaluation.tables.measures import Measure, at_most, share
from evaluation.understanding.domains import AskedDialogue, Domain, domains, read_variants
from kg_store.proposals.propose import propose_policy
from kg_store.sources.policy import BudgetPolicy

MIN_RIGHT, MAX_WRONG, MIN_REFUSED = 0.75, 0.03, 0.95
MIN_TURNS_RIGHT, MIN_WHOLE = 0.70, 0.30
SURE, MAX_SURELY_WRONG = 0.95, 0.01


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """One question, alone or as a turn of the dialogue `dialogue`, with its answer (None after an error).

    `choices`: the verdicts on the questions that were offered in place of an answer, each asked next.
    """

    domain: str
    question: NaturalQuestion
    verdict: Verdict
    answer: Answer | None
    dialogue: str = ""
    choices: tuple[Verdict, ...] = ()

    @property
    def is_given(self) -> bool:
        """True if something was answered about the graph."""
        return self.answer is not None and self.answer.answered


async def run_understanding(half: Half, only: str, show: Show) -> list[AskedTurn]:
    """Asks all domains of a half, or the one called `only`. Raises QuestionsError."""
    found: list[AskedTurn] = []
    with domains(half) as known:
        async with Bench() as bench:
            for domain in known:
                if only in ("", domain.name):
                    found += await _asked(bench, domain, show)
    return found


async def _asked(bench: Bench, domain: Domain, show: Show) -> list[AskedTurn]:
    load(bench, domain, show)
    found: list[AskedTurn] = []
    for number, question in enumerate(domain.questions):
        show(domain.name, number, len(domain.questions))
        answer = await ask(bench, new_dialogue(domain.name), question.question)
        choices = [await _chosen(bench, domain.name, question, each) for each in answer.did_you_mean] if answer else []
        verdict = judge(question, answer)
        found.append(AskedTurn(domain.name, question, verdict, answer, choices=tuple(choices)))
    for number, dialogue in enumerate(domain.dialogues):
        show(f"{domain.name}, dialogues", number, len(domain.dialogues))
        found += await _talked(bench, domain.name, dialogue)
    return found


async def _chosen(bench: Bench, graph: str, question: NaturalQuestion, choice: str) -> Verdict:
    """Asks a question, then the one that was offered for it, and returns the verdict on the second answer."""
    dialogue = new_dialogue(graph)
    await ask(bench, dialogue, question.question)
    return judge(question, await ask(bench, dialogue, choice))


async def _talked(bench: Bench, domain: str, asked: AskedDialogue) -> list[AskedTurn]:
    """Asks a dialogue's turns in order and returns those that have a right answer."""
    dialogue, found = new_dialogue(domain), list[AskedTurn]()
    for turn, question in zip(asked.turns, asked.questions(domain), strict=True):
        answer = await ask(bench, dialogue, turn.text)
        if question is not None:
            found.append(AskedTurn(domain, question, judge(question, answer), answer, asked.id))
    return found


async def run_variants(show: Show) -> list[AskedTurn]:
    """Asks the variants of all kinds of turns; only the last turn of each counts. Raises QuestionsError."""
    found: list[AskedTurn] = []
    with domains("seen") as known:
        async with Bench() as bench:
            for domain in known:
                talks = read_variants(domain.name)
                if talks:
                    load(bench, domain, show)
                for number, talk in enumerate(talks):
                    show(f"{domain.name}, variants", number, len(talks))
                    found += (await _talked(bench, domain.name, talk))[-1:]
    return found


MIN_OF_KIND, MAX_SURELY_WRONG_OF_KIND = 10 / 12, 0


def measures_of_kinds(asked: Sequence[AskedTurn]) -> list[Measure]:
    """Returns the share of right variants of each kind, then how many of all were wrong with confidence."""
    kinds = sorted({each.question.kind for each in asked})
    groups = {kind: [each for each in asked if each.question.kind == kind] for kind in kinds}
    lines = [share(kind.replace("_", " "), _part(own, "right"), len(own), MIN_OF_KIND) for kind, own in groups.items()]
    wrong = [each for each in asked if each.is_given and each.verdict != "right" and each.answer]
    surely = sum((each.answer.confidence or 0.0) >= SURE for each in wrong if each.answer)
    return [
        *lines,
        at_most(f"wrong with a confidence of {SURE} or more", len(asked), surely, MAX_SURELY_WRONG_OF_KIND),
        at_most("wrong", len(asked), len(wrong), None),
    ]


def load(bench: Bench, domain: Domain, show: Show) -> None:
    """Loads a domain as its owner would: by the policy that is proposed for its files."""
    show(f"loading {domain.name}", 0, 1)
    policy = propose_policy(domain.files).model_copy(update={"budget": BudgetPolicy()})
    bench.services.graphs.load(TENANT, domain.name, domain.files, policy.to_toml()).run(lambda _step, _percent: None)


def new_dialogue(graph: str) -> Dialogue:
    """Returns an empty dialogue with a graph, as the SDK keeps it, without suggestions."""
    return Dialogue(graph, KeyPair.generate(), "auto", {"suggestions": 0})


async def ask(bench: Bench, dialogue: Dialogue, text: str) -> Answer | None:
    """Asks one turn as the SDK does; returns None if it ends with an error."""
    request = dialogue.request(text, None, {})
    try:
        return dialogue.accept(text, await bench.services.chat.answer(CALLER, request))
    except Exception:  # Whatever ends a question ends it without an answer.
        return None


_Asked = Sequence[AskedTurn]


def measures(half: Half, asked: _Asked) -> list[Measure]:
    """Returns the table's lines; the bounds hold for domains that nobody has looked at."""
    singles = [each for each in asked if not each.dialogue and each.question.gold.type != "unanswerable"]
    unheld = [each for each in asked if not each.dialogue and each.question.gold.type == "unanswerable"]
    turns = [each for each in asked if each.dialogue]
    is_shut = half == "shut"

    def bound(figure: float) -> float | None:
        return figure if is_shut else None

    lines = [share("questions: right", _part(singles, "right"), len(singles), bound(MIN_RIGHT))]
    lines += _wrong("questions: wrong among the answers given", [*singles, *unheld], bound(MAX_WRONG))
    lines.append(share("unanswerable, refused", _part(unheld, "right"), len(unheld), bound(MIN_REFUSED)))
    if turns:
        talks = {each.dialogue for each in turns}
        whole = sum(all(turn.verdict == "right" for turn in turns if turn.dialogue == talk) for talk in talks)
        lines.append(share("turns of dialogues: right", _part(turns, "right"), len(turns), bound(MIN_TURNS_RIGHT)))
        lines += _wrong("turns of dialogues: wrong among the answers given", turns, bound(MAX_WRONG))
        lines.append(share("dialogues wholly right", whole / len(talks), len(talks), bound(MIN_WHOLE)))
    told = [each for each in asked if each.is_given and each.answer and each.answer.confidence is not None]
    sure = [each for each in told if each.answer and (each.answer.confidence or 0) >= SURE]
    lines += _wrong(f"wrong among those with a confidence of {SURE} or more", sure, bound(MAX_SURELY_WRONG))
    lines.append(share("confidence: area under the curve", _area(told), len(told), bound(0.85)))
    offered = [each for each in singles if each.choices]
    meant = sum("right" in each.choices for each in offered)
    lines.append(
        share(
            "questions: right, or the right one offered", _part(singles, "right") + meant / len(singles), len(singles)
        )
    )
    return [*lines, share("of questions offered for one, the right one", meant / max(1, len(offered)), len(offered))]


def _part(asked: _Asked, *verdicts: Verdict) -> float:
    return sum(each.verdict in verdicts for each in asked) / max(1, len(asked))


def _wrong(name: str, asked: _Asked, bound: float | None) -> list[Measure]:
    given = [each for each in asked if each.is_given]
    reached = _part(given, "wrong", "partly")
    return [at_most(name, len(given), reached, bound).model_copy(update={"reached": f"{reached:.3f}"})]


def _area(told: _Asked) -> float:
    """Returns the chance that a right answer has a higher confidence than a wrong one; equal ones count half."""
    right = [each.answer.confidence or 0.0 for each in told if each.answer and each.verdict == "right"]
    wrong = [each.answer.confidence or 0.0 for each in told if each.answer and each.verdict != "right"]
    wins = sum((one > other) + 0.5 * (one == other) for one in right for other in wrong)
    return wins / max(1, len(right) * len(wrong))


_GROUPS: Final = ("questions", *VERDICTS, "share right")


def by_kind(asked: _Asked) -> str:
    """Returns a Markdown table of verdicts for each domain and each kind of question."""
    groups: dict[str, list[AskedTurn]] = {}
    for each in asked:
        groups.setdefault(f"domain {each.domain}", []).append(each)
    for each in sorted(asked, key=lambda one: one.question.kind):
        groups.setdefault(each.question.kind.replace("_", " "), []).append(each)
    rows = [
        (
            name,
            *(sum(each.verdict == verdict for each in group) for verdict in VERDICTS),
            f"{_part(group, 'right'):.2f}",
        )
        for name, group in groups.items()
    ]
    return markdown_table(_GROUPS, rows)


def not_right(asked: _Asked) -> str:
    """Returns, as Markdown, the questions of seen domains that were not rightly answered, wrong ones first."""
    parts = ["# Questions that were not rightly answered"]
    for each in sorted(asked, key=lambda one: -VERDICTS.index(one.verdict)):
        if each.verdict != "right":
            answer = each.answer
            told = "with an error" if answer is None else f"{answer.text} ({answer.confidence})"
            parts += ["", f"- {each.verdict}: {each.question.id}: {each.question.question}", f"    - answered: {told}"]
            parts.append(f"    - gold: {each.question.gold.type}, {'; '.join(map(str, each.question.gold.items))}")
    return "\n".join(parts) + "\n"
