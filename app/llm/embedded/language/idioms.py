"""Ways of asking that are replaced by plainer ones before a question is read."""

from __future__ import annotations

import re

from app.llm.embedded.language.synonyms import PLAINER

_ELDER = "mother|father|parents?|mom|dad|ma|pa"
_YOUNGER = "son|daughter|child|children|kid|sons|daughters|kids"
_AMOUNT = r"(?:(?:more|less) than |over |under |above |below |at least |at most )?V[a-z0-9]{5}\b"
_PERIOD = r"(?:a|an|per|each|every) (?:hour|day|week|month|year)\b"
_PARTNER = "wife|husband|spouse|partner|other half"
_DO = "(?:does|do|did|will|would|can|could)"
_A_PERIOD = r"(?=(?:a|an|per|each|every|in a) (?:hour|day|week|month|year)\b)"
_AS_A_JOB = "(?:here|for (?:a living|work|a job|you|us)|by profession|by trade|professionally|at work|as a job)"
_HAVE = "has|have|had|having"
_WORKS = "movie|film|book|novel|song|album|record|band|group|show|series|game|play|music"
_DEGREES = {
    "severity": "bad|serious|severe|grave",
    "rating": "good",
    "temperature": "hot",
    "depth": "deep",
    "width": "wide",
    "thickness": "thick",
}
"""Adjectives that ask how much there is of what they name."""
_PLAIN = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        # Ways of asking that say nothing of what is asked for.
        (
            r"^\s*(?:please|"
            r"(?:can|could|would|will|do) you (?:please )?(?:know|tell me|give me|name|list|show me|say|give)?|"
            r"(?:i (?:want|would like|need)|i['’]d like) to know|do you know|tell me|give me|show me)\b",
            " ",
        ),
        (
            r"\bsince when (?:is|are|has|have) (.+?) (?:been )?"
            r"(?:(?:working|employed)(?: (?:here|there|for us|with us))?"
            r"|with (?:us|(?:the|our) (?:company|firm|team|business)))\W*$",
            r"when was \1 hired",
        ),
        (r"^\s*(?:and )?since (?:when|(?:which|what) (?:year|date|day))\b", "when"),
        (r"\b(in|at|by|from|of|for|to|with|on) (E\w{5}) or \1 (E\w{5})", r"\1 \2 or \3"),
        # "Who has X as their doctor": those whose doctor is X.
        (
            r"^\s*who (?:has|have|had|got) (E\w{5}) as (?:an? |the |their |his |her |its )?([a-z]+(?: [a-z]+)?)\W*$",
            r"whose \2 is \1",
        ),
        (r"^\s*who of (?:all )?(?:the|our|my|your|these|those) (?=[a-z])", "which "),
        (r"\b(part|full)[- ]timers?\b", r"\1 time"),
        (
            r"\b(?:learn(?:s|ed|t)?|learning) (?:the|his|her|their) (?:job|trade|craft|work) (?:from|with|under)\b",
            "trained by",
        ),
        (r"\s+as well(?=\W*$)", ""),
        (r"^\s*add up (?:all )?(?:the )?", "the sum of the "),
        (r"\b(?:existed?s?|been around) (?:for )?longer\b", "is older"),
        (r"\bon (?:which|what) (?:exact )?(?:date|day)\b(?! of\b)", "when"),
        (r"\b(which|what) one of (?=(?:them|these|those)\b)", r"\1 of "),
        (r"^\s*(?:which|what) (?:one )?of us\b|\bwho all\b", "who"),
        (r"\bthan the one (?:in|at|from|of) (?=E\w{5})", "than "),
        (r"\bdo we (?:work|deal|do business|cooperate|trade|have to do) with\b", "do we have"),
        (r"\s(?:that |which |whom )?we (?:work|deal|do business|cooperate|trade|have to do) with(?=\W*$)", ""),
        (
            r"\bperson (?:to|i should|we should) (?:ask for|ask|talk to|speak to|speak with|contact|turn to)\b",
            "contact",
        ),
        (r"\b(?:make|get)(s?) (more|less|the most|the least) (?:money|cash)\b", r"earn\1 \2"),
        (r"^\s*every\b(?! (?:day|week|month|quarter|year|hour)\b)", "all"),
        # "Whose email is missing among the nurses": they have none.
        (r"^\s*whose (.+?) (?:is|are) (?:missing|unknown) among (?:all )?(?:the )?(.+)", r"which \2 have no \1"),
        (
            r"\b(?:except|apart from|other than|excluding|all but)(?: for)? (?:those|the ones|people)"
            r"(?: (?:who|that|which))?(?: (?:is|are))?\b",
            "not",
        ),
        *(
            (rf"\b(has|have|had|having|with|got|are|is) the (?:{most}) number of\b", rf"\1 the {said}")
            for most, said in (("highest|largest|biggest|greatest", "most"), ("lowest|smallest|least", "fewest"))
        ),
        # What somebody left, gave or told us they have given: "clients who have left us no phone number" have none.
        (
            rf"\b(?:(?:{_HAVE}) )?(?:left|gave|given|told|sent|provided) (?:us|me)(?: with)? (no|an?|any|their)\b",
            r"have \1",
        ),
        (rf"\b({_HAVE}) (?:nobody|no one|noone) (?:down |listed |named |given )?(?:for|as)(?: the)?\b", r"\1 no"),
        (rf"\b({_HAVE}) (?:somebody|someone) (?:down |listed |named |given )?(?:for|as)(?: the)?\b", r"\1 a"),
        (r"\bwhose property (?:is|are|was) (.+?)\W*$", r"who owns \1"),
        (r"\b(?:in|at|to|from) (?:which|what) place\b", "where"),
        (rf"\bwhat (?:sort|kind|type) of (?:{_WORKS}) (?=(?:is|was|are) (?:the )?E\w{{5}}\W*$)", "what genre "),
        (r"\b(?:over|down|up|out|back) (at|in)(?= (?:the )?E\w{5})", r"\1"),
        (r"\b(work(?:s|ed|ing)?) out of (?=(?:the )?E\w{5})", "based at "),
        (r"(?<=[a-z] )out of (?=(?:the )?E\w{5})", "from "),
        # What somebody got done is done for them, and not by them.
        (r"\bwho (?:got|gets|had) (E\w{5}|the \w+) (\w+ed)\b", r"who was \2 \1"),
        (
            r"\bwho(?:m)? (?:do|should|can|could|must|shall|to) (?:(?:we|i|you|one) )?(?:have to )?"
            r"(?:call|ring|phone|contact|notify|inform|alert|tell)(?: up)? in an emergency of\b",
            "who is the emergency contact of",
        ),
        (r"\bhow much cash\b", "how much money"),
        (r"\bin (?:a )?(?:few|one|short|brief)(?: words?)?\b", " "),
        (
            r"\b(?:which|what) (?:sort|kind|type)s? of (?:things?|stuff) (?=(?:is|are|was|were) .+ about\W*$)",
            "which topics ",
        ),
        (r"\babout\s*\?*\s*$", "topic"),
        (r"\bbest[- ]paid\b", "highest paid"),
        # "Who makes less than so much a year", "what does X make per month".
        (rf"\bmakes?(?= {_AMOUNT}(?: \w+)? {_PERIOD})", "earns"),
        (rf"^(?!.*\bhow many\b)(.*)\bmake(?= {_PERIOD})", r"\1earn"),
        # Who deals with an order handles it; films that deal with the sea are about it.
        (r"\bwho(?: is|'s|’s)? (?:deals?|dealt|dealing) with\b", "who handles"),
        (rf"\b((?:how much(?: money)?|what) {_DO} .+? )(?:make|get|bring in) {_A_PERIOD}", r"\1earn "),
        (rf"\b((?:how much(?: money)?|what) {_DO} .+? )(?:make|get) (?=on average\b)", r"\1earn "),
        (rf"\b(how much(?: money)? {_DO} .+? )make(?=\W*$)", r"\1earn"),
        (rf"\b(?:how much|what) {_DO} (.+? )(?:go|sell|retail) for\b", r"how much does \1cost"),
        (
            r"\b(?:show|teach)(?:es|s|ed|n)? (.{1,40}?) the (?:ropes|job|trade)\b|"
            r"\btaught (.{1,40}?) the (?:ropes|job|trade)\b",
            r"trained \1\2",
        ),
        *(
            (rf"^\s*how (?:{adjectives})(?:ly)? (is|was|are|were)\b", rf"what \1 the {noun} of")
            for noun, adjectives in _DEGREES.items()
        ),
        # "Has X got children, and who are they": the first question goes without saying.
        (
            r"^\s*(?:has|have|does|do) (E\w{5}) (?:got |have |had )?(?:any |an? |some )?([a-z]+),? (?:and |if so,? )*"
            r"(?:who|what|which) (?:ones? )?(?:are they|is it|is he|is she|is that)\W*$",
            r"which \2 does \1 have",
        ),
        (r"\b(number of [a-z]+) by (?=[a-z]+\b\W*(?:please)?\W*$)", r"\1 per "),
        (r"\bused to\b", " "),
        # Whoever is dead has died, and whoever is alive has not.
        (r"\b(?:is|are)(?:n['’]t| not| no longer) (?:still )?alive\b", "has died"),
        (r"^\s*(?:is|are) (.+?) (?:not|no longer) (?:still )?alive\b", r"has \1 died"),
        (r"^\s*(?:is|are) (.+?) (?:still )?alive\b", r"has \1 not died"),
        (
            r"\b(?:is|are) (?:(?:still )?alive|not dead|not (?:yet )?deceased)\b|\b(?:is|are)n['’]t dead\b",
            "has not died",
        ),
        (r"(?<=\w )(?:is|are) (?:already )?(?:dead|deceased)\b", "has died"),
        (r"\bhow (?:do|does|would|could|can|should) (?:people|you|one|we|i) describe\b", "what words describe"),
        (
            r"\b(?:what|how) (?:do|did|does|would) people (?:think (?:of|about)|rate|like)\b",
            "what is the rating of",
        ),
        (
            r"(?<=\w )(?<!know )about\b|\b(?:deal|deals|dealing|dealt) with\b|\b(?:relate|relates|related) to\b",
            "with topic",
        ),
        (rf"^\s*what (?:does|do|did) (.+?) do(?: {_AS_A_JOB})*\s*\?*\s*$", r"what is \1 's occupation"),
        (
            r"^\s*(?:is|are|was|were) (.+?) (?:a |an )?(?:man|male|boy) or (?:a |an )?(?:woman|female|girl)\s*\?*\s*$",
            r"what is \1 's gender",
        ),
        # "Who is X's father?" asks for a person, and what that person is, is an occupation; a longer chain of
        # relations is asked for by "what" all the same.
        (rf"^\s*what (?:is|was) (\w+ ?'s (?:{_ELDER}|{_YOUNGER}|{_PARTNER}))\s*\?*\s*$", r"what is \1 's occupation"),
        (rf"\bgrand ?({_ELDER})s? of\b", r"\1 of the parent of"),
        (rf"\bgrand ?({_YOUNGER}) of\b", r"\1 of the child of"),
        (rf"'s grand ?({_ELDER})s?\b", r"'s parent 's \1"),
        (rf"'s grand ?({_YOUNGER})\b", r"'s child 's \1"),
    )
)


_PLAINER = {way: said for ways, said in PLAINER.items() for way in ways.split(", ")}
_WAY = re.compile(
    rf"(?<![\w'’-])(?:{'|'.join(sorted(map(re.escape, _PLAINER), key=len, reverse=True))})(?![\w'’-])", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")


def normalise_idioms(question: str) -> str:
    """`question` with such phrases replaced, each once and in order; others stay as they are."""
    question = plainer(question)
    for pattern, said in _PLAIN:
        question = pattern.sub(said, question)
    return question.strip()


def plainer(text: str) -> str:
    """`text` with plainer words for what people say, and none for what says nothing; all of it where none are left."""
    said = _WAY.sub(lambda found: _PLAINER[found[0].lower()], text)
    return said if _LETTER.search(said) else text
