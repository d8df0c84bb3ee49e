"""The words of the `dialogue` strategy: one short instruction text."""

from app.llm.tasks import DialogueReply, TaskKind
from app.privacy.safe_text import SafeText

# The pieces of a reply are sentences, so that each is checked, and shown beside what carries it.
_REPLY_WORDS = SafeText(
    """Reply to the last turn of a dialogue about a private graph, in one to three plain sentences (five where the \
turn wants to hear about a thing), in its language. Words like Eq7f2k are stand-ins: E for a thing, V for a value, S \
for several; write them as they are, and no other names, numbers or dates. State nothing but what the evidence says: \
start, path (^ means backwards, a|b through a nameless node), end. Say first what the dialogue has not said yet. One \
sentence for facts that belong together. sentences: the reply, sentence by sentence; [] if no evidence fits."""
)

REPLY = TaskKind("reply", _REPLY_WORDS, DialogueReply, temperature=0.2)
