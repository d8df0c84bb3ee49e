"""The demo graph that comes with the service: an invented clinic network, its policy, and forty questions.

`clinic.ttl` was generated once and is not generated again; all people, places, companies and drugs in it are invented.

One line of `questions.jsonl` is one question:

- `question`, or `turns`: the user's turns of a dialogue, the last of which is the question;
- `answers`: names, dates and numbers as the asker sees them, `yes` or `no`; for counts by group, `name: number`;
- `kind`: the kind of question it tests; `topic_entities`: the names in it that the graph holds;
- `plan`: how to answer it, for endpoints that play a model; null where the graph can't answer. A set starts at
  `topic:n` (the n-th pseudonym of the question), `earlier:n` (the n-th of the user's earlier turns),
  `kind:concept` or `set:A`, and follows `path`, whose elements are written as in `Schema.label_step`. The expressions
  of `answer` name sets by letter, and pseudonyms as above. `turn_plans` are the plans of the turns before the
  last.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

GRAPH_NAME = "demo"
GRAPH_FILE = _HERE / "clinic.ttl"
POLICY_FILE = _HERE / "clinic.policy.toml"
QUESTIONS_FILE = _HERE / "questions.jsonl"
