"""Structure: who a pseudonym is, by the shape of the graph around it.

The attacker has the bytes of every request, and a copy of the true graph of which a share of the triples is known to
it. It knows how prompts are written, and no name of a conversation. A guess is drawn from the nodes that fit best, so
that one among n that fit alike counts 1/n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from client_sdk.protocol import StrategyName
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.egress import Prompt, prompts_of
from evaluation.attacks.setup.exchanges import Exchange, exchange_all
from evaluation.attacks.setup.related_questions import askable, conversations, made_questions
from evaluation.attacks.setup.targets import AML, OPENLY, TITLES, AttackTarget, AttackTargets
from evaluation.attacks.structure.known_graph import KnownGraph
from evaluation.attacks.structure.matching import Matcher, share_right
from evaluation.attacks.structure.neighbourhoods import TOPIC, neighbourhood, sample_nodes
from evaluation.attacks.structure.revealed_graph import PIECES, Piece, Revealed, revealed_by
from evaluation.bench.question_sets import DEMO, METAQA, PQ_3H
from evaluation.datasets.questions import Question
from kg_store.terms import NO_MIDS

SOURCES = (DEMO, PQ_3H, METAQA[3], AML)
SHARES = (1.0, 0.7, 0.3)
CONVERSATIONS, COMPARED, NEIGHBOURHOODS = 200, 50, 500
PER_PROMPT, PER_CONVERSATION, REFUSED = 0.05, 0.10, 0.03
# What was measured for this design by two hops: 32 to 94 %. The accounts of `aml` are drawn by chance and all alike.
CONTROL = {DEMO: 0.32, PQ_3H: 0.32, METAQA[3]: 0.32}
# What an attacker takes at its word. Ways on may be those of a kind and not of the thing, concepts may be widened.
READINGS: tuple[tuple[Piece, ...], ...] = (
    PIECES,
    ("concepts", "evidence", "sizes", "ends"),
    ("candidates", "evidence", "sizes", "ends"),
    ("evidence", "sizes", "ends"),
    ("concepts", "evidence", "ends"),
    ("concepts", "evidence"),
)
LARGE = 20
_SEED = 11

Prompts = Iterable[tuple[Exchange, Sequence[Prompt]]]


async def structure(targets: AttackTargets) -> list[Attempted]:
    lines = []
    for source in targets.among(*SOURCES):
        target = await targets.open(source, "scripted")
        lines += await _on(targets, target, TITLES[source], CONTROL.get(source))
        if source == PQ_3H:
            lines += await _compared(targets, target, TITLES[source], "arog")
        if source in (DEMO, PQ_3H):
            openly = await targets.open(source, "scripted", OPENLY)
            lines += await _compared(targets, openly, TITLES[source], "dialogue")
    return lines


async def _on(targets: AttackTargets, target: AttackTarget, title: str, control: float | None) -> list[Attempted]:
    graph = target.bench.graph(target.loaded).blind
    asked = asked_of(target, targets.at_most(CONVERSATIONS))
    told = f"{title}, structure"
    exchanges = await exchange_all(target, asked, "sets", targets.counter(told, len(asked)))
    lines = [_refused(exchanges, title)]
    for share in SHARES:
        known = KnownGraph.of(graph, share, _SEED)
        if share == 1:
            lines.insert(0, _of_neighbourhoods(known, targets.at_most(NEIGHBOURHOODS), title, control))
        bounds = (PER_PROMPT, PER_CONVERSATION) if share == 1 else (1.0, 1.0)
        lines += guessed(known, share, exchanges, f"{told}, {share:.0%} known", bounds)
    return lines


async def _compared(
    targets: AttackTargets, target: AttackTarget, title: str, strategy: StrategyName
) -> list[Attempted]:
    """Strategies that show what a thing has, for comparison, without a bound."""
    told, asked = f"{title}, structure by {strategy}", asked_of(target, targets.at_most(COMPARED))
    exchanges = await exchange_all(target, asked, strategy, targets.counter(told, len(asked)))
    known = KnownGraph.of(target.bench.graph(target.loaded).blind, 1.0, _SEED)
    return guessed(known, 1.0, exchanges, told, (1.0, 1.0))


def asked_of(target: AttackTarget, count: int) -> list[Question]:
    """Conversations put together from the set's questions, or from questions made of the graph."""
    questions = askable(target.questions) or made_questions(target.bench.graph(target.loaded), 10 * count, _SEED)
    return conversations(questions, count, _SEED)


