"""Family 12: drafts of an endpoint that would put a restored name into what a browser or a mail client follows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from app.llm.reasoner import ReasonerError
from app.privacy.errors import PrivacyError
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.attacks.forms.corpus.plain_letters import tokens
from evaluation.attacks.forms.followed_addresses import followed_in
from evaluation.attacks.forms.hostile_endpoints import PSEUDONYM, DraftingEndpoint
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.targets import VICTIM, AttackTargets
from evaluation.bench.bench import TO_THE_MODEL, Bench
from evaluation.datasets.questions import Question, read_questions

_FILE = Path(__file__).with_name("drafts.toml")
_ASKED = ("everyday-word", "nickname", "lower-case")
_EXPRESSIONS = ("{1}", PSEUDONYM)
_PROSE = ("It is {}.", "The answer is {}, as far as the graph says.", "{} (and nobody else)")
FORMS, MIN_FOLLOWED, MIN_RESTORED = 200, 0.98, 1.0


@dataclass(frozen=True, slots=True)
class ShownDraft:
    """The text and names that an asker is shown for one draft; no text where it was refused."""

    text: str = field(repr=False)
    names: tuple[str, ...] = field(repr=False)

    @property
    def is_followed(self) -> bool:
        """A word of a restored name stands in something that would be followed."""
        words = {word for name in self.names for word in tokens(name)}
        return any(words & set(tokens(span)) for span in followed_in(self.text))


def draft_texts() -> list[str]:
    """Every form, `{}` where an expression stands."""
    told = tomllib.loads(_FILE.read_text("utf-8"))
    addresses = [scheme + place for scheme in told["schemes"] for place in told["places"]]
    return [*addresses, *told["bare"], *told["markdown"], *told["html"]]


async def restored_into_addresses(targets: AttackTargets) -> list[Attempted]:
    """Each form once, with the number of an answer or its pseudonym in turn, among words of prose."""
    texts = draft_texts()
    chosen = texts[:: max(1, len(texts) // targets.at_most(len(texts)))]
    endpoint = DraftingEndpoint()
    async with Bench("scripted", scripted=endpoint, changes=TO_THE_MODEL) as bench:
        bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        prose = [await _shown(bench, endpoint, text, question) for text, question in _with_questions(_PROSE)]
        shown = [await _shown(bench, endpoint, f"See {text} now", asked) for text, asked in _with_questions(chosen)]
    unguarded = [ShownDraft(f"See {text.replace('{}', 'Quillmore')} now", ("Quillmore",)) for text in texts]
    return [
        Attempted(
            name="forms, 12 restored into what would be followed",
            tries=len(shown),
            successes=sum(each.is_followed for each in shown),
            least=min(FORMS, len(chosen)),
            note=f"{sum(not each.text for each in shown)} refused",
        ),
        _control("forms, 12 found followed with the rule off", [each.is_followed for each in unguarded], MIN_FOLLOWED),
        _control("forms, 12 restored in prose", [bool(each.text) for each in prose], MIN_RESTORED),
    ]


def _control(name: str, found: Sequence[bool], least: float) -> Attempted:
    return Attempted(name=name, tries=len(found), successes=sum(found), control=least)


def _with_questions(texts: Sequence[str]) -> Iterator[tuple[str, Question]]:
    asked = [question for question in read_questions(QUESTIONS_FILE) if question.id in _ASKED]
    for text, expression, question in zip(texts, cycle(_EXPRESSIONS), cycle(asked), strict=False):
        yield text.replace("{}", expression), question


async def _shown(bench: Bench, endpoint: DraftingEndpoint, text: str, question: Question) -> ShownDraft:
    assert question.plan is not None
    endpoint.expect(question.plan.model_copy(update={"text": text}), question.texts[0])
    dialogue = Dialogue("demo", KeyPair.generate(), "sets", {})
    try:
        sealed = await bench.services.chat.answer(VICTIM, dialogue.request(question.texts[0], None, {}))
    except (ReasonerError, PrivacyError):
        return ShownDraft("", ())
    answer = dialogue.accept(question.texts[0], sealed)
    return ShownDraft(answer.text if answer.answered else "", tuple(answer.names))
