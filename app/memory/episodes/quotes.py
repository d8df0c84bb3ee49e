"""Splits a story's paragraphs into sentences, and finds the words in quotes and who says them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kg_store.text.english import ALWAYS_EVERYDAY, frequent_words, may_be_proper
from kg_store.text.inflection import is_past, may_be_verb

_NAME: Final = (
    r"(?!(?:He|She|They|It|The|Her|His|My|An?)\b)(?:(?:Mr|Mrs|Ms|Dr|St)\. ?)?[A-Z][\w'’-]+"
    r"(?: (?:[A-Z][\w'’-]+|of [A-Z][\w'’-]+))*"
)
_ROLE: Final = rf" (?:(?:[a-z-]+ ){{0,2}}{_NAME}|(?:[a-z-]+ ){{0,2}}?[a-z-]+)"
_LATER: Final = rf"(?:{_NAME}|(?:I|he|she|they)\b|(?:the|her|his|my|an?){_ROLE})"
"""Who acts, inside a sentence; at its beginning, the first letter is a capital."""
_SUBJECT: Final = rf"(?:{_LATER}|(?:He|She|They)\b|(?:The|Her|His|My|An?){_ROLE})"
_QUOTE: Final = re.compile(r"“([^”]*)(?:”|$)")
_MARK: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
_BEHIND: Final = re.compile(rf"{_MARK},? ((?:[\w’'.-]+ ?){{1,6}})")
_INVERTED: Final = re.compile(rf"[a-z]+ ({_SUBJECT})")
_BEFORE: Final = re.compile(
    rf"(?:^|[,;] |and |Then )(?P<early>{_SUBJECT}) (?:[a-z]+ly |then )?(?P<acts>[a-z]+)\b[^{_MARK}]*{_MARK}"
)
_ACTS: Final = re.compile(rf"(?:^|[.!?{_MARK}] )(?P<early>{_SUBJECT}) (?:[a-z]+ly |then )?(?P<acts>[a-z]+)")
_END: Final = re.compile(rf"[.!?…]+[”’)]*(?=\s+[“‘(]?(?:[A-Z0-9]|{_MARK}))|[.!?…,]+”(?=\s+“)")
_ABBREVIATION: Final = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Capt|Lt|Sgt|No)|\b[A-Z])\.$")
_TAG: Final = re.compile(rf"\s+{_LATER} (?:[a-z]+ly )?(?P<acts>[a-z]+)\b[^“]{{0,60}}?[.,:]")
_PRONOUNS: Final = {"he": "m", "she": "f", "they": "", "i": ""}
_PRONOUN_FORMS: Final = {"m": frozenset("he his himself".split()), "f": frozenset("she hers herself".split())}
"""Without "him" and "her": "Orr showed her" tells of another than Orr."""
_TITLES: Final = {
    "m": frozenset("mr brother father uncle grandfather son husband".split()),
    "f": frozenset("mrs ms miss sister mother aunt grandmother daughter wife".split()),
}
"""Words directly before a name, or the first of it, that tell who "he" and "she" are."""
_OBLIQUE: Final = frozenset("by to of with from for about".split())
"""Words before a name that is not who acts: "written by Lise"."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a story. `quotes`: the words in it that somebody says, without marks; `speaker`: who says them."""

    text: str = field(repr=False)
    paragraph: int
    quotes: tuple[str, ...] = field(default=(), repr=False)
    speaker: str = field(default="", repr=False)

    @property
    def narration(self) -> str:
        """The sentence without what is said in it."""
        return _QUOTE.sub(" ", self.text).strip()


def paragraphs_of(text: str) -> list[str]:
    """Returns a text's paragraphs, with straight quotes as curly ones; a line break alone ends none."""
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n"))]
    return [_curly(part) for part in parts if part]


