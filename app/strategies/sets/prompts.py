"""The words of the `sets` strategy: one short instruction text, which holds for every round."""

from app.llm.tasks import StepReply, TaskKind
from app.privacy.safe_text import SafeText

# Every word is paid for in every call: docs/decisions/0006 says what was left out, and what it had cost.
_STEP_WORDS = SafeText(
    """Answer from a private graph. Words like Eq7f2k are stand-ins: E for a thing, V for a value, S for a set. In \
paths, ^ means backwards, a|b through a nameless node.
action:
follow: choices = up to 3 candidates that lead on, best first; [] if none fits
answer: answer = expressions, best first; text = a sentence in the question's language, {1} for the first \
expression, no names
not_in_graph
Expressions: stand-ins, way(2) for what candidate 2 leads to, and of these intersect(A, B) union difference exists \
count sum average min max limit(A, 3) reach(A, "relation") sum argmax argmin group compare(A, B, "relation") \
sort(A, "relation", descending) filter(A, "relation", <, V)"""
)

STEP = TaskKind("step", _STEP_WORDS, StepReply)
