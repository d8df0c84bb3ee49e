"""Hidden values: tell from any field of a reply which of two graphs holds a value that the asker may not see.

The two graphs are alike but for one hidden text, or one withheld treatment, of each person: what is true of a person
in the one is not in the other. An asker with a role that withholds the treatments asks both the same questions. An
attacker learns from the other four fifths of the pairs which differences between two replies tell where the value is.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import httpx2
import numpy as np
import numpy.typing as npt

import app.demo
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.membership import DRAWN, served
from evaluation.attacks.targets import AttackTargets, Attempted, area, dice_of, load_text
from evaluation.bench.bench import TENANT
from evaluation.bench.question_sets import DEMO

PAIRS: Final = 500
MAX_AREA: Final = 0.55
CONTROL_AREA: Final = 0.8
CONTROL_PAIRS: Final = 100
"""The pairs of the control, which needs fewer: most of its replies differ."""
PLACES: Final = 512
"""The length of a reply's vector: texts and numbers of all fields have their places in it by a hash."""
_FOLDS, _STEPS, _RATE, _SHRINK = 5, 200, 0.5, 1e-3
_RESAMPLED: Final = 1_000
_STEP_MS: Final = 100.0
_SEED: Final = 33
_GRAPHS, _ROLE = ("hidden-a", "hidden-b"), "desk"
_POLICY: Final = f"""names = ["http://www.w3.org/2000/01/rdf-schema#label"]
show_relations = "all"
show_classes = "all"
[relations."urn:house:diagnosis"]
hide = {{hide}}
[roles.{_ROLE}]
withhold_relations = ["urn:house:treatedBy"]
"""
_COMMON: Final = "depression cancer fever asthma price gold spring hope stroke burn fracture measles".split()
_OF_TEXTS: Final = (
    "Is there a patient with the diagnosis {value}?",
    "Who has {value}?",
    "Does {name} have {value}?",
    "{value}?",
    "Tell me about {name} and {value}.",
    "How many patients have the diagnosis {value}?",
    "Why does {name} have {value}?",
    "Where does the patient with {value} live?",
    "and {value}",
    "What do you know about {value}?",
)
_OF_TREATMENTS: Final = (
    "Is {name} treated by {value}?",
    "Who treats {name}?",
    "Which patients does {value} treat?",
    "How many patients are treated by {value}?",
    "Tell me about {name}.",
    "What connects {name} and {value}?",
    "Where do the patients of {value} live?",
)


@dataclass(frozen=True, slots=True)
class HiddenFact:
    """A question on a hidden fact, and which of the two graphs holds this fact."""

    question: str = field(repr=False)
    holder: int


@dataclass(frozen=True, slots=True)
class House:
    """The Turtle of the two graphs, and the questions on what is hidden in them."""

    turtle: tuple[str, str] = field(repr=False)
    facts: Sequence[HiddenFact] = field(repr=False)


