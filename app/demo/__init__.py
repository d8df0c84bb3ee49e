"""The demo graph that comes with the service: an invented clinic network, its policy, and forty questions.

`clinic.ttl` was generated once and is not generated again; all people, places, companies and drugs in it are invented.

One line of `questions.jsonl` is one question:

- `question`, or `turns`: the user's turns of a dialogue, the last of which is the question;
- `answers`: names, dates and numbers as the asker sees them, `yes` or `no`; for counts by group, `name: number`;
- `kind`: the kind of question it tests; `topic_entities`: the names in it that the graph holds;
- `plan`: how to answer it, for endpoints that play a model; null where the graph can't answer;
- `turn_plans`: the plans of the turns before the last.

A plan such as `{"sets": {"A": {"start": "topic:0", "path": ["^treated by"]}}, "answer": ["count(A)"]}` counts the
patients of the doctor whom the question names. Each of its `sets` holds the things that `path` leads to from `start`:

- `start` is `topic:n` (the n-th pseudonym of the question, from 0), `earlier:n` (the n-th of the user's earlier
  turns), `kind:concept` (all things of a concept) or `set:A` (the set A);
- `path` is a list of relations as `Schema.label_step` writes them, with `^` before one that is followed backwards.

The expressions in `answer` name sets by letter, and pseudonyms as in `start`.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

GRAPH_NAME = "demo"
GRAPH_FILE = _HERE / "clinic.ttl"
POLICY_FILE = _HERE / "clinic.policy.toml"
QUESTIONS_FILE = _HERE / "questions.jsonl"