def sentences_of(paragraphs: Sequence[str]) -> list[Sentence]:
    """Returns the sentences of a story with their speakers."""
    people, found, before = _People(paragraphs), list[Sentence](), ["", ""]
    for number, paragraph in enumerate(paragraphs):
        split = list(split_sentences(paragraph))
        tagged = [people.speaker_in(text, before[1]) for text in split]
        said = next(filter(None, tagged), "") or (_beat(people, split) if "“" in paragraph else "")
        if "“" in paragraph:
            # An untagged line answers the one before: whoever spoke two lines ago speaks again.
            said = said or before[0]
            before = [before[1], said]
        for text, who in zip(split, tagged, strict=True):
            quotes = tuple(each.strip(" ,") for each in _QUOTE.findall(text))
            found.append(Sentence(text, number, quotes, (who or said) if quotes else ""))
            said = who or said
        if "“" not in paragraph:
            before = ["", ""]
    return found


def split_sentences(paragraph: str) -> Iterator[str]:
    """Yields a paragraph's sentences; what is said in quotes stays together with who says it."""
    start = 0
    for match in _END.finditer(paragraph):
        end = match.end()
        head, behind = paragraph[start:end], paragraph[end:]
        if head.count("“") > head.count("”") or _ABBREVIATION.search(head):
            continue
        if head.endswith("”") and (tag := _TAG.match(behind)) and is_verb_of_saying(tag["acts"]):
            continue
        yield head.strip()
        start = end
    if rest := paragraph[start:].strip():
        yield rest


def is_verb_of_saying(word: str) -> bool:
    """Returns True for a verb in the past or the third person, as it stands beside what is said."""
    return is_past(word) or (word.endswith("s") and may_be_verb(word))


def names_in(paragraphs: Sequence[str]) -> Counter[str]:
    """Returns the names in a story, with how often each occurs; a name begins with a capital inside a sentence."""
    inside, first = Counter[str](), Counter[str]()
    for sentence in (sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)):
        plain = re.sub(r"[“”]", ". ", sentence)
        for match in re.finditer(_NAME, plain):
            head = plain[: match.start()].rstrip()
            name = re.sub(r"['’]s$", "", match[0])
            (first if not head or head[-1] in ".!?:…" else inside)[name.removeprefix("The ")] += 1
    common = frequent_words("en", ALWAYS_EVERYDAY)
    return Counter(
        {
            name: inside[name] + first[name]
            for name in inside | first
            if len(name) > 1 and name.lower() not in _NEVER
            if name in inside or (may_be_proper(name.split()[0]) and name.split()[0].lower() not in common)
        }
    )


def whole_names(names: Collection[str]) -> dict[str, str]:
    """Returns for each name the longest one that it is part of: "Mara" -> "Mara Venn"; itself if there are several."""
    whole = {}
    for name in names:
        longer = [each for each in names if set(name.split()) < set(each.split())]
        whole[name] = max(longer, key=len) if len(longer) == 1 else name
    return whole


_NEVER: Final = frozenset(
    "i i'm i’m i'll i’ll i've i’ve i'd i’d monday tuesday wednesday thursday friday saturday sunday january february "
    "march april may june july august september october november december".split()
)


