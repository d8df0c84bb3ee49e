"""Measure how well names are found as people type them: with generated slips, and in questions of a public set.

The rules that generate slips share no code with the linker.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import C360, DEMO, PQ_2H, PQ_3H, WEBQSP, Show
from evaluation.checks.metrics import comparable
from evaluation.datasets.questions import Question
from evaluation.tables.measures import Asker, Measure, asking, share
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import concept_of
from kg_store.names.other_forms import Mention
from kg_store.terms import NodeKind, as_mids

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BARE = dict(zip("äöüåéèêëáàâãíìîïóòôõúùûýñçøłšžčř", "aouaeeeeaaaaiiiioooouuuyncolszcr", strict=True)) | {
    "ß": "ss", "æ": "ae", "œ": "oe",
}  # fmt: skip
_SPELT_OUT = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss", "æ": "ae"}
_MISTYPED_FROM = 5
_TWO_SLIPS_FROM = 9


class Slip(NamedTuple):
    """One way to get a name wrong. `apply` returns the name unchanged if the slip does not fit it."""

    kind: str
    apply: Callable[[str, Random], str]
    people_only: bool = False


def _in_a_word(change: Callable[[str, Random], str], least: int = _MISTYPED_FROM) -> Callable[[str, Random], str]:
    """Returns a function that applies `change` to one word long enough to be recognised afterwards."""

    def apply(name: str, dice: Random) -> str:
        words = name.split(" ")
        long = [at for at, word in enumerate(words) if len(word) >= least and word.isalpha()]
        if not long:
            return name
        at = dice.choice(long)
        return " ".join([*words[:at], change(words[at], dice), *words[at + 1 :]])

    return apply


def _changed(change: Callable[[str, int], str], last: int = 0) -> Callable[[str, Random], str]:
    """Returns a function that applies `change` at a random place of a word, never at its first letter."""
    return lambda word, dice: change(word, dice.randrange(1, len(word) - last))


_drop = _changed(lambda word, at: word[:at] + word[at + 1 :])


def _wrong_key(word: str, dice: Random) -> str:
    at = dice.randrange(1, len(word))
    rows = [row for row in _KEYBOARD if word[at].lower() in row]
    if not rows:
        return word
    place = rows[0].index(word[at].lower())
    beside = [rows[0][near] for near in (place - 1, place + 1) if 0 <= near < len(rows[0])]
    return word[:at] + dice.choice(beside) + word[at + 1 :]


def _mapped(letters: dict[str, str]) -> Callable[[str, Random], str]:
    large = {letter.upper(): bare.capitalize() for letter, bare in letters.items() if letter != "ß"}
    table = str.maketrans(letters | large)
    return lambda name, _dice: name.translate(table)


def _initials(point: str) -> Callable[[str, Random], str]:
    def apply(name: str, _dice: Random) -> str:
        *given, last = name.split(" ")
        return " ".join([*(word[0] + point for word in given), last])

    return apply


SLIPS: tuple[Slip, ...] = (
    Slip(
        "letters swapped",
        _in_a_word(_changed(lambda word, at: word[:at] + word[at + 1] + word[at] + word[at + 2 :], last=1)),
    ),
    Slip("letter dropped", _in_a_word(_drop)),
    Slip("letter doubled", _in_a_word(_changed(lambda word, at: word[: at + 1] + word[at:]))),
    Slip("wrong key", _in_a_word(_wrong_key)),
    Slip("two slips", _in_a_word(lambda word, dice: _drop(_wrong_key(word, dice), dice), _TWO_SLIPS_FROM)),
    Slip("accents left out", _mapped(_BARE)),
    Slip("accents spelt out", _mapped(_SPELT_OUT)),
    Slip("initials", _initials("."), people_only=True),
    Slip("initials without points", _initials(""), people_only=True),
    Slip("surname alone", lambda name, _dice: name.split(" ")[-1], people_only=True),
    Slip("first name alone", lambda name, _dice: name.split(" ")[0], people_only=True),
    Slip("surname first", lambda name, _dice: ", ".join(reversed(name.rsplit(" ", 1))), people_only=True),
    Slip("hyphen as a space", lambda name, _dice: name.replace("-", " ")),
    Slip("hyphen left out", lambda name, _dice: name.replace("-", "")),
    Slip("apostrophe left out", lambda name, _dice: name.replace("'", "").replace("’", "")),
    Slip("apostrophe as a space", lambda name, _dice: name.replace("'", " ").replace("’", " ")),
    Slip("run together", lambda name, _dice: name.replace(" ", ""), people_only=True),
    Slip("small letters", lambda name, _dice: name.lower()),
    Slip("underscores", lambda name, _dice: name.replace(" ", "_")),
)

_SENTENCES: Final = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
CARRIERS: Final[list[str]] = _SENTENCES["carriers"]
PLAIN: Final[list[str]] = _SENTENCES["plain"]
MIN_RECALL, MIN_PRECISION, MIN_TOPICS = 0.90, 0.97, 0.90
PEOPLE = frozenset(("person", "people", "patient", "doctor", "nurse", "relative", "customer", "employee"))
NO_NAME = "no name"
_NAME_WORDS = (2, 3)
_SMALL = frozenset("of de la le van von der den du di da the ii iii iv i v vi vii viii".split())
_TRIES = 40


class TypedMention(NamedTuple):
    """A sentence whose span [start, end) names `mid`; start and end are 0 if it holds no name."""

    kind: str
    text: str
    start: int
    end: int
    mid: int


class KindOfSlip(NamedTuple):
    """Counts over the sentences of one kind, mostly a kind of slip such as a dropped letter.

    `typed`: names in the sentences; `found`: names found among them; `linked`: mentions that the linker read; `right`:
    mentions that it read as what was meant; `choices`: things that mentions may mean, summed over all mentions.
    """

    kind: str
    typed: int
    found: int
    linked: int
    right: int
    choices: int

    @property
    def recall(self) -> float:
        return self.found / self.typed if self.typed else 1.0

    @property
    def precision(self) -> float:
        """Returns the share of read mentions that were meant."""
        return self.right / self.linked if self.linked else 1.0


def whole(kinds: Sequence[KindOfSlip]) -> KindOfSlip:
    """Returns the sums over all kinds."""
    parts = [(each.typed, each.found, each.linked, each.right, each.choices) for each in kinds]
    return KindOfSlip("all", *map(sum, zip(*parts, strict=True)))


def linking_measures(slips: KindOfSlip, topics: KindOfSlip) -> list[Measure]:
    """Returns the lines for names with slips and for topics of questions."""
    return [
        share("topics found, WebQSP half", topics.recall, topics.typed, MIN_TOPICS),
        share("of what is read as a name there, a topic", topics.precision, topics.linked),
        share("misspelt and abbreviated names found", slips.recall, slips.typed, MIN_RECALL),
        share("of what is read as a name there, the one that was meant", slips.precision, slips.linked, MIN_PRECISION),
    ]


def linking_markdown(kinds: Sequence[KindOfSlip], topics: KindOfSlip) -> str:
    rows = []
    for each in (*kinds, whole(kinds), topics):
        mean = each.choices / each.linked if each.linked else 0.0
        rows.append((each.kind, each.typed, f"{each.recall:.3f}", f"{each.precision:.3f}", f"{mean:.1f}"))
    return markdown_table(("kind", "sentences", "recall", "precision", "read as, mean"), rows)


async def run_linking(data: Path, mentions: int, seed: int, show: Show) -> tuple[list[KindOfSlip], KindOfSlip]:
    """Measures slips on the demo, c360 and PathQuestion by kind, and WebQSP's topics. Raises QuestionsError."""
    async with asking(data, mentions, seed, show) as asker:
        webqsp, questions = asker.sets.of(WEBQSP)
        return slips_of(asker), measure_topics(asker.sets.bench.graph(webqsp), questions)


