"""Runs the first two stages: opens the graph and conversation of a question, and replaces its names by pseudonyms."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final

from app.accounts.api_keys import Caller
from app.chat.beside import require_beside
from app.chat.conversations import ConversationStore
from app.chat.follow_ups import Completed, DialogueCompleter, FormOf, form_in, needs_context, no_form
from app.chat.pseudonym_meanings import PseudonymMeanings
from app.chat.question_run import (
    AUTO,
    DEFAULT_STRATEGY,
    NOT_FOUND,
    PUBLIC_STRATEGY,
    ChatOptions,
    QuestionReading,
    QuestionRun,
)
from app.chat.turn_forms import NAME, without_opening, without_yes_or_no
from app.chat.turns import (
    Talk,
    described_thing,
    invites,
    reply_to,
    sorted_thing,
    talk_of,
    thing_to_sort,
    was_offered,
    without_questions,
)
from app.egress.disclosure import StrategyNotOfferedError
from app.language.protocol import Language
from app.language.readings import MemoryTurn
from app.privacy.anonymised import Anonymised
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue
from app.privacy.words.lexicon import Lexicon, column_units, schema_periods, schema_units, schema_words
from app.strategies.base import Draft, RetrievalResult, TurnKind
from app.strategies.start import declares_kinds
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import ChatRequest
from kg_store.catalog import Catalog
from kg_store.graph.kinds import kinds_of, kinds_of_rows
from kg_store.graph.schema import kinds_of_masked, masks_of, own_words_of, words_of_masked
from kg_store.graph.traversal import concept_of, members_of, relations_to
from kg_store.lexicon.lexicon import kinds_of as kinds_of_word
from kg_store.names.linker import has_capitals
from kg_store.sources.policy import notation_of
from kg_store.storage.vault import VaultRecord
from kg_store.text.english import names_one_of
from kg_store.text.inflection import singular, with_article
from kg_store.text.normalise import Normalised, normalise, without_long_runs
from kg_store.text.notation import Unclear, unclear_in

MAX_OF_A_NAME: Final = 10
"""The greatest number of things with one name whose labels are compared with the turns. Chosen by hand."""


def language_of(run: QuestionRun) -> str:
    """Returns the language in which the answer's names are restored, as a code ("de"); empty if unclear.

    It is the language that the request asks for. Without one, it is the language of the labels that the user typed,
    as in "de" for "Wien": the latest turn that holds a label decides. No model is told it.
    """
    asked = run.request.options.language
    if asked:
        return asked.partition("-")[0].lower()
    table, graph = run.conversation.table, run.graph
    topics = (table.resolve(topic.pseudonym, graph.blind)[0].tolist() for topic in run.read.dialogue.topics)
    records = graph.vault.records([mid for mids in topics for mid in mids[:MAX_OF_A_NAME]])
    turns = [turn.content for turn in run.request.messages[-MAX_MESSAGES_READ:] if turn.role == "user"]
    return language_typed(turns, [record for record in records.values() if record.labels])


def language_typed(turns: Sequence[str], records: Iterable[VaultRecord]) -> str:
    """Returns the language of the labels of `records` that the latest turn with any of them holds; "" if unclear."""
    records = list(records)
    for turn in reversed(turns) if records else ():
        text = normalise(turn)
        languages = {language for record in records if (language := _language_in(text, record)) is not None}
        if languages:
            return languages.pop() if len(languages) == 1 else ""
    return ""


def _language_in(text: Normalised, record: VaultRecord) -> str | None:
    """Returns the language of the label by which `text` names the thing of `record`; None if it does not name it.

    Empty if the label is the preferred name of the thing, or is the same in several languages.
    """
    typed = {(label, language) for language, label in record.labels if _holds(text, label)}
    if not typed:
        return "" if _holds(text, record.names[0]) else None
    longest = max(len(label) for label, _ in typed)
    languages = [language for label, language in typed if len(label) == longest]
    return languages[0] if len(languages) == 1 and (record.names[0], languages[0]) not in typed else ""


def _holds(text: Normalised, name: str) -> bool:
    words = normalise(name).text
    places = (found.start() for found in re.finditer(f"(?={re.escape(words)})", text.text)) if words else ()
    return any(text.is_border(at) and text.is_border(at + len(words)) for at in places)


MAX_MESSAGES_READ: Final = 15
"""The question and seven exchanges before it. Earlier ones are neither read nor sent, so that a late turn costs what
an early one does; things that they named keep their pseudonyms. Chosen by hand."""

MIN_WORDS_OF_TALK: Final = 3
"""A turn with fewer words after other turns counts as small talk only by its wording, not by its likeness to small
talk. Chosen by hand."""


SURELY_TELL: Final = 0.9
"""Least chance with which a turn that holds a noun asks to be told about a thing. Chosen by hand."""


_ASKING: Final = (["who"], ["whom"], ["whose"], ["which"], ["where"], ["when"], ["how"])


class QuestionOpener:
    """Opens the graph and the conversation of a question."""

    def __init__(
        self, catalog: Catalog, conversations: ConversationStore, reader: Language, options: ChatOptions
    ) -> None:
        self._catalog, self._conversations, self._reader, self._options = catalog, conversations, reader, options

    def open(self, caller: Caller, request: ChatRequest) -> QuestionRun:
        """Returns a run with the graph as the caller's role sees it, and the conversation.

        Runs of dots, blanks or accents in the messages are cut to a length that is soon read.

        Raises StrategyNotOfferedError, BadPublicKeyError, UnknownGraphError, UnknownConversationError, NotPublicError.
        """
        if not self._options.offers(request.strategy):
            raise StrategyNotOfferedError
        if request.public_key is not None:
            parse_public_key(request.public_key)  # Checked first, so that a bad key costs no model call.
        graph = self._catalog.open_as(caller.tenant, request.graph, caller.role_in(request.graph))
        conversation = self._conversations.open(
            caller.tenant, caller.key_id, request.graph, request.conversation, graph.blind.schema
        )
        messages = [each.model_copy(update={"content": without_long_runs(each.content)}) for each in request.messages]
        request = request.model_copy(update={"messages": messages})
        schema, names = graph.blind.schema, self._catalog.name_words(caller.tenant)
        lexicon = Lexicon(
            graph.public,
            names,
            schema_words(schema),
            schema_units(schema) | column_units(schema, graph.policy),
            schema_periods(schema),
        )
        named = request.options.beside
        if named is None:
            beside = self._catalog.graphs_beside(caller.tenant, request.graph)
        else:
            beside = require_beside(self._catalog, caller, named)
        answer_id = secrets.token_urlsafe(12)
        return QuestionRun(answer_id, caller, request, graph, conversation, lexicon, self._reader, beside=beside)


def strategy_for(turn: TurnKind, asked: str, *, beside: bool = False) -> str:
    """Returns the strategy for a turn: the one that the request asked for, or by the kind of turn if it is "auto".

    `beside`: a public graph stands beside the asked one, from which an open turn is replied to as well.
    """
    if asked != AUTO:
        return asked
    if beside and turn in ("talk", "neither"):
        return PUBLIC_STRATEGY
    return "dialogue" if turn in ("tell", "talk") else DEFAULT_STRATEGY


class QuestionReader:
    """Reads the last turn: replaces names by pseudonyms, completes it from earlier turns, and finds its kind."""

    def __init__(self, options: ChatOptions, *, is_in_house: bool) -> None:
        self._options, self._is_in_house = options, is_in_house

    def read(self, run: QuestionRun) -> QuestionRun:
        completed = self._completed(run)
        dialogue = completed.read.dialogue
        # A question that the service itself offered is read without earlier turns, as it was before it was offered.
        offered = was_offered(dialogue)
        needs = needs_context(dialogue) and not offered
        # The open profile sends all turns; other profiles send earlier ones only if the question needs them.
        leans = (self._options.profile.is_open or needs) and not offered
        earlier = run.conversation.table.assign_thread(run.answer_id, leans=leans)
        told = self._told(run, dialogue)
        shown = dialogue.with_earlier(earlier).without_exchanges(told.__contains__)
        readings = tuple(_readings(replace(completed.read, dialogue=shown), needs))
        doubts = form_in(dialogue.question, run.conversation.table, self._form_of(run)) == "doubt"
        read_so_far = replace(run, readings=readings, reading=readings[0], asks_why=doubts)
        read_so_far = replace(read_so_far, language=language_of(read_so_far))
        talk = self._talk(read_so_far)
        turn = self._turn(read_so_far, talk)
        strategy = strategy_for(turn, run.request.strategy, beside=bool(run.beside))
        read_so_far = replace(read_so_far, turn=turn, strategy=strategy)
        read_so_far = replace(read_so_far, memory_turn=self._last_memory_turn(read_so_far, dialogue))
        whole = completed.whole
        if whole.lost:
            known: RetrievalResult | None = NOT_FOUND
        elif whole.pointed:
            known = RetrievalResult(Draft((whole.pointed,), "{1:That is|They are} {1}."), (whole.pointed,), (), 0)
        elif whole.rest:
            known = _rest_of(run, whole.rest)
        elif whole.open_ended and self._is_in_house:  # A model reads all turns, the refused one too.
            known = replace(NOT_FOUND, contradicted=NO_QUESTION)
        elif unclear := _unclear_literal(run):
            known = replace(NOT_FOUND, contradicted=UNCLEAR[unclear])
        else:
            known = _needs_no_search(read_so_far, talk)
        talk = None if known and (whole.rest or whole.open_ended) else talk
        if known and talk and self._is_in_house and talk_of(run.request.messages[-1].content) is None:
            # A turn that is only like small talk may be a question: it is searched first.
            return replace(read_so_far, or_else=known.said, choosing=whole.choosing)
        return replace(read_so_far, known=known, invites=invites(talk), choosing=whole.choosing)

    def _form_of(self, run: QuestionRun) -> FormOf:
        """Returns the function that tells a turn's form; one that tells, recalls or forgets a fact leans on none."""
        forms = self._options.turns.form if self._options.turns else no_form
        return lambda text: forms(text) if self._memory_turn(run, text) is None else "other"

    def _last_memory_turn(self, run: QuestionRun, dialogue: SafeDialogue) -> MemoryTurn | None:
        # Only what was typed decides: "and Bo?" behind "Remember that Rose lives in X" tells nothing of Bo.
        typed = self._memory_turn(run, run.request.messages[-1].content)
        if typed is None:
            return self._stated(run, dialogue) if self._options.facts and run.graph.policy.memory else None
        read = self._memory_turn(run, dialogue.question)
        # Words of time are read as they were typed: a date becomes a stand-in.
        return replace(read, when=typed.when) if read else None

    def _stated(self, run: QuestionRun, dialogue: SafeDialogue) -> MemoryTurn | None:
        """Returns the turn that states a fact in passing, or replies to the question whether to remember one."""
        form, memory = form_in(dialogue.question, run.conversation.table, self._form_of(run)), run.reader.memory
        offered = memory.offered(dialogue.turns[-2].text) if len(dialogue.turns) > 1 else ""
        if offered and form == "agrees":
            return memory.read_statement(offered, is_asked=True)
        if offered and memory.declines(run.request.messages[-1].content):
            return MemoryTurn("decline")
        # A model, or the public graph, replies to what is said in passing.
        is_left = run.strategy == PUBLIC_STRATEGY or (run.strategy != DEFAULT_STRATEGY and not self._is_in_house)
        return memory.read_statement(dialogue.question) if form == "states" and not is_left else None

    def _told(self, run: QuestionRun, dialogue: SafeDialogue) -> frozenset[str]:
        """Returns the earlier turns that are about told facts: by what they say, or by the reply to them."""
        replied = ((turn, reply.text) for turn, reply in pairwise(dialogue.turns) if turn.role == "user")
        is_reply = run.reader.memory.is_reply
        return frozenset(turn.text for turn, reply in replied if self._memory_turn(run, turn.text) or is_reply(reply))

    def _memory_turn(self, run: QuestionRun, text: str) -> MemoryTurn | None:
        return run.reader.memory.read_turn(text) if self._options.facts else None

    def _talk(self, run: QuestionRun) -> Talk | None:
        """Returns the kind of small talk if the turn is small talk, else None.

        Likeness to known small talk counts only if the turn names nothing and holds no word of the graph.
        """
        question = str(run.read.dialogue.question)
        words = question.lower().split()
        # A short turn after others, such as "What for?", is mostly a follow-up.
        is_short = len(words) < MIN_WORDS_OF_TALK and len(run.request.messages) > 1
        if is_short or run.conversation.table.known(question) or any(map(run.lexicon.is_own, words)):
            return talk_of(run.request.messages[-1].content)
        if run.reader.other_language(run.request.messages[-1].content):
            return None  # The examples of small talk are English.
        return talk_of(question, self._options.likeness)

    def _turn(self, run: QuestionRun, talk: Talk | None) -> TurnKind:
        if talk is not None:
            return "neither"
        thing = described_thing(run.read.dialogue.question)
        if thing and run.conversation.table.meaning(thing):
            return "tell"
        if self._options.turns is None or run.reader.other_language(run.request.messages[-1].content):
            return "question"
        text = _with_names_out(run)
        chances = self._options.turns.chances(text)
        kind = max(chances, key=lambda kind: chances[kind])
        # A description would pass over what "who referred X" asks, and over the noun in "what's on the ground at X".
        words = text.lower().split()
        is_unsure = chances[kind] < SURELY_TELL and any("n" in kinds_of_word(word) for word in words)
        asks_more = kind == "tell" and (is_unsure or words[:1] in _ASKING)
        return "question" if asks_more else kind

    def _completed(self, run: QuestionRun) -> Completed:
        graph, table = run.graph, run.conversation.table
        concepts = {word for kind in kinds_of(graph.blind.schema) for word in (kind, kind.split()[-1])}
        anonymiser = Anonymiser(
            graph.linker,
            graph.names,
            run.lexicon,
            masks=_masks(run),
            holds=graph.holds,
            recogniser=self._options.recogniser,
            today=self._options.today,
            leading=lambda mids: relations_to(graph.blind, mids),
            masked_words=words_of_masked(graph.in_house),
            notation=notation_of(graph.policy),
            private=graph.private_names,
            heads={kind.split()[-1].lower() for kind in (*kinds_of(graph.in_house), *kinds_of_rows(graph.in_house))},
            is_concept=None if declares_kinds(graph.blind.schema) else lambda noun: singular(noun) in concepts,
            kinds={
                word
                for kind in (
                    *kinds_of(graph.in_house),
                    *chain.from_iterable(graph.in_house.kind_words.values()),
                    *own_words_of(graph.in_house).values(),
                )
                for word in kind.lower().split()
            },
        )
        messages = [
            each.model_copy(update={"content": bare(each.content)})
            for each in without_questions(run.request.messages[-MAX_MESSAGES_READ:])
            for bare in (run.reader.memory.without_recalled if each.role == "assistant" else _plain_turn,)
        ]
        read = anonymiser.anonymise(messages, table, lambda word: table.resolve(word, graph.blind)[0])
        if remark := self._options.remark_on(_as_worded(read.dialogue.question, table)):
            read = replace(read, notes=(*read.notes, remark))
        meanings = PseudonymMeanings(graph, table, run.executor)
        told = self._told(run, read.dialogue)
        completer = DialogueCompleter(table, meanings, told.__contains__, self._form_of(run))
        return completer.complete(read)


