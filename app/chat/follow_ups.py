"""Completes questions that depend on earlier turns, such as "and Rose?", "the second one" or "where does he live?"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.chat.pronouns import REFERS, PronounResolver, in_case, pronoun_replaced
from app.chat.pseudonym_meanings import PseudonymMeanings
from app.chat.turn_forms import (
    ORDINALS,
    TurnForm,
    chosen_by,
    compared,
    corrected,
    place_chosen,
    says_nothing,
    without_names,
)
from app.chat.turns import DID_YOU_MEAN, talk_of
from app.privacy.anonymised import Anonymised
from app.privacy.pseudonyms import PseudonymTable, Standing, replaced, words_in
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from client_sdk.protocol import Ambiguity
from kg_store.terms import ValueKind

MAX_EXCHANGES: Final = 4
"""The greatest number of earlier questions whose answers a turn may compare. Chosen by hand."""
_OTHER: Final = re.compile(r"\W*(?:(?:and|what about)\W+)?the other (?:one|(?P<name>[ES]\w{5}))\W*", re.IGNORECASE)
_OF_TWO: Final = re.compile(r"\btwo\b", re.IGNORECASE)
_THE_TWO: Final = re.compile(r"\b(?:the|these|those|them|of) two\b|\bboth of (?:them|these|those)\b", re.IGNORECASE)
_THEM: Final = re.compile(r"\b(?:they|them|those|these|their)\b(?! two\b)", re.IGNORECASE)
_OF_THING: Final = re.compile(
    r"\b(?:it|its)\b(?! (?:true|right|correct|possible|so|the case)\b)(?<!time is it)", re.IGNORECASE
)
NOT_LISTED: Final = "there is no such thing in the last answer"

_WHICH: Final = rf"\b(?:the )?(?P<which>{'|'.join(ORDINALS)}|last|other|former|latter)"
_POINTING = re.compile(rf"{_WHICH} (?:one|of (?:them|these|those|the two))\b", re.IGNORECASE)
# "the first" without "one" points at a listed thing only if the turn says nothing else: "Who was the first?" asks for
# the earliest.
_POINTING_ALONE = re.compile(rf"{_WHICH}(?=\s*[?.!]*\s*$)", re.IGNORECASE)
# Words that may surround a name in a question that says nothing else.
_AROUND = frozenset(
    "and but or so then now ok okay no yes sorry i mean meant what how about of the same question for by in at with "
    "to from on please too also is it that".split()
)


@dataclass(frozen=True, slots=True)
class Choosing:
    """A turn that says by a description which of several things with one name was meant ("the one who lives in X").

    `which`: the question for that thing; `then`: the open question, to be asked of the thing in place of `group`.
    """

    which: SafeText
    then: SafeText
    group: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompletedQuestion:
    """A question made complete from earlier turns: "and Rose?" becomes "Where does Rose live?".

    `pointed`: the thing of an earlier answer, if the question does nothing but point at it ("the second one").
    `lost`: it points at a thing that was not listed. `leans`: a part was taken from earlier turns, so they matter.
    `rest`: the list of an earlier answer, if the turn asks to go on with it. `choosing`: see there. `open_ended`: it
    asks nothing by itself, and the question before had no answer.
    """

    question: SafeText
    leans: bool = False
    pointed: str | None = None
    lost: bool = False
    rest: str = ""
    choosing: Choosing | None = None
    open_ended: bool = False

    def note(self, typed: str) -> str:
        if self.lost:
            return NOT_LISTED
        is_new = self.question != typed and self.pointed is None and not (self.rest or self.choosing)
        return f"read as: {self.question}" if is_new else ""


@dataclass(slots=True)
class DialogueState:
    """The state that follow-up questions refer to.

    `question`: the last one, in full; `answered`: it had an answer. `listed`: the things listed last. `meant`: those
    of them already asked about. `choices`: the things of one name that the last question left open. `told`: the set
    that the last answer told. `subject`: the thing that "it" stands for; `stays`: the last question called it "it".
    `exchanges`: the things that each of the last questions was about, and those that its answer named, since the last
    question without an answer. `narrowed`: the set told before the last answer, and the part of it that this told.
    `unshown`: the things that the last answer counted or judged, and did not show.
    """

    question: str = ""
    answered: bool = True
    listed: tuple[str, ...] = ()
    meant: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    told: str = ""
    subject: str = ""
    stays: bool = False
    exchanges: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    narrowed: tuple[str, str] | None = None
    unshown: str = ""


FormOf = Callable[[str], TurnForm]
"""Returns the form of a turn, which has NAME in place of each name (`app.chat.turn_forms`)."""


def no_form(_: str) -> TurnForm:
    """Returns "other" for every turn: used where no model tells forms apart."""
    return "other"


def form_in(text: str, table: PseudonymTable, form_of: FormOf) -> TurnForm:
    """Returns the form of a turn in pseudonyms: "replace" only with a name; with one, else "doubt" or "states"."""
    named = table.known(text)
    form = form_of(without_names(text, named))
    return form if form in ("doubt", "states") or bool(named) == (form == "replace") else "other"


class FollowUps:
    """Completes the last question of a dialogue from its earlier turns.

    Promise: it reads pseudonyms only, and its output holds no word that was not in an anonymised turn.
    """

    def __init__(
        self,
        table: PseudonymTable,
        meanings: PseudonymMeanings,
        tells_fact: Callable[[str], bool] = lambda _: False,
        form_of: FormOf = no_form,
    ) -> None:
        """`tells_fact`: returns True for a turn that is no question, but tells, recalls or forgets a fact."""
        self._table, self._meanings, self._tells_fact, self._form_of = table, meanings, tells_fact, form_of
        self._persons = PronounResolver(meanings.is_person)

    def whole(self, dialogue: SafeDialogue) -> CompletedQuestion:
        """Returns the last question of `dialogue`, completed with what it leaves to earlier turns.

        For example, "and Rose?" after "Where does Ada live?" becomes "Where does Rose live?".
        """
        before, passed_over = DialogueState(), False
        for turn in dialogue.turns[:-1]:
            if turn.role == "user":
                passed_over = self._form(turn.text) == "doubt" or talk_of(turn.text) is not None
            if turn.role == "user" and before.question and self._tells_fact(turn.text):
                told = self._persons.replaced_in(turn.text)
                self._persons.hear(self._table.known(told)[:1])  # A later pronoun means the one that is told of.
                passed_over = True
            if passed_over:
                continue  # "Why?" or "thanks", and the reply to it, name nothing that a later turn could point at.
            if turn.role == "user":
                whole = self._read(turn.text, before)
                before = self._after_question(before, whole)
                passed_over = bool(whole.rest) and not self._meanings.has_rest(whole.rest)
            else:
                self._hear_answer(turn.text, before)
        return self._read(dialogue.question, before)

    def _after_question(self, before: DialogueState, whole: CompletedQuestion) -> DialogueState:
        if whole.rest or whole.open_ended or whole.lost:
            return before
        if whole.choosing:
            return replace(before, question=whole.choosing.then, choices=whole.choosing.choices)
        said = self._table.known(whole.question)
        asked_back = [choice for word in said for choice in self._meanings.choices(word)]
        self._persons.hear(said)
        if asked_back:
            return replace(
                before, question=whole.question, listed=tuple(asked_back), meant=(), choices=tuple(asked_back)
            )
        if whole.pointed is not None:
            return replace(before, meant=(*before.meant, whole.pointed))
        listed, named = before.listed, tuple(word for word in said if word[0] == "E")
        others = [tuple(self._meanings.namesakes(word)) for word in named]
        if not set(said) & set(listed):
            # With "and the other one?", a later turn may point at two things that this question names, or at other
            # things with the same name.
            listed = named if len(named) > 1 else next(filter(None, others), listed)
        things = [word for word in named if not self._meanings.is_person(word)]
        subject = before.subject if not things or before.subject in things else things[0]
        meant = tuple(word for word in said if word in listed)
        choices = next(filter(None, others), ())
        return replace(
            before,
            question=whole.question,
            listed=listed,
            meant=meant,
            choices=choices,
            subject=subject,
            stays=whole.leans and subject in said,
        )

    def _hear_answer(self, text: str, before: DialogueState) -> None:
        """Notes the things that an answer tells, apart from those that it is about."""
        is_offer = text.startswith(DID_YOU_MEAN)
        asked, said = self._table.known(before.question), [] if is_offer else self._table.known(text)
        new = [word for word in said if word not in asked]
        before.answered = bool(said)
        ones = tuple(filter(None, map(self._meanings.one, new)))
        about = tuple(word for word in asked if word[0] == "E")
        chosen = [word for word in said if word in before.choices]
        if len(chosen) == 1 and len({*asked} & {*before.choices}) < 2:
            before.question, before.meant = self._asked_of(before, chosen[0]), (chosen[0],)
            about = about or (chosen[0],)
        before.exchanges = (*before.exchanges, (about, ones))[-MAX_EXCHANGES:] if said else ()
        if listed := self._listed_in(text, before):
            before.listed, before.choices = listed, ()
        before.narrowed = self._narrowed(before.told, new)
        before.told = next((word for word in reversed(new) if len(self._meanings.mids(word)) > 1), "")
        before.unshown = next(filter(None, map(self._meanings.set_behind, new)), "")
        self._persons.hear([self._meanings.one(word) or word for word in said])
        if len(new) > 1 and len(about) == 1:
            # A description tells much about one thing: later turns speak of that thing, not of what was told.
            self._persons.hear(about)
            before.subject = about[0]
        elif len(ones) == 1 and not before.stays and not self._meanings.is_person(ones[0]):
            before.subject = ones[0]

    def _narrowed(self, whole: str, told: Sequence[str]) -> tuple[str, str] | None:
        if not whole or not told:
            return None
        all_of_them, part = (set(self._meanings.mids(word).tolist()) for word in (whole, told[-1]))
        return (whole, told[-1]) if part and part < all_of_them else None

    def _listed_in(self, text: str, before: DialogueState) -> tuple[str, ...]:
        """Returns the things that an answer listed: the members of the last set that it names."""
        if any(self._meanings.choices(word) for word in self._table.known(before.question)):
            return ()  # The service asked back which thing was meant, so later turns point at those choices.
        words = [word for word in self._table.known(text) if not self._meanings.is_of_group(word)]
        sets = [tuple(self._meanings.listed(word)) for word in words]
        return next((each for each in reversed(sets) if len(each) > 1), ())

    def _form(self, text: str) -> TurnForm:
        return form_in(text, self._table, self._form_of)

    def _read(self, text: str, before: DialogueState) -> CompletedQuestion:
        if not before.question:
            return CompletedQuestion(SafeText(text))
        form = self._form(text)
        text = corrected(text)
        if form == "rest" and before.narrowed and not (before.told and self._meanings.has_rest(before.told)):
            return CompletedQuestion(SafeText("Which of {} are not {}?".format(*before.narrowed)), leans=True)
        if before.told and form == "rest":
            return CompletedQuestion(SafeText(text), rest=before.told)
        if chosen := self._chosen(text, before):
            return chosen
        if form == "replace":
            return self._same_question(text, before, strictly=False)
        if not before.answered and not self._table.known(text) and says_nothing(text):
            return CompletedQuestion(SafeText(text), open_ended=True)
        if before.unshown and form == "which":
            return CompletedQuestion(SafeText(text), pointed=before.unshown)
        if of_these := self._compared(text, before):
            return CompletedQuestion(SafeText(of_these), leans=True)
        found, alone = _POINTING.search(text), _POINTING_ALONE.search(text)
        if found is None and alone and self._says_nothing_else(text[: alone.start()]):
            found = alone
        if found is None:
            if self._says_nothing_else(text) and self._table.known(text):
                return self._same_question(text, before, strictly=False)
            return self._with_subject(text, before, leans=False)
        word = _picked(found["which"].lower(), before)
        if word is None:
            return CompletedQuestion(SafeText(text), lost=True)
        pointed = replaced(text, [Standing(found.start(), found.end(), word)])
        if self._says_nothing_else(pointed):
            return self._same_question(pointed, before, strictly=True)
        return self._with_subject(pointed, before, leans=True)

    def _chosen(self, text: str, before: DialogueState) -> CompletedQuestion | None:
        """Reads an answer to "which one do you mean?"; returns None for any other turn.

        A number, the other one of two, all of them, a thing or value that only one of them is joined with, or a
        description, for which the graph has to be searched.
        """
        choices = before.choices
        asked = self._table.known(before.question)
        groups = [word for word in asked if self._meanings.choices(word)]
        open_words = groups or [word for word in asked if word in choices]
        if len(choices) < 2 or not open_words:
            return None
        if self._form(text) == "all":
            every = groups[0] if groups else self._meanings.all_of(choices)
            return CompletedQuestion(SafeText(self._asked_of(before, every)), leans=True)
        at, words = place_chosen(self._as_numbered(text)), self._table.known(text)
        if at is not None and at < len(choices):
            return CompletedQuestion(SafeText(self._asked_of(before, choices[at])))
        if found := _OTHER.fullmatch(text):
            left = [each for each in choices if each not in before.meant]
            is_same = found["name"] is None or found["name"] in (*groups, *choices)
            return CompletedQuestion(SafeText(self._asked_of(before, left[0]))) if is_same and len(left) == 1 else None
        if words and self._says_nothing_else(text) and not set(words) & {*choices, *groups}:
            near = self._meanings.joined_with(words, choices)
            return CompletedQuestion(SafeText(self._asked_of(before, near[0]))) if len(near) == 1 else None
        which = chosen_by(text, groups[0] if groups else self._meanings.all_of(choices))
        if not which:
            return None
        choosing = Choosing(SafeText(which), SafeText(before.question), open_words[0], choices)
        return CompletedQuestion(SafeText(text), choosing=choosing)

    def _asked_of(self, before: DialogueState, chosen: str) -> str:
        """Returns the last question asked of one of its `choices`, in place of their name or of another of them."""
        asked = self._table.known(before.question)
        old = {word for word in asked if self._meanings.choices(word) or word in before.choices}
        places = [place for place in words_in(before.question) if place.word in old]
        return replaced(before.question, [Standing(place.start, place.end, chosen) for place in places])

    def _as_numbered(self, text: str) -> str:
        """Returns the turn with typed numbers in place of their pseudonyms."""
        for word in self._table.known(text):
            meaning = self._table.meaning(word)
            if meaning is not None and meaning.literal and meaning.literal.isdigit():
                text = text.replace(word, meaning.literal)
        return text

    def _compared(self, text: str, before: DialogueState) -> str:
        """Returns a question about what the last answers told of, "of those two", as one about their set.

        Empty for a turn that neither compares nor speaks of two.
        """
        speaks_of_two = _THE_TWO.search(text)
        if self._table.known(text) or not (speaks_of_two or compared(text, "")):
            return ""
        group = self._spoken_of(text, before)
        if not group or compared(text, ""):
            return compared(text, group) if group else ""
        return _THE_TWO.sub(lambda found: f"of {group}" if found[0].lower().startswith("of ") else group, text)

    def _spoken_of(self, text: str, before: DialogueState) -> str:
        """Returns the pseudonym of what the last answers told of: a set, or the last things of one kind; else ""."""
        told = before.told or before.unshown
        if told and not (_OF_TWO.search(text) and len(self._meanings.mids(told)) > 2):
            return told
        abouts = dict.fromkeys(about[0] for about, _ in before.exchanges if len(about) == 1)
        answers = dict.fromkeys(ones[0] for _, ones in before.exchanges if len(ones) == 1)
        is_of_answers = len(before.exchanges[-1:]) and before.exchanges[-1][1]
        things = [*answers] if is_of_answers else [*abouts]
        kind = self._meanings.concept(things[-1]) if things else ""
        alike = [each for each in things if self._meanings.concept(each) == kind]
        if _OF_TWO.search(text):
            alike = alike[-2:]
        return self._meanings.all_of(alike) if len(alike) > 1 else ""

    def _with_subject(self, text: str, before: DialogueState, *, leans: bool) -> CompletedQuestion:
        # The thing behind a pronoun is a guess, so earlier turns are kept as context.
        replaced_too = self._persons.replaced_in(text)
        if before.unshown and (found := _THEM.search(replaced_too)):
            name = f"{before.unshown}'s" if found[0].lower() == "their" else before.unshown
            replaced_too = replaced_too[: found.start()] + name + replaced_too[found.end() :]
        if before.subject and before.subject not in replaced_too and (found := _OF_THING.search(replaced_too)):
            name = in_case(found[0], replaced_too[found.end() :], before.subject)
            replaced_too = replaced_too[: found.start()] + name + replaced_too[found.end() :]
        if not before.answered and self._is_open(text, replaced_too, before):
            return CompletedQuestion(SafeText(text), open_ended=True)
        return CompletedQuestion(SafeText(replaced_too), leans=leans or replaced_too != text)

    def _is_open(self, text: str, resolved: str, before: DialogueState) -> bool:
        """Returns True if a pronoun may stand for what the last question asked for, which had no answer."""
        named, known = self._table.known(text), self._table.known(resolved)
        meant = {*known} - {*named}
        return not meant <= {*self._table.known(before.question)} or not (known or REFERS.search(resolved) is None)

    def _says_nothing_else(self, text: str) -> bool:
        """Returns True if `text` holds only pseudonyms and the function words that may surround them."""
        words = (standing.word for standing in words_in(text))
        return all(self._table.meaning(word) is not None or word.lower() in _AROUND for word in words)

    def _same_question(self, fragment: str, before: DialogueState, *, strictly: bool) -> CompletedQuestion:
        """Asks the previous question again about the things that `fragment` names: "and Rose?", "what about Rose?".

        They replace a thing that the previous question named. If `strictly`, that thing must be of the same concept or
        from the same list; if there is none, `fragment` is taken to only point at its first thing.
        """
        said, asked = self._table.known(fragment), self._table.known(before.question)
        # "Not A, I meant B" and "the wrong Marsh, B" name the last question's own thing and a group beside B.
        new = [word for word in said if word not in asked and not self._meanings.choices(word)] or said
        old = self._old_topic(new[0], before, strictly=strictly)
        if old is None and strictly:
            return CompletedQuestion(SafeText(new[0]), pointed=new[0])
        if old is None:
            stripped = before.question.rstrip(" ?.!")
            by_pronoun = pronoun_replaced(before.question, " and ".join(new))
            bare = _without_opening(fragment) if self._says_nothing_else(fragment) else " and ".join(new)
            question = by_pronoun or f"{stripped} {bare}"
        else:
            named = " and ".join(new)
            places = [place for place in words_in(before.question) if place.word == old]
            question = replaced(before.question, [Standing(place.start, place.end, named) for place in places])
        return CompletedQuestion(SafeText(question))

    def _old_topic(self, new: str, before: DialogueState, *, strictly: bool) -> str | None:
        old = [word for word in self._table.known(before.question) if word != new]
        for fits in (
            lambda word: new in self._meanings.choices(word),
            lambda word: new in before.listed and word in before.listed,
            lambda word: "V" not in (word[0], new[0]) and self._meanings.concept(word) == self._meanings.concept(new),
        ):
            if found := next(filter(fits, old), None):
                return found
        alike = [word for word in old if (word[0] == "V") == (new[0] == "V")]
        return alike[-1] if alike and not strictly else None


def _picked(which: str, before: DialogueState) -> str | None:
    listed = before.listed
    if which == "other":
        left = [word for word in listed if word not in before.meant]
        return left[0] if len(left) == 1 and before.meant else None
    at = {"last": -1, "former": 0, "latter": 1}.get(which)
    at = ORDINALS.index(which) if at is None else at
    return listed[at] if listed and at < len(listed) else None


def _without_opening(fragment: str) -> str:
    """Returns the fragment of a question without its opening words: `in X?` for `and what about in X?`."""
    words = fragment.split()
    while len(words) > 1 and words[0].strip(",").lower() in _AROUND - {"by", "in", "at", "with", "to", "from", "on"}:
        words = words[1:]
    return " ".join(words)


_WORD = re.compile(r"[^\W\d_]+")
_REFERRING = frozenset(
    "he she it they them him his her hers its their theirs those these that this one ones there same".split()
)
# In "the films that share an actor", "that" begins a clause and does not refer to an earlier turn.
_JOINING = re.compile(r"\b(?:the|a|an|which|what|any|every|all|some|many|other) \w+ that\b", re.IGNORECASE)


def needs_context(dialogue: SafeDialogue) -> bool:
    """Returns True if the question can be understood only with earlier turns.

    That is, it was completed from them, holds a word that may refer to them ("he", "there"), or names nothing.
    """
    words = {word.casefold() for word in _WORD.findall(_JOINING.sub("", dialogue.question))}
    names_something = any(topic.newest for topic in dialogue.topics)
    return dialogue.leans or not names_something or not _REFERRING.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class Completed:
    """The dialogue with its last question completed; `whole` says how."""

    read: Anonymised
    whole: CompletedQuestion


class DialogueCompleter:
    """Completes the dialogue of one request.

    When completing settles which of several things with one name is meant ("the second one"), the name stands for that
    thing in later turns.
    """

    def __init__(
        self,
        table: PseudonymTable,
        meanings: PseudonymMeanings,
        tells_fact: Callable[[str], bool] = lambda _: False,
        form_of: FormOf = no_form,
    ) -> None:
        """`tells_fact`, `form_of`: as for FollowUps."""
        self._table, self._meanings, self._tells_fact, self._form_of = table, meanings, tells_fact, form_of

    def complete(self, read: Anonymised) -> Completed:
        whole = FollowUps(self._table, self._meanings, self._tells_fact, self._form_of).whole(read.dialogue)
        note = whole.note(read.dialogue.question)
        notes = (*read.notes, note) if note else read.notes
        if whole.question == read.dialogue.question:
            return Completed(replace(read, notes=notes), whole)
        said = self._table.known(whole.question)
        for mid in filter(None, map(self._table.entity, said)):
            self._table.settle(mid, by_user=True)
        turns = (*read.dialogue.turns[:-1], SafeTurn("user", whole.question))
        dialogue = SafeDialogue(turns, tuple(self._topics(said, read.dialogue.topics)), whole.leans)
        offered = ((word, list(self._meanings.choices(word))) for word in said)
        ambiguous = tuple(Ambiguity(pseudonym=word, choices=choices) for word, choices in offered if choices)
        return Completed(replace(read, dialogue=dialogue, ambiguous=ambiguous, notes=notes), whole)

    def _topics(self, said: list[str], before: tuple[Topic, ...]) -> Iterator[Topic]:
        known = {topic.pseudonym: topic for topic in before}
        for word in said:
            meaning = self._table.meaning(word)
            is_value = meaning is not None and meaning.kind in ("value", "literal")
            kind = (meaning.value_kind or ValueKind.TEXT) if meaning is not None and is_value else None
            new = known[word] if word in known else Topic(word, self._meanings.mids(word), kind)
            yield replace(new, newest=True)
        yield from (replace(topic, newest=False) for topic in before if topic.pseudonym not in said)