def guessed(
    known: KnownGraph, share: float, exchanges: Sequence[Exchange], name: str, most: tuple[float, float]
) -> list[Attempted]:
    """A line for each prompt alone, and one for each conversation as a whole; each by the reading that finds most."""
    ways: tuple[tuple[str, Callable[[Sequence[Exchange]], Prompts]], ...] = (
        ("per prompt", prompts_alone),
        ("per conversation", whole_conversations),
    )
    lines = []
    for (words, taken), bound in zip(ways, most, strict=True):
        found = [_by_reading(known, share, pieces, taken(exchanges)) for pieces in READINGS]
        best = max(found, key=lambda guesses: sum(guesses.right))
        lines.append(best.line(f"{name}, {words}", bound))
        if bound < 1:
            lines.append(best.of_large_kinds().line(f"{name}, {words}, of kinds of {LARGE} or more"))
    return lines


def _by_reading(known: KnownGraph, share: float, pieces: Sequence[Piece], prompts: Prompts) -> Guesses:
    guesses, matcher = Guesses(), Matcher(known, share, pieces)
    for exchange, shown in prompts:
        guess(matcher, known, revealed_by(shown), exchange, guesses)
    return guesses


def _of_neighbourhoods(known: KnownGraph, count: int, title: str, control: float | None) -> Attempted:
    matcher, guesses = Matcher(known, 1.0), Guesses()
    for node in sample_nodes(known, count, _SEED):
        seen = revealed_by(prompts_of(neighbourhood(known, node)))
        guesses.right.append(share_right(matcher.fits(seen)[TOPIC], node))
        guesses.blind.append(1.0 / int(known.of_concept(seen.concepts[TOPIC]).sum()))
    return guesses.line(f"{title}, whole neighbourhoods of two hops", control=control)


def _refused(exchanges: Sequence[Exchange], title: str) -> Attempted:
    """Questions with an answer that got none, for whatever reason: what a limit on what is shown costs at most."""
    answered = [each for exchange in exchanges for each in exchange.answered]
    return Attempted(
        name=f"{title}, questions without their answer",
        tries=len(answered),
        successes=answered.count(False),
        most=REFUSED,
    )


@dataclass(slots=True)
class Guesses:
    """The results of guessing: the expected shares right, and those of whoever knows the shown concept alone."""

    right: list[float] = field(default_factory=list)
    blind: list[float] = field(default_factory=list)

    def of_large_kinds(self) -> Guesses:
        """Of kinds with few members a blind guess is right often, whatever is shown."""
        kept = [pair for pair in zip(self.right, self.blind, strict=True) if pair[1] <= 1 / LARGE]
        return Guesses([right for right, _ in kept], [blind for _, blind in kept])

    def line(self, name: str, most: float = 1.0, control: float | None = None) -> Attempted:
        tries = len(self.right)
        return Attempted(
            name=name,
            tries=tries,
            successes=sum(self.right),
            blind=sum(self.blind) / tries if tries else 0.0,
            most=most,
            control=control,
            least=20 if most < 1 or control is not None else 0,
        )


def guess(matcher: Matcher, known: KnownGraph, seen: Revealed, exchange: Exchange, into: Guesses) -> None:
    """Guesses every entity that `seen` shows."""
    fits = matcher.fits(seen)
    for word in seen.single_things():
        truth = exchange.truth.get(word, NO_MIDS)
        if word.startswith("E") and len(truth) == 1:
            into.right.append(share_right(fits[word], known.number_of(int(truth[0]))))
            into.blind.append(1.0 / max(1, int(known.of_concept(seen.concepts[word]).sum())))


def prompts_alone(exchanges: Sequence[Exchange]) -> Iterator[tuple[Exchange, Sequence[Prompt]]]:
    for exchange in exchanges:
        for prompt in prompts_of(exchange.bodies):
            yield exchange, [prompt]


def whole_conversations(exchanges: Sequence[Exchange]) -> Iterator[tuple[Exchange, Sequence[Prompt]]]:
    for exchange in exchanges:
        yield exchange, prompts_of(exchange.bodies)
