"""Attack by pseudonyms that are invented, altered or another user's, by others' conversations, and by their capsules.

The attacker has a key of the same tenant with the same grants, and every byte of the victim's replies. It has neither
the victim's private key nor the victim's questions, which anybody with the same grants could ask as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise

from app.chat.conversations import UnknownConversationError
from app.llm.reasoner import ReasonerError
from app.privacy.pseudonyms import draw_word
from app.privacy.safe_text import PrivacyError
from client_sdk.answers.answer import open_answer, open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.errors import ArogError
from client_sdk.protocol import Ambiguity, ChatAnswer, ChatRequest, Fact, Message, Sentence
from client_sdk.restore import restore
from evaluation.attacks.targets import ATTACKER, VICTIM, AttackTargets, Attempted, Recorded, each_pseudonym
from evaluation.bench.question_sets import DEMO
from evaluation.bench.report import ChatEndpoint

INVENTED = 2_000
# Maps Latin letters to look-alikes of other alphabets.
_ALIKE = str.maketrans("EVSeaopcx", "ЕѴЅеаорсх")
_FACT = Fact(head="Eq7f2k", head_concept="thing", path=["knows"], tail="Eq7f2k", tail_concept="thing")
# The demo graph has answers to these for most people, and the evidence of an answer names the person asked about.
_QUESTIONS = ("Where does {} live?", "Who is {} treated by?")


async def restorations_on_demo(targets: AttackTargets) -> list[Attempted]:
    return restorations(await (await targets.open(DEMO)).recorded())


async def echoes_on_demo(targets: AttackTargets) -> list[Attempted]:
    target = await targets.open(DEMO)
    recorded = await target.recorded()
    return await echoes(target.bench.services.chat, recorded[: targets.at_most(len(recorded))])


async def conversations_on_demo(targets: AttackTargets) -> list[Attempted]:
    target = await targets.open(DEMO)
    return await conversations(target.bench.services.chat, await target.recorded())


async def capsules_on_demo(targets: AttackTargets) -> list[Attempted]:
    target = await targets.open(DEMO)
    return capsules(await target.recorded(), target.victim)


def altered(pseudonym: str) -> Iterator[str]:
    """Yields words that a person, a model or a careless program could take for `pseudonym`."""
    yield from (pseudonym.lower(), pseudonym.upper(), pseudonym.swapcase(), pseudonym.translate(_ALIKE))
    yield from (pseudonym[:-1], pseudonym[1:], pseudonym + "s", "x" + pseudonym, pseudonym + pseudonym)
    yield from (pseudonym[:3] + sign + pseudonym[3:] for sign in " -")
    for at in range(len(pseudonym)):
        yield pseudonym[:at] + ("0" if pseudonym[at] != "0" else "1") + pseudonym[at + 1 :]
        yield pseudonym[:at] + pseudonym[at + 1 :]


def restorations(recorded: Sequence[Recorded]) -> list[Attempted]:
    """Counts how often the victim's own SDK restores altered or invented pseudonyms in the text of an answer."""
    issued = list(each_pseudonym(recorded))
    changed = [(one, word) for one, known in issued for word in altered(known) if word not in one.table]
    drawn = INVENTED // max(1, len(recorded))
    invented = [(one, draw_word("E", one.table)) for one in recorded for _ in range(drawn)]

    def restored(words: Sequence[tuple[Recorded, str]]) -> list[bool]:
        texts = [(one, f"It is {word}.") for one, word in words]
        return [restore(text, one.table) != text for one, text in texts]

    return [
        Attempted.of("a pseudonym as it was issued, restored", restored(issued), control=1.0),
        Attempted.of("altered pseudonyms, restored", restored(changed), least=500),
        Attempted.of("invented pseudonyms, restored", restored(invented), least=1_000),
    ]


async def conversations(chat: ChatEndpoint, recorded: Sequence[Recorded]) -> list[Attempted]:
    """Counts the recorded conversations that can be continued by their id: by their owner, and by an attacker."""
    public_key = KeyPair.generate().public_text
    entered: dict[str, list[bool]] = {VICTIM.key_id: [], ATTACKER.key_id: []}
    for one in recorded:
        messages, conversation = [Message(role="user", content="Who is that?")], one.reply.conversation
        request = ChatRequest(
            graph=one.reply.graph, messages=messages, conversation=conversation, public_key=public_key
        )
        for caller in (VICTIM, ATTACKER):
            try:
                await chat.answer(caller, request)
                entered[caller.key_id].append(True)
            except UnknownConversationError:
                entered[caller.key_id].append(False)
    return [
        Attempted.of("conversations entered by their owner", entered[VICTIM.key_id], control=1.0),
        Attempted.of("conversations entered by another key", entered[ATTACKER.key_id], least=20),
    ]