def slips_of(asker: Asker) -> list[KindOfSlip]:
    """Measures `asker.limit` names with slips, over all graphs but WebQSP's."""
    sets = asker.sets
    loaded = [sets.graph(C360), *(sets.of(source)[0] for source in (DEMO, PQ_2H, PQ_3H))]
    return measure_mentions([sets.bench.graph(each) for each in loaded], asker.limit, asker.seed)


def measure_mentions(graphs: Sequence[PrivateGraph], mentions: int = 1_000, seed: int = 0) -> list[KindOfSlip]:
    """Measures `mentions` misspelt and abbreviated names of entities, spread evenly over graphs and kinds of slip.

    Sentences without a name are added. A name that several entities share counts as found if the right one is among
    them.
    """
    results = [(each, _mentions(graph, each.text)) for graph, each in _corpus(graphs, mentions, Random(seed))]  # noqa: S311  # a sample, no secret  # nosec B311
    kinds = dict.fromkeys(each.kind for each, _ in results)
    return [_of_slips(kind, [pair for pair in results if pair[0].kind == kind]) for kind in kinds]


def measure_topics(graph: PrivateGraph, questions: Sequence[Question]) -> KindOfSlip:
    """Counts the topic entities of `questions` that linked mentions hold; precision is over all mentions."""
    typed = found = linked = right = choices = 0
    for question in questions:
        wanted = {comparable(topic) for topic in question.topic_entities}
        mentions = [each for text in question.texts for each in _mentions(graph, text)]
        records = [graph.vault.records(each.mids).values() for each in mentions]
        meant = [{comparable(name) for record in each for name in record.names} for each in records]
        typed += len(wanted)
        found += len(wanted & set().union(*meant)) if meant else 0
        linked += len(mentions)
        right += sum(bool(names & wanted) for names in meant)
        choices += sum(len(each.mids) for each in mentions)
    return KindOfSlip("topics", typed, found, linked, right, choices)


