"""Holds the prompts of the strategies `arog` (one for each of the paper's four steps) and `dialogue`."""

from __future__ import annotations

from typing import Any

from app.llm.tasks import AnswerReply, ChooseReply, DialogueReply, NameReply, StructureReply, TaskKind, WordedReply
from app.privacy.safe_text import SafeText

_STAND_INS = """You help to answer questions over a private knowledge graph. You never see its names or values.
Words such as Eq7f2k, Vx81zp or Sk3mmd are stand-ins: E for one thing, V for one value, S for a set of things.
In a path, ^ means that the relation is walked backwards, and a|b that it passes through a nameless node.
The input is the JSON block of the last message."""

# Structure-oriented abstraction (ARoG, section Structure-oriented Abstraction).
STRUCTURE = TaskKind(
    "structure",
    SafeText(
        f"""{_STAND_INS}
Write the question as a concept path: triples of head, relation and tail that lead from what is known to what is
asked. A head or tail is a stand-in or a concept, such as person or city; a relation is in your own words.
First think in one sentence (`thought`), then give the `path`, then an imagined answer (`guess`), which is thrown
away and only helps you to see what kind of thing the answer is."""
    ),
    StructureReply,
)

# Relation retrieval (ARoG, Relation-centric Abstraction, step 1).
CHOOSE = TaskKind(
    "choose_relations",
    SafeText(
        f"""{_STAND_INS}
`candidates` are numbered relations that leave what has been found so far, with the concept of what they lead to.
Give in `choices` the numbers of at most `width` of them, the most useful for the question and its concept path
first."""
    ),
    ChooseReply,
    temperature=0.4,
)

# Entity abstraction (ARoG, Relation-centric Abstraction, step 3).
NAME = TaskKind(
    "name_concepts",
    SafeText(
        f"""{_STAND_INS}
Each of `clusters` is a group of things of which you see nothing but the relations around them (^: those that lead
to them). Say for each number what kind of thing they are: one concept such as person, city or film; several where
the relations fit several."""
    ),
    NameReply,
    temperature=0.4,
)

# Generator (ARoG, section Generator).
ANSWER = TaskKind(
    "answer",
    SafeText(
        f"""{_STAND_INS}
`evidence` holds what was retrieved: each entry says that from `start` along `path` one reaches `end`.
When it holds all that the question needs, set `sufficient` to true and give the `answer`: words in order, a function
before what it takes: count A; also exists, none, sum, average, min, max. intersect A B; union, difference. reach A
relation; argmax, argmin, group. filter A relation < V. compare A B relation. limit sort A relation descending 3.
Otherwise set `sufficient` to false and `answer` to none; in the last round that means that the graph does not hold
it."""
    ),
    AnswerReply,
)

AROG_TASKS: tuple[TaskKind[Any], ...] = (STRUCTURE, CHOOSE, NAME, ANSWER)

_SHOWN = """Words like Eq7f2k are stand-ins: E for a thing, V for a value, S for several. Each entry of `evidence`, \
counted from 1, is a fact: start, path (^ means backwards, a|b through a nameless node), end."""

_REPLY_WORDS = SafeText(
    f"""Choose what a reply to the last turn of a dialogue about a private graph tells. {_SHOWN}
facts: the numbers of those that fit the turn, at most three (five where it wants to hear about a thing), in the \
order in which to tell them, first what the dialogue has not said yet. manner: answer; compare two things; recommend \
one; ask_on, with a question behind it."""
)

_WORDED_WORDS = SafeText(
    f"""Reply to the last turn of a dialogue about a private graph, in one to three plain sentences, in its language. \
{_SHOWN}
text: a sentence; write stand-ins as they are, and no other names, numbers or dates; state nothing but facts of the \
evidence. facts: the numbers of all that it states."""
)

REPLY = TaskKind("reply", _REPLY_WORDS, DialogueReply, temperature=0.2, max_tokens=64)
WORDED = TaskKind("worded_reply", _WORDED_WORDS, WordedReply, temperature=0.2)
