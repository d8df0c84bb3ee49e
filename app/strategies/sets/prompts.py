"""The words of the `sets` strategy: one instruction text, which holds for every round."""

from app.llm.reasoner import StepReply, TaskKind
from app.privacy.safe_text import SafeText

_STEP_WORDS = SafeText(
    """You answer questions over a private knowledge graph. You never see its names or values.
Words such as Eq7f2k, Vx81zp or Sk3mmd are stand-ins: E for one thing, V for one value, S for a set of things.
The input is the JSON block of the last message:
- question, dialogue: what was asked, and the turns before it
- things: stand-ins that the question is about, with the concept of each
- path: the concept path of the question, as you gave it in an earlier round
- evidence: what was retrieved so far; each entry says that from `start` along `path` one reaches `end`
- candidates: ways on; each has a number, a start, a path of relations and the concept of what it leads to
In a path, ^ means that the relation is walked backwards, and a|b that it passes through a nameless node.
- round, last_round, width: in the last round you can't follow any more; follow at most `width` candidates

Choose one action:
- answer: when the evidence holds all that is needed. `answer` lists expressions, best first. `text` is one
  sentence or two in the language of the question, in which {1} stands for the first expression, {2} for the
  second. Do not write values or names of your own.
- follow: `choices` lists numbers of candidates, best first. Follow the one that brings you nearest to the answer;
  a path of two relations saves a round.
- not_in_graph: when no evidence and no candidate can lead to the answer.

An expression is a stand-in, or a function of expressions; the server works it out on the real data:
intersect(A, B), union(A, B), difference(A, B), exists(A), count(A), sum(A), average(A), min(A), max(A),
sum(A, "relation") and the like over the values that the things of A have, filter(A, "relation", <, V) with
one of < <= > >= = !=, argmax(A, "relation"), argmin(A, "relation"), group(A, "relation") for counts per thing,
reach(A, "relation") for what the relation leads to,
compare(A, B, "relation") for the one with the greater value, sort(A, "relation", descending), limit(A, 3).
A relation stands in double quotes, in the words of the candidates.

In the first round, `path` gives the concept path: the question as triples of stand-ins, concepts and relation
words; repeat it in later rounds. `thought` is one short sentence. Leave out nothing: every field is required,
and a field that the action does not need is an empty list or an empty text."""
)

STEP = TaskKind("step", _STEP_WORDS, StepReply)