def _of_slips(kind: str, results: Sequence[tuple[TypedMention, list[Mention]]]) -> KindOfSlip:
    found = right = linked = choices = 0
    for typed, mentions in results:
        held = [
            each for each in mentions if each.start < typed.end and typed.start < each.end and typed.mid in each.mids
        ]
        found += bool(held)
        right += len(held)
        linked += len(mentions)
        choices += sum(len(each.mids) for each in mentions)
    return KindOfSlip(kind, 0 if kind == NO_NAME else len(results), found, linked, right, choices)


def _mentions(graph: PrivateGraph, text: str) -> list[Mention]:
    """Returns the mentions of entities in a question as the anonymiser reads it.

    Everyday words count as names only if nothing else but numbers is named.
    """
    named = [each for each in graph.linker.find_mentions(text) if each.value_kind is None]
    if any(any(map(str.isalpha, text[each.start : each.end])) for each in named):
        return named
    more = [each for each in graph.linker.find_unmarked(text, graph.public) if each.value_kind is None]
    taken = {(each.start, each.end) for each in more}
    return [*(each for each in named if (each.start, each.end) not in taken), *more]


def _corpus(graphs: Sequence[PrivateGraph], mentions: int, dice: Random) -> list[tuple[PrivateGraph, TypedMention]]:
    made: list[tuple[PrivateGraph, TypedMention]] = []
    names = [_names(graph) for graph in graphs]
    able = {(at, slip.kind): _able(names[at], slip) for at in range(len(graphs)) for slip in SLIPS}
    turns = [(at, slip) for slip in SLIPS for at in range(len(graphs)) if able[at, slip.kind]]
    for turn in range(mentions):
        at, slip = turns[turn % len(turns)]
        made.append((graphs[at], _typed(slip, dice.choice(able[at, slip.kind]), dice)))
    return [*made, *((graph, TypedMention(NO_NAME, text, 0, 0, 0)) for graph in graphs for text in PLAIN)]


class _Name(NamedTuple):
    mid: int
    text: str
    is_person: bool


def _able(names: Sequence[_Name], slip: Slip) -> list[_Name]:
    """Returns the names that the slip changes."""
    dice = Random(0)  # noqa: S311  # a sample, no secret  # nosec B311
    return [
        each for each in names if (each.is_person or not slip.people_only) and slip.apply(each.text, dice) != each.text
    ]


def _typed(slip: Slip, name: _Name, dice: Random) -> TypedMention:
    written = name.text
    for _ in range(_TRIES):
        written = slip.apply(name.text, dice)
        if written != name.text:
            break
    before, _, after = dice.choice(CARRIERS).partition("{}")
    text = before + written + after
    return TypedMention(
        slip.kind, text.lower() if slip.kind == "small letters" else text, len(before), len(before + written), name.mid
    )


def _names(graph: PrivateGraph) -> list[_Name]:
    """Returns the preferred name of every entity, with spaces for underscores.

    A name is a person's if its kind is one of people and it has two or three words, none of them small (of, III).
    """
    signatures = [each.id for each in graph.blind.schema.signatures if each.kind is NodeKind.ENTITY]
    found = []
    for mid, record in graph.vault.records(graph.blind.members(signatures).tolist()).items():
        if record.names and not any(map(str.isdigit, record.names[0])):
            text = record.names[0].replace("_", " ")
            words, kind = text.split(" "), concept_of(graph.blind, as_mids([int(mid)])).split()
            plain = all(len(word) > 1 and word.casefold() not in _SMALL and not word.endswith(".") for word in words)
            is_person = plain and len(words) in _NAME_WORDS and not PEOPLE.isdisjoint(kind)
            found.append(_Name(int(mid), text, is_person))
    # Sort by name, since MIDs change with every load and one seed must give the same corpus.
    return sorted(found, key=lambda name: name.text)