def _plain_turn(text: str) -> str:
    """Returns a turn without the words around it that ask nothing ("ok, so ...", "yes or no?")."""
    return without_opening(without_yes_or_no(text))


def _masks(run: QuestionRun) -> dict[int, str]:
    """Returns the words that stand for masked relations and classes, by the MIDs of their own words.

    A relation has an opaque word. A class has the pseudonym of all its things.
    """
    blind, table = run.graph.blind, run.conversation.table
    kinds = {mid: table.of_kind(kind, members_of(blind, kind)) for mid, kind in kinds_of_masked(blind.schema).items()}
    return {**masks_of(blind.schema), **kinds}


def _readings(read: Anonymised, needs: bool) -> Iterator[QuestionReading]:
    """Yields the readings of a dialogue in the order in which they are tried.

    First as it was read, then with fewer words taken for names, then with common nouns, and last with text values.
    """
    first, *others = read.readings()
    yield QuestionReading(first, needs)
    yield from (QuestionReading(each, needs_context(each.dialogue)) for each in others)
    if sorted_by := read.with_kinds():
        yield QuestionReading(sorted_by, needs, by_kinds=True)
    if valued := read.with_values():
        yield QuestionReading(valued, needs, by_values=True)


UNCLEAR: Final[Mapping[Unclear, str]] = {
    "number": "I can not tell if the mark in that number parts thousands or stands before decimals: please leave it "
    "out, or write the decimals too.",
    "date": "I can not tell day and month apart in that date: please write the month as a word.",
}