class _People:
    """Those who speak in a story: resolves "she said" to the last one named of whom "she" is said."""

    def __init__(self, paragraphs: Sequence[str]) -> None:
        names = names_in(paragraphs)
        self._whole, self._gender, self._last = whole_names(names), dict[str, Counter[str]](), list[str]()
        self._acting = set[str]()
        for paragraph in paragraphs:
            for sentence in split_sentences(paragraph):
                self._note(_QUOTE.sub(_MARK, sentence))
        self._last.clear()
        self._acting.clear()

    def speaker_in(self, sentence: str, before: str) -> str:
        """Returns who says what is quoted in a sentence, by its own words; empty if they do not tell.

        `before`: who spoke in the paragraph before; "she said" is more likely somebody else.
        """
        marked = _QUOTE.sub(_MARK, sentence)
        behind = (_subject_in(match[1]) for match in _BEHIND.finditer(marked))
        ahead = (match["early"] for match in _BEFORE.finditer(marked) if is_verb_of_saying(match["acts"]))
        speaker = next((self.resolved(who, before) for who in (*behind, *ahead) if who), "")
        self._note(marked, speaker)
        return speaker

    def resolved(self, who: str, before: str = "") -> str:
        """Returns the whole name that a subject means, itself if it is no pronoun; empty if nobody was named."""
        who = re.sub(r"['’]s$", "", who)
        if named := re.fullmatch(rf"(?:[Tt]he|[Hh]er|[Hh]is|[Mm]y|[Aa]n?)(?: [a-z-]+)* ({_NAME})", who):
            who = named[1]
        gender = _PRONOUNS.get(who.lower())
        if gender is None or who == "I":
            title = who.split()[-1].capitalize()
            titled = [name for name in self._whole if name.split()[0] == title and " " in name]
            return self._whole.get(titled[0] if len(titled) == 1 else who, who)
        fitting = [each for each in reversed(self._last) if not gender or self._fits(each, gender)]
        return min(fitting, key=lambda each: (each == before, each not in self._acting), default="")

    def _fits(self, name: str, gender: str) -> bool:
        counted = self._gender.get(name, Counter())
        return counted[gender] > 0 and counted[gender] >= max(counted["m"], counted["f"])

    def _note(self, narration: str, speaker: str = "") -> None:
        """Remembers who is named in a sentence, and counts the pronouns behind the only one named in it."""
        found = [(match, self._whole.get(re.sub(r"['’]s$", "", match[0]))) for match in re.finditer(_NAME, narration)]
        named = [(match, name) for match, name in found if name]
        oblique = (narration[: match.start()].split()[-1:] for match, _ in named)
        self._acting.update(name for (_, name), word in zip(named, oblique, strict=True) if not {*word} & _OBLIQUE)
        # Who stands first is most often meant by the next pronoun, so that it is the last one here.
        self._last = [*self._last, *(name for _, name in reversed(named)), *filter(None, [speaker])][-8:]
        if not self._last or len({name for _, name in named}) > 1:
            return
        at = named[0][0].start() if named else 0
        before = narration[:at].split()[-1:]
        words = {word.lower() for word in _WORD.findall(narration[at:])}
        counted = self._gender.setdefault(self._last[-1], Counter())
        counted.update({gender: 1 for gender, forms in _PRONOUN_FORMS.items() if words & forms})
        near = {word.lower().strip(".") for word in (*before, *narration[at:].split()[:1])}
        counted.update({gender: 100 for gender, titles in _TITLES.items() if near & titles})


def _subject_in(words: str) -> str:
    """Returns who speaks, of the words behind a quote: "the old man said", "said Ada"; empty if they tell nobody."""
    split = words.split()
    if is_verb_of_saying(split[0]):
        inverted = _INVERTED.match(words)
        return inverted[1] if inverted else ""
    verb = next((place for place, word in enumerate(split) if is_verb_of_saying(word.strip(".,"))), 0)
    subject = " ".join(word for word in split[:verb] if not word.endswith("ly"))
    return subject if subject and re.fullmatch(_SUBJECT, subject) else ""


def _beat(people: _People, split: Sequence[str]) -> str:
    """Returns who acts in a paragraph whose quotes nobody is said to say."""
    for text in split:
        match = _ACTS.search(_QUOTE.sub(_MARK, text))
        if match and is_verb_of_saying(match["acts"]):
            return people.resolved(match["early"])
    return ""


def _curly(paragraph: str) -> str:
    if "“" in paragraph or '"' not in paragraph:
        return paragraph
    parts = paragraph.split('"')
    return "".join(
        part + (("“" if number % 2 == 0 else "”") if number < len(parts) - 1 else "")
        for number, part in enumerate(parts)
    )
