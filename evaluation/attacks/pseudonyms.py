"""Attacks by pseudonyms that are invented, altered or another's, by conversations of others, and by their capsules.

Who attacks has a key of the same tenant and the same grants, and every byte of the victim's replies; not the victim's
private key, and not the victim's questions, which would be answered to anybody with the same grants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise

from app.chat.conversations import UnknownConversationError
from app.llm.reasoner import ReasonerError
from app.privacy.errors import PrivacyError
from app.privacy.pseudonym_format import draw_word
from client_sdk.answers.answer import open_answer, open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.errors import ArogError
from client_sdk.protocol import Ambiguity, ChatAnswer, ChatRequest, Fact, Message, Sentence
from client_sdk.restore import restore
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.recording import ATTACKER, VICTIM, Recorded, each_pseudonym
from evaluation.attacks.setup.targets import AttackTargets
from evaluation.bench.asker import ChatEndpoint
from evaluation.bench.question_sets import DEMO

INVENTED = 2_000
# Letters of other alphabets that look like these.
_ALIKE = str.maketrans("EVSeaopcx", "ЕѴЅеаорсх")
_FACT = Fact(head="Eq7f2k", head_concept="thing", path=["knows"], tail="Eq7f2k", tail_concept="thing")
# The graph of the demo answers these of most people; the answers' evidence names whom they are about.
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
    """Words that a person, a model or a careless program could take for `pseudonym`."""
    yield pseudonym.lower()
    yield pseudonym.upper()
    yield pseudonym.swapcase()
    yield pseudonym.translate(_ALIKE)
    yield pseudonym[:-1]
    yield pseudonym[1:]
    yield pseudonym + "s"
    yield "x" + pseudonym
    yield pseudonym + pseudonym
    yield pseudonym[:3] + " " + pseudonym[3:]
    yield pseudonym[:3] + "-" + pseudonym[3:]
    for at in range(len(pseudonym)):
        yield pseudonym[:at] + ("0" if pseudonym[at] != "0" else "1") + pseudonym[at + 1 :]
        yield pseudonym[:at] + pseudonym[at + 1 :]


def restorations(recorded: Sequence[Recorded]) -> list[Attempted]:
    """Counts how often the victim's own SDK restores altered or invented pseudonyms in an answer's text."""
    tries = wrong = 0
    for one, pseudonym in each_pseudonym(recorded):
        for word in altered(pseudonym):
            if word not in one.table:
                tries += 1
                wrong += restore(f"It is {word}.", one.table) != f"It is {word}."
    drawn = INVENTED // max(1, len(recorded))
    invented = [(one, draw_word("E", one.table)) for one in recorded for _ in range(drawn)]
    restored = sum(restore(word, one.table) != word for one, word in invented)
    own = list(each_pseudonym(recorded))
    known = sum(restore(pseudonym, one.table) != pseudonym for one, pseudonym in own)
    return [
        Attempted(name="a pseudonym as it was issued, restored", tries=len(own), successes=known, control=1.0),
        Attempted(name="altered pseudonyms, restored", tries=tries, successes=wrong, least=500),
        Attempted(name="invented pseudonyms, restored", tries=len(invented), successes=restored, least=1_000),
    ]


async def conversations(chat: ChatEndpoint, recorded: Sequence[Recorded]) -> list[Attempted]:
    """Counts the conversations that their owner, and another key, can enter by id."""
    public_key = KeyPair.generate().public_text
    entered = {VICTIM: 0, ATTACKER: 0}
    for one in recorded:
        request = ChatRequest(
            graph=one.reply.graph,
            messages=[Message(role="user", content="Who is that?")],
            conversation=one.reply.conversation,
            public_key=public_key,
        )
        for caller in entered:
            try:
                await chat.answer(caller, request)
            except UnknownConversationError:
                continue
            entered[caller] += 1
    return [
        Attempted(
            name="conversations entered by their owner", tries=len(recorded), successes=entered[VICTIM], control=1.0
        ),
        Attempted(
            name="conversations entered by another key", tries=len(recorded), successes=entered[ATTACKER], least=20
        ),
    ]


async def echoes(chat: ChatEndpoint, recorded: Sequence[Recorded]) -> list[Attempted]:
    """Another's pseudonyms typed by the attacker, and in a replayed turn of the assistant.

    The blind guess asks the same with a word that nobody issued; the control is the victim in its own conversation.
    """
    found: Counter[str] = Counter()
    tries = list(each_pseudonym(recorded))
    for (one, pseudonym), question in zip(tries, cycle(_QUESTIONS), strict=False):
        graph, hidden = one.reply.graph, one.names_of(pseudonym)
        asked, stranger = question.format(pseudonym), question.format(draw_word("E", one.table))
        found["own"] += bool(hidden & await _told(chat, graph, [asked], one))
        found["typed"] += bool(hidden & await _told(chat, graph, [asked]))
        found["replayed"] += bool(hidden & await _told(chat, graph, ["Who is it?", one.reply.message.content, asked]))
        found["blind"] += bool(hidden & await _told(chat, graph, [stranger]))
    count = len(tries)
    guess = found["blind"] / count if count else 0.0
    kept = {"tries": count, "blind": guess, "most": guess, "least": 20}
    own = "one's own pseudonym, typed in its conversation"
    return [
        Attempted(name=own, tries=count, successes=found["own"], control=0.5),
        Attempted(name="another's pseudonym, typed", successes=found["typed"], **kept),
        Attempted(name="another's turn, replayed", successes=found["replayed"], **kept),
    ]


def capsules(recorded: Sequence[Recorded], victim: KeyPair) -> list[Attempted]:
    """Capsules opened with the attacker's key, put into other answers of the same victim, and left in their own answer
    whose words were changed on the way."""
    attacker = KeyPair.generate()
    sealed = [one.reply for one in recorded if one.reply.capsule is not None]
    swapped = [
        after.model_copy(update={"capsule": before.capsule}) for before, after in pairwise([*sealed, *sealed[:1]])
    ]
    changed = [other for reply in sealed for other in altered_answers(reply)]
    return [
        Attempted(
            name="capsules opened by their owner",
            tries=len(sealed),
            successes=sum(_opens(reply, victim) for reply in sealed),
            control=1.0,
        ),
        Attempted(
            name="capsules opened by another key",
            tries=len(sealed),
            successes=sum(_opens(reply, attacker) for reply in sealed),
            least=20,
        ),
        Attempted(
            name="capsules opened in another answer",
            tries=len(swapped),
            successes=sum(_opens(reply, victim) for reply in swapped),
            least=20,
        ),
        Attempted(
            name="capsules opened in an answer that was changed",
            tries=len(changed),
            successes=sum(_opens(reply, victim) for reply in changed),
            least=400,
        ),
    ]


def altered_answers(reply: ChatAnswer) -> Iterator[ChatAnswer]:
    """`reply` with each sign of its message changed, or with its pseudonyms where names would travel."""
    text = reply.message.content
    texts = [text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :] for at in range(len(text))]
    texts += [f"https://host.invalid/?{text}", f"[{text}](https://host.invalid)", text.replace(" ", "."), text + "\n"]
    for other in texts:
        yield reply.model_copy(update={"message": Message(role="assistant", content=other)})
    yield reply.model_copy(update={"notes": [*reply.notes, f"https://host.invalid/?{text}"]})
    yield reply.model_copy(update={"sentences": [*reply.sentences, Sentence(text=f"https://host.invalid/?{text}")]})
    yield reply.model_copy(update={"evidence": [*reply.evidence, *reply.evidence[:1]] or [_FACT]})
    yield reply.model_copy(update={"ambiguous": [*reply.ambiguous, Ambiguity(pseudonym="Eq7f2k", choices=[text])]})


async def _told(
    chat: ChatEndpoint, graph: str, turns: Sequence[str], inside: Recorded | None = None
) -> frozenset[str]:
    """Every name that the reply to the last of `turns` tells: the attacker in a conversation of its own, or the victim
    `inside` the recorded one."""
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