def _unclear_literal(run: QuestionRun) -> Unclear | None:
    """Returns the kind of the first number or date of the question that may be read in two ways; None without one.

    One that the graph has as a name or a value, spelt the same, is clear.
    """
    text = run.request.messages[-1].content
    found = list(unclear_in(text, notation_of(run.graph.policy)))
    held = [(hit.start, hit.end) for hit in run.graph.names.find(text)] if found else []
    kinds = (kind for start, end, kind in found if not any(a <= start and end <= b for a, b in held))
    return next(kinds, None)


NO_QUESTION: Final = "I had no answer to the question before this one: please ask this one in full."
WHOLE_LIST: Final = "Those were all of them."


def _rest_of(run: QuestionRun, told: str) -> RetrievalResult:
    """Returns those members of the set `told` that the answer before did not show."""
    rest = run.executor.rest_of(told)
    if not rest:
        return replace(NOT_FOUND, said=WHOLE_LIST)
    draft = Draft((rest,), "The rest {1:is|are} {1}.")
    return RetrievalResult(draft, (rest,), (), 0, in_order=run.executor.in_ranked_order(rest))


def _needs_no_search(run: QuestionRun, talk: Talk | None) -> RetrievalResult | None:
    """Returns the result of small talk or of a question for the kind of a thing, which need no search; else None."""
    if talk:
        return RetrievalResult(None, (), (), 0, said=reply_to(talk, kinds_of(run.graph.blind.schema)))
    question = run.read.dialogue.question
    kinds = kinds_of(run.graph.blind.schema)
    thing = sorted_thing(question) or thing_to_sort(question, lambda noun: names_one_of(noun, kinds))
    if thing and run.conversation.table.meaning(thing):
        return describe_kind(run, thing)
    return None