def made_house(count: int) -> House:
    """Returns two graphs with `count` people each, and a question on each of them."""
    dice = dice_of(_SEED)
    words = tomllib.loads(Path(app.demo.__file__).with_name("clinic_words.toml").read_text("utf-8"))
    every = [f"{first} {family}" for first, family in product((*words["women"], *words["men"]), words["families"])]
    names = dice.sample(every, count + 20)
    people, doctors = names[:count], names[count:]
    syllables = [one + other for one, other in product("bdfgklmnprstvz", "aeiou")]
    common = ["usual"]
    lines = ([_head(doctors)], [_head(doctors)])
    facts = []
    for number, name in enumerate(people):
        invented = " ".join("".join(dice.choices(syllables, k=3)) for _ in range(2))
        text = f"{dice.choice(_COMMON)} {invented.split()[0]}" if number % 4 == 0 else invented
        doctor, other = dice.sample(range(len(doctors)), 2)
        holder, is_text = dice.randrange(2), number % 2 == 0
        for graph, own in enumerate(lines):
            is_held = graph == holder
            said = text if is_held and is_text else common[0]
            by = doctor if is_held or is_text else other
            own.append(
                f':p{number} a :Patient ; rdfs:label "{name}" ; :livesIn :t{number % 5} ; '
                f':diagnosis "{said}" ; :treatedBy :d{by} .'
            )
        forms, value = (_OF_TEXTS, text) if is_text else (_OF_TREATMENTS, doctors[doctor])
        facts.append(HiddenFact(forms[number // 2 % len(forms)].format(name=name, value=value), holder))
    return House(("\n".join(lines[0]), "\n".join(lines[1])), facts)


def _head(doctors: Sequence[str]) -> str:
    towns = "".join(f':t{at} a :Town ; rdfs:label "Hiddentown{"abcde"[at]}" .\n' for at in range(5))
    staff = "".join(
        f':d{at} a :Doctor ; rdfs:label "{name}" ; :livesIn :t{at % 5} .\n' for at, name in enumerate(doctors)
    )
    return f"@prefix : <urn:house:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n{towns}{staff}"


def leaves(told: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yields each text, number and truth value of a reply with the fields that lead to it, and the sizes of lists."""
    if isinstance(told, Mapping):
        for name, each in told.items():
            yield from leaves(each, f"{path}.{name}")
    elif isinstance(told, list):
        yield f"{path}#", len(told)
        for each in told:
            yield from leaves(each, path)
    else:
        yield path, told


def vector_of(told: object, steps: float) -> npt.NDArray[np.float64]:
    """Returns a reply as a vector; `steps`: its time in the steps to which replies are held back."""
    found = np.zeros(PLACES)
    for path, each in (*leaves(told), ("steps", steps)):
        if path in (".id", ".conversation", ".graph") or ".milliseconds" in path:
            continue
        if isinstance(each, str):
            # A sealed text has a length alone; of a drawn word it tells only that there is one.
            said = [] if path.endswith(".sealed") else DRAWN.sub("*", each).split()
            places = [path, *(f"{path} {word}" for word in said)]
            found[_place(f"{path} length")] += np.log1p(len(each))
        elif isinstance(each, int | float) and not isinstance(each, bool):
            places, found[_place(f"{path} number")] = [path], float(each)
        else:
            places = [f"{path} {each}"]
        for place in places:
            found[_place(place)] += 1.0
    return found


def _place(text: str) -> int:
    return crc32(text.encode()) % PLACES


def guesses(differences: npt.NDArray[np.float64], signs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns for each pair the score of a logistic regression that learnt from the other folds.

    `differences`: the first reply less the second; `signs`: 1 where the first graph holds the value, -1 otherwise.
    """
    scale = np.maximum(differences.std(axis=0), 1e-9)
    rows = np.where(scale > 1e-9, differences / scale, 0.0)
    told, fold = np.zeros(len(signs)), np.arange(len(signs)) % _FOLDS
    for at in range(_FOLDS):
        learnt, weights = fold != at, np.zeros(rows.shape[1])
        for _ in range(_STEPS):
            wrong = 1 / (1 + np.exp(np.clip(signs[learnt] * (rows[learnt] @ weights), -30, 30)))
            weights += _RATE * ((signs[learnt] * wrong) @ rows[learnt] / learnt.sum() - _SHRINK * weights)
        told[~learnt] = rows[~learnt] @ weights
    return told


def interval(told: npt.NDArray[np.float64], signs: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Returns the AUC, and the bounds between which it lies in 95 % of samples drawn again from the pairs."""
    dice = np.random.default_rng(_SEED)
    drawn = []
    for _ in range(_RESAMPLED):
        chosen = dice.integers(0, len(signs), len(signs))
        drawn.append(area(told[chosen][signs[chosen] > 0].tolist(), told[chosen][signs[chosen] < 0].tolist()))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return area(told[signs > 0].tolist(), told[signs < 0].tolist()), float(low), float(high)


async def hidden_values(targets: AttackTargets) -> list[Attempted]:
    """Asks both graphs as a role and, for the control, as somebody who may see all of graphs that hide less."""
    house = made_house(targets.at_most(PAIRS))
    # A fresh service with its default pace, of which the steps of time are a part.
    target = await targets.open(DEMO, changes={"reply_step_ms": _STEP_MS, "names_per_day": 1_000_000})
    lines = []
    for name, hide, role in (("a role", True, f"#{_ROLE}"), ("whoever sees all", False, "")):
        async with served(target.bench) as http:
            for graph, turtle in zip(_GRAPHS, house.turtle, strict=True):
                load_text(target.bench, f"{graph}.ttl", turtle, _POLICY.format(hide=str(hide).lower()))
            key = target.bench.services.store.access.create(TENANT, "user", [f"{each}{role}" for each in _GRAPHS]).key
            facts = house.facts if hide else house.facts[:CONTROL_PAIRS]
            replies = [await _both(http, key, fact, targets, at) for at, fact in enumerate(facts)]
        signs = np.array([1.0 if fact.holder == 0 else -1.0 for fact in facts])
        for what, of in (("fields", 0), ("fields and steps of time", 1)):
            differences = np.array([pair[of] for pair in replies])
            found, low, high = interval(guesses(differences, signs), signs)
            differing = int((np.abs(np.array([pair[0] for pair in replies])).sum(axis=1) > 0).sum())
            lines.append(
                Attempted(
                    name=f"AUC, hidden values told to {name} by {what}",
                    tries=len(signs),
                    successes=found * len(signs),
                    blind=0.5,
                    most=MAX_AREA,
                    control=CONTROL_AREA if not hide else None,
                    note=f"95 %: {low:.3f} to {high:.3f}; {differing} pairs differ in a field",
                )
            )
    return lines[:3]


async def _both(
    http: httpx2.AsyncClient, key: str, fact: HiddenFact, targets: AttackTargets, at: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Asks both graphs, in turn first, and returns the differences of their replies, without and with time."""
    targets.counter("hidden values", PAIRS)(at)
    found: dict[str, tuple[Any, float]] = {}
    for graph in _GRAPHS if at % 2 else reversed(_GRAPHS):
        body = {
            "graph": graph,
            "messages": [{"role": "user", "content": fact.question}],
            "public_key": KeyPair.generate().public_text,
        }
        began = time.perf_counter()
        reply = await http.post("/chat", json=body, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        steps = (time.perf_counter() - began) * 1_000 // _STEP_MS
        found[graph] = {"status": str(reply.status_code), **json.loads(reply.text)}, steps
    (first, one), (second, other) = (found[graph] for graph in _GRAPHS)
    return vector_of(first, 0) - vector_of(second, 0), vector_of(first, one) - vector_of(second, other)
