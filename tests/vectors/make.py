"""Writes the vectors that the SDK and the page's TypeScript both must pass: `python -m tests.vectors.make`.

What is expected in them is what the SDK does when they are written; the tests beside the SDK hold it to them since.
Sealed bytes are drawn anew at each run, for HPKE's one-shot form takes no seed.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from client_sdk.crypto.sealing import (
    KeyPair,
    capsule_context,
    from_base64url,
    memory_context,
    parse_public_key,
    preview_context,
    seal,
    to_base64url,
    trace_context,
)
from client_sdk.errors import ArogError
from client_sdk.protocol import (
    CapsuleContent,
    ChatAnswer,
    EntitySeen,
    FactSeen,
    GraphPreview,
    MemoryFact,
    MemoryPage,
    Names,
    TraceContent,
    TracedCall,
)
from client_sdk.protocol.chat import X25519_SUITE
from client_sdk.restore import Restorer, restore
from client_sdk.streaming import AnswerReader, TextPiece
from client_sdk.trace import Trace

FOLDER = Path(__file__).parent
Table = dict[str, dict[str, Any]]
# A key for these vectors alone.
KEY = KeyPair.from_bytes(bytes(range(1, 33)))
OTHER_KEY = KeyPair.from_bytes(bytes(range(33, 65)))
ID, CONVERSATION, GRAPH = "a4Qk", "cT9x", "clinic"
FACT = {
    "head": "Eq7f2k", "head_concept": "patient", "path": ["treated by", "^works in"], "tail": "Sk3mmd",
    "tail_concept": "doctor", "size": "2-5", "cited": True,
}  # fmt: skip
ANSWER: dict[str, Any] = {
    "id": ID,
    "conversation": CONVERSATION,
    "graph": GRAPH,
    # What two writers of JSON could write in two ways.
    "message": {"role": "assistant", "content": 'It is "Eq7f2k"\\, a/b \u007f\u2028\u0007\t<é> 😀 Ωmega.\r\n'},
    "answered": True,
    "entities": [{"pseudonym": "Sk3mmd", "kind": "set", "concept": "doctor", "size": 5, "ordered": True}],
    "evidence": [FACT],
    "grounded": True,
    "ambiguous": [{"pseudonym": "Eq7", "choices": ["Eq7", "Eq7f2k"], "hints": [FACT]}],
    "inexact": [{"pseudonym": "Eq7", "start": 3, "end": 9}],
    "notes": ["Eq7 was read as a name"],
    "confidence": 0.93,
    "did_you_mean": ["Who treats Eq7f2k?"],
}
USAGE = {"calls": 1, "milliseconds": {"total": 50.0}}
CHANGES: dict[str, dict[str, Any]] = {
    "another answer": {"id": "b"},
    "another conversation": {"conversation": "b"},
    "another graph": {"graph": "b"},
    "a sign behind the text": {"message": {"role": "assistant", "content": ANSWER["message"]["content"] + " "}},
    "another text": {"message": {"role": "assistant", "content": "See evil.invalid/Eq7f2k"}},
    "another role": {"message": {**ANSWER["message"], "role": "user"}},
    "no answer": {"answered": False},
    "another confidence": {"confidence": 0.94},
    "a question less that may have been meant": {"did_you_mean": []},
    "another entity": {"entities": [{**ANSWER["entities"][0], "pseudonym": "Eq7"}]},
    "a fact less": {"evidence": []},
    "a fact turned round": {"evidence": [{**FACT, "head": FACT["tail"], "tail": FACT["head"]}]},
    "another step": {"evidence": [{**FACT, "path": ["treated by|^works in"]}]},
    "not grounded": {"grounded": False},
    "other choices": {"ambiguous": [{**ANSWER["ambiguous"][0], "choices": ["Eq7f2k", "Eq7"]}]},
    "another hint": {"ambiguous": [{**ANSWER["ambiguous"][0], "hints": []}]},
    "another reading": {"inexact": [{"pseudonym": "Eq7f2k", "start": 3, "end": 9}]},
    "another place": {"inexact": [{"pseudonym": "Eq7", "start": 3, "end": 10}]},
    "another note": {"notes": ["Eq7 was not read as a name"]},
}

TABLE: Table = {
    "Eq7f2k": {"names": ["Anna Keller"], "total": 1},
    "Eq7": {"names": ["Jörg Fährmann"], "total": 1},
    "Sk3mmd": {"names": ["Robert Downey Jr.", "Zoë Ωmega", "张伟明"], "total": 5},
    "Vx81zp": {"names": ["1961-03-12"], "total": 1},
    "Enone1": {"names": [], "total": 0},
    "Enone2": {"names": [], "total": 7},
    "Ecomma": {"names": ["Keller, Anna", "Berg"], "total": 2},
    "Eself1": {"names": ["Eq7f2k"], "total": 1},
    "Eemoji": {"names": ["😀 Straße"], "total": 1},
    "__proto__": {"names": ["no"], "total": 1},
    "not one": {"names": ["never"], "total": 1},
}
TEXTS = [
    "",
    "It is Eq7f2k.",
    "Eq7f2k and Eq7 are treated by Sk3mmd.",
    "It is Vx81zp, not Vx81zpq or xVx81zp.",
    "eq7f2k EQ7F2K Eq7f2k",
    "Eq7f2k's doctor, (Eq7f2k), “Eq7f2k”, _Eq7f2k_, **Eq7f2k**",
    "Enone1 | Enone2 | Ecomma | Eself1 | Eemoji.",
    "éEq7f2k Eq7f2ké ßEq7 Eq7ß ①Eq7",
    "张Eq7f2k明 のEq7です 김Eq7f2k서 אEq7ב",
    "😀Eq7f2k😀 𝒜Eq7f2k Eq7f2k𝒜 𠀀Eq7f2k𠀀",
    "Eq7f2k\u0301 \u0301Eq7 Eq7\u200dEq7",
    "It is Sk3mmd.. Robert Downey Jr.Sk3mmd.",
    "Eq7…. Eq7! Ecomma?.",
    "constructor __proto__ toString Eq7f2",
    "Eq7-Eq7f2k/Eq7.Eq7f2k\nEq7\tEq7f2k",
]
STREAMED = [TEXTS[2], TEXTS[3], TEXTS[6], TEXTS[8], TEXTS[9], TEXTS[10], TEXTS[11]]
PAYLOADS = [
    '{"messages":[{"role":"user","content":"Who treats Eq7f2k?\\nEq7 or\\tEq7f2k\\u00e9Eq7?"}]}',
    '"say \\"Eq7f2k\\" \\\\nEq7 \\u0041Eq7"',
    "Eq7 without any JSON, Sk3mmd",
]


def table_of(raw: Table) -> dict[str, Names]:
    return {pseudonym: Names.model_validate(names) for pseudonym, names in raw.items()}


def restoring() -> dict[str, Any]:
    table = table_of(TABLE)
    return {
        "table": TABLE,
        "texts": [{"text": text, "restored": restore(text, table)} for text in TEXTS],
        "streams": [streamed(pieces) for text in STREAMED for pieces in splits(text)],
        "prompts": [{"text": text, "restored": with_names(text)} for text in PAYLOADS],
    }


def splits(text: str) -> list[list[str]]:
    """In two at every place, and letter by letter."""
    return [*([text[:at], text[at:]] for at in range(1, len(text))), list(text)]


def streamed(pieces: list[str]) -> dict[str, Any]:
    restorer = Restorer(table_of(TABLE))
    shown = [restorer.push(piece) for piece in pieces]
    return {"pieces": pieces, "shown": shown, "rest": restorer.finish()}


def with_names(text: str) -> str:
    return Trace("", (), True, table_of(TABLE)).with_names(text)


def sealed_to(key: KeyPair, plain: str, context: bytes) -> dict[str, str]:
    sealed = seal(plain.encode(), parse_public_key(key.public_text), context)
    return {"suite": X25519_SUITE, "sealed": to_base64url(sealed)}


def sent(answer: dict[str, Any], capsule: dict[str, str] | None = None) -> dict[str, Any]:
    """As the service sends it."""
    return {**answer, "usage": USAGE, "capsule": capsule}


def context_of(answer: dict[str, Any]) -> bytes:
    return capsule_context(ChatAnswer.model_validate(sent(answer)))


def capsules() -> dict[str, Any]:
    context = context_of(ANSWER)
    content = CapsuleContent(answer_id=ID, table=table_of(TABLE)).model_dump_json()
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    call = TracedCall(step="step", at=at, outcome="used", prompt="Who is Eq7?", reply=None, anonymity=7)
    trace = TraceContent(answer_id=ID, calls=[call], names_kept=True, table=table_of(TABLE)).model_dump_json()
    good = sealed_to(KEY, content, context)
    raw = from_base64url(good["sealed"])
    changed = to_base64url(raw[:-1] + bytes([raw[-1] ^ 1]))
    return {
        "private_key": to_base64url(KEY.to_bytes()),
        "public_key": KEY.public_text,
        "answer": sent(ANSWER),
        "context": context.decode(),
        "opened": [
            {"capsule": good, "content": json.loads(content)},
            {"capsule": sealed_to(KEY, content + " " * 300, context), "content": json.loads(content)},
        ],
        "changed": [{"why": why, "answer": sent({**ANSWER, **change}, good)} for why, change in CHANGES.items()],
        "previews": [preview()],
        "memories": [memory()],
        "traces": [{"capsule": sealed_to(KEY, trace, trace_context(ID)), "content": json.loads(trace)}],
        "refused": [
            {"why": "another key", "capsule": sealed_to(OTHER_KEY, content, context)},
            {"why": "another answer", "capsule": sealed_to(KEY, content, context_of({**ANSWER, "id": "b"}))},
            {"why": "another kind", "capsule": sealed_to(KEY, content, trace_context(ID))},
            {"why": "a changed byte", "capsule": {**good, "sealed": changed}},
            {"why": "cut", "capsule": {**good, "sealed": to_base64url(raw[:40])}},
            {"why": "empty", "capsule": {**good, "sealed": ""}},
            {"why": "no base64url", "capsule": {**good, "sealed": good["sealed"] + "!"}},
            {"why": "another suite", "capsule": {**good, "suite": "MLKEM768-X25519,HKDF-SHA256,ChaCha20Poly1305"}},
            {"why": "no content", "capsule": sealed_to(KEY, '{"table": {}}', context)},
            {"why": "no JSON", "capsule": sealed_to(KEY, "names", context)},
        ],
        "base64url": [
            {"text": text, "bytes": bytes_of(text)}
            for text in ("", "AA", "AA==", "AQ", "AB", "_-8", "/+8", "A", "AAA", "AAB", "AAAA", "AA AA", "AA\n", "é")
        ],
    }


def preview() -> dict[str, Any]:
    facts = [FactSeen(relation="treated by", end="a doctor"), FactSeen(relation="née", end="1954")]
    sample = [EntitySeen(pseudonym="Eq7", concept="patient", facts=facts)]
    told = GraphPreview(
        id="p1", policy="", is_proposed=True, triples=2, entities=2, values=1, mediators=0, predicates=[], concepts=[],
        sample=sample, notes=[],
    )  # fmt: skip
    content = CapsuleContent(answer_id="p1", table=table_of(TABLE)).model_dump_json()
    capsule = sealed_to(KEY, content, preview_context(told))
    return {"preview": {**told.model_dump(mode="json"), "capsule": capsule}, "content": json.loads(content)}


def memory() -> dict[str, Any]:
    at = datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)
    facts = [MemoryFact(id="f1", made_at=at, text="Eq7f2k prefers “mornings”.", form="words", conversation="c1")]
    told = MemoryPage(id="m1", graph=GRAPH, facts=facts, total=1)
    content = CapsuleContent(answer_id="m1", table=table_of(TABLE)).model_dump_json()
    capsule = sealed_to(KEY, content, memory_context(told))
    return {"page": {**told.model_dump(mode="json"), "capsule": capsule}, "content": json.loads(content)}


def bytes_of(text: str) -> list[int] | None:
    """None where it is no base64url."""
    try:
        return list(from_base64url(text))
    except ValueError:
        return None


STREAM_BYTES = [
    b"event: stage\ndata: {}\n\n",
    b': ping\n\nevent: text\ndata: {"text": "na\xc3\xafve \xf0\x9f\x98\x80"}\n\nevent: usage\ndata:{}\n\n',
    b"event:a\r\ndata: one\r\ndata: two\r\n\r\ndata\n\nid: 7\nretry: 10\ndata: three\n\n",
    b"event: late\ndata: cut",
    b"data: unnamed\n\n",
]


def stream_events(raw: bytes) -> list[dict[str, str]]:
    request = httpx2.Request("POST", "http://arog.invalid/chat")
    response = httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, content=raw, request=request)
    return [{"name": each.event, "data": each.data} for each in httpx2.EventSource(response)]


def events() -> dict[str, Any]:
    return {
        "streams": [{"bytes": base64.b64encode(raw).decode(), "events": stream_events(raw)} for raw in STREAM_BYTES]
    }


def readings() -> dict[str, Any]:
    """Whole streams of answers, right and wrong: what each event shows, or the error that ends it."""
    text = "It is Eq7f2k, not Eq7. Sk3mmd."
    other_text = "See evil.invalid/Eq7f2k, Sk3mmd."
    said = {**ANSWER, "message": {"role": "assistant", "content": text}}
    content = CapsuleContent(answer_id=ID, table=table_of(TABLE)).model_dump_json()
    capsule = sealed_to(KEY, content, context_of(said))
    answer = {**sent(said, capsule), "of_a_newer_version": 1}
    changed = {**answer, "message": {"role": "assistant", "content": other_text}}
    another = sealed_to(KEY, CapsuleContent(answer_id="another", table={}).model_dump_json(), context_of(said))
    error = {"code": "model_unavailable", "message": "m", "hint": "h", "id": "r1", "status": 502}
    pieces = [("text", {"text": text[:8]}), ("text", {"text": text[8:20]}), ("text", {"text": text[20:]})]
    stages = [("stage", {"name": "linking"}), ("stage", {"name": "round", "number": 2})]
    streams = {
        "right": [*stages, *pieces, ("evidence", {"evidence": []}), ("usage", USAGE), ("answer", answer)],
        "unknown events": [("weather", {"sun": 1}), *pieces, ("answer", answer)],
        "cut": [*stages, *pieces],
        "an error": [*stages, ("error", error)],
        "an error halfway": [pieces[0], ("error", error)],
        "another graph": [*pieces, ("answer", {**answer, "graph": "other"})],
        "another conversation": [*pieces, ("answer", {**answer, "conversation": "other"})],
        "names of another answer": [*pieces, ("answer", {**answer, "capsule": another})],
        "another id": [*pieces, ("answer", {**answer, "id": "other"})],
        "a piece less": [*pieces[:2], ("answer", answer)],
        "a changed piece": [("text", {"text": text[:7] + "!"}), *pieces[1:], ("answer", answer)],
        "another text, all of it": [("text", {"text": other_text}), ("answer", changed)],
        "another fact": [*pieces, ("answer", {**answer, "evidence": []})],
        "no JSON": [("stage", "{")],
        "another form": [("text", {"words": "x"})],
    }
    return {
        "private_key": to_base64url(KEY.to_bytes()),
        "graph": GRAPH,
        "conversation": CONVERSATION,
        "streams": [reading(why, sent) for why, sent in streams.items()],
    }


def reading(why: str, sent: list[tuple[str, Any]]) -> dict[str, Any]:
    written = [(name, data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)) for name, data in sent]
    shown, code = read(written)
    return {"why": why, "events": [{"name": n, "data": d} for n, d in written], "shown": shown, "error": code}


def read(written: list[tuple[str, str]]) -> tuple[list[str], str]:
    """Texts that the events show, stages in brackets, and the code of the error that ends them."""
    reader, shown = AnswerReader(KEY, GRAPH, CONVERSATION), []
    try:
        for name, data in written:
            if words := "".join(
                piece.text if isinstance(piece, TextPiece) else f"[{piece}]" for piece in reader.read(name, data)
            ):
                shown.append(words)
        reader.whole()
    except ArogError as problem:
        return shown, problem.code
    return shown, ""


def write(name: str, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=True)
    (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write("restoring", restoring())
    write("capsules", capsules())
    write("events", events())
    write("readings", readings())