def describe_kind(run: QuestionRun, pseudonym: str) -> RetrievalResult | None:
    """Returns an answer that states the kind of the thing `pseudonym`; None if the graph does not know its kind."""
    graph, table = run.graph.blind, run.conversation.table
    concept = concept_of(graph, table.resolve(pseudonym, graph)[0])
    if concept in ("", "thing"):
        return None
    article = with_article(concept).partition(" ")[0]
    return RetrievalResult(Draft((f"kind({pseudonym})",), f"{pseudonym} is {article} {{1}}."), (pseudonym,), (), 0)


def _with_names_out(run: QuestionRun) -> str:
    """Returns the last turn as typed, with NAME in place of each name of the graph. It stays inside the service.

    The letters of a mask are drawn anew for each load, so they must not decide how a turn is read.
    """
    question, table = str(run.read.dialogue.question), run.conversation.table
    for mask, words in own_words_of(run.graph.in_house).items():
        question = question.replace(mask, words)
    for word in table.known(question):
        meaning = table.meaning(word)
        is_held = len(table.resolve(word, run.graph.blind)[0]) > 0
        question = question.replace(word, NAME if meaning is None or is_held else meaning.literal or NAME)
    return question


def _as_worded(question: str, table: PseudonymTable) -> str:
    """Returns the question with unknown words as the user typed them, in place of their pseudonyms.

    Names of the graph stay pseudonyms. The unknown words show the question's language; the text stays in the service.
    """
    for word in table.known(question):
        meaning = table.meaning(word)
        begins = question.lstrip("¿¡ ").startswith(word)
        if meaning is not None and meaning.literal and (begins or not has_capitals(meaning.literal)):
            question = question.replace(word, meaning.literal)
    return question
