"""The prompts of the `dialogue` strategy: one short instruction text, and one for models that may word a reply."""

from app.llm.tasks import DialogueReply, TaskKind, WordedReply
from app.privacy.safe_text import SafeText

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