async def echoes(chat: ChatEndpoint, recorded: Sequence[Recorded]) -> list[Attempted]:
    """Counts how often an attacker gets a name by typing a victim's pseudonym, or by replaying the victim's answer.

    Blind guess: the attacker types a pseudonym that nobody was given. Control: the victim types its own pseudonym in
    its own conversation, and gets the name.
    """
    own, typed, replayed, blind = list[bool](), list[bool](), list[bool](), list[bool]()
    for (one, pseudonym), question in zip(each_pseudonym(recorded), cycle(_QUESTIONS), strict=False):
        graph, hidden = one.reply.graph, one.names_of(pseudonym)
        asked, stranger = question.format(pseudonym), question.format(draw_word("E", one.table))
        turns = ["Who is it?", one.reply.message.content, asked]
        own.append(bool(hidden & await _told(chat, graph, [asked], one)))
        typed.append(bool(hidden & await _told(chat, graph, [asked])))
        replayed.append(bool(hidden & await _told(chat, graph, turns)))
        blind.append(bool(hidden & await _told(chat, graph, [stranger])))
    guess = sum(blind) / max(1, len(blind))
    return [
        Attempted.of("one's own pseudonym, typed in its conversation", own, control=0.5),
        Attempted.of("another's pseudonym, typed", typed, blind=guess, most=guess, least=20),
        Attempted.of("another's turn, replayed", replayed, blind=guess, most=guess, least=20),
    ]


def capsules(recorded: Sequence[Recorded], victim: KeyPair) -> list[Attempted]:
    """Tries to open capsules with another key, in other answers, and in an answer that was changed on the way."""
    attacker = KeyPair.generate()
    sealed = [one.reply for one in recorded if one.reply.capsule is not None]
    swapped = [
        after.model_copy(update={"capsule": before.capsule}) for before, after in pairwise([*sealed, *sealed[:1]])
    ]
    changed = (_opens(other, victim) for reply in sealed for other in altered_answers(reply))
    return [
        Attempted.of("capsules opened by their owner", (_opens(reply, victim) for reply in sealed), control=1.0),
        Attempted.of("capsules opened by another key", (_opens(reply, attacker) for reply in sealed), least=20),
        Attempted.of("capsules opened in another answer", (_opens(reply, victim) for reply in swapped), least=20),
        Attempted.of("capsules opened in an answer that was changed", changed, least=400),
    ]


def altered_answers(reply: ChatAnswer) -> Iterator[ChatAnswer]:
    """Yields `reply` with each character of its message changed, or with its pseudonyms inside an address."""
    text = reply.message.content
    address = f"https://host.invalid/?{text}"
    texts = [text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :] for at in range(len(text))]
    texts += [address, f"[{text}](https://host.invalid)", text.replace(" ", "."), text + "\n"]
    for other in texts:
        yield reply.model_copy(update={"message": Message(role="assistant", content=other)})
    yield reply.model_copy(update={"notes": [*reply.notes, address]})
    yield reply.model_copy(update={"sentences": [*reply.sentences, Sentence(text=address)]})
    yield reply.model_copy(update={"evidence": [*reply.evidence, *reply.evidence[:1]] or [_FACT]})
    yield reply.model_copy(update={"ambiguous": [*reply.ambiguous, Ambiguity(pseudonym="Eq7f2k", choices=[text])]})


async def _told(
    chat: ChatEndpoint, graph: str, turns: Sequence[str], inside: Recorded | None = None
) -> frozenset[str]:
    """Returns every name in the reply to the last of `turns`, in the answer, its evidence or its choices.

    The attacker asks, in a new conversation. With `inside` the victim asks instead, in that recorded conversation.
    """
    key = KeyPair.generate()
    messages = [Message(role="assistant" if at % 2 else "user", content=text) for at, text in enumerate(turns)]
    conversation = inside.reply.conversation if inside else None
    request = ChatRequest(graph=graph, messages=messages, conversation=conversation, public_key=key.public_text)
    try:
        answer = open_answer(await chat.answer(VICTIM if inside else ATTACKER, request), key)
    except (ReasonerError, PrivacyError):
        return frozenset()
    shown = {name for fact in answer.evidence for name in (*fact.head_names, *fact.tail_names)}
    choices = {choice for choices in answer.ambiguous.values() for choice in choices}
    return frozenset(answer.names) | shown | choices


def _opens(reply: ChatAnswer, key: KeyPair) -> bool:
    try:
        open_names(reply, key)
    except ArogError:
        return False
    return True
