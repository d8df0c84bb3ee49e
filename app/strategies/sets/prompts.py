"""The prompts of the `sets` strategy: one short instruction text for each form of reply, used in every round."""

from app.llm.tasks import StepReply, TaskKind
from app.privacy.safe_text import SafeText

# Every word costs tokens in every call: docs/decisions/0006 says what was left out and what that saved.
_STEP_WORDS = SafeText(
    """Answer from a private graph. Words like Eq7f2k are stand-ins: E for a thing, V for a value, S for a set. In \
paths, ^ means backwards, a|b through a nameless node.
`answer`: words in order, a function before what it takes: way(n) is all that candidate n leads to, hint may be the \
meaning. count A; also exists none sum average min max. intersect A B; union difference. reach A relation; argmax \
argmin group. filter A relation < V. compare A B relation. limit sort A relation descending 3.
follow way(n) ... shows where up to 3 lead; more: none fits; none: not in the graph"""
)

_BRIEF_WORDS = SafeText(
    """Which entry of `choices` answers the question? Words like Eq7f2k stand for names. Entry 0 is a first reading, \
and mostly right. Reply with its number in `answer`: 0, unless another entry fits the question better."""
)

STEP = TaskKind("step", _STEP_WORDS, StepReply, brief=_BRIEF_WORDS, max_tokens=256)
