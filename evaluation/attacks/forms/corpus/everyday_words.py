"""Everyday words, as the judge sees them: lemminflect's dictionary and wordfreq's frequencies, and nothing else."""

from __future__ import annotations

from functools import lru_cache

from lemminflect import getAllLemmas
from wordfreq import zipf_frequency

from evaluation.attacks.forms.corpus.people import everyday_words_of, names_first
from evaluation.attacks.forms.corpus.plain_letters import plain

MIN_ZIPF = 4.0
_FUNCTION_WORDS = frozenset(
    """a an the this that these those i you he she it we they me him her us them my your his its our their mine who
    whom whose which what when where why how and or but if then than so nor not no yes of to in on at by for from
    with about into over under between after before during without within is am are was were be been being do does
    did done has have had having can could will would shall should may might must there here all any some each every
    both either neither such own same too very just also only more most other another much many few until while
    because as since let's don't doesn't didn't isn't aren't wasn't who's what's that's it's i'm i've you're""".split()
)
# What stands in names and says nothing: particles, titles, endings and articles that hang on names.
HARMLESS = frozenset(
    """of the and or a an in on at st de la le les el los las da do dos das di du del della dell dall nell sull all l d
    van von der den dem des zu zum zur und y e i o en et born geb geborene ne nee mr mrs ms miss dr prof sir herr frau
    dott signor senor senora don dona pan pani bay hanim sayin monsieur madame jr sr ii s t un in unun nun nin den dan
    ten tan de da te ta ya ye yi yu ovi em ou ova owi a u om ami sche schen os es za ul ile li lu ca ce""".split()
)


@lru_cache(maxsize=100_000)
def is_everyday(word: str, language: str = "en") -> bool:
    """A common word of English, or of `language`; never one that is read as a name first. `word` in small letters."""
    if word in _plain(names_first()):
        return False
    return word in _plain(everyday_words_of(language)) or is_common_english(word)


def is_function_word(word: str) -> bool:
    """A word that any sentence may hold, in any place and with a capital: "can", "he"."""
    return word in _FUNCTION_WORDS


@lru_cache(maxsize=100_000)
def is_in_dictionary(word: str) -> bool:
    """A common noun, verb, adjective or adverb of English, however rare; no name. `word` in small letters."""
    return bool(getAllLemmas(word)) and word not in _plain(names_first())


@lru_cache(maxsize=100_000)
def is_common_english(word: str) -> bool:
    if word in _FUNCTION_WORDS:
        return True
    return bool(getAllLemmas(word)) and zipf_frequency(word, "en") >= MIN_ZIPF


@lru_cache(maxsize=16)
def _plain(words: frozenset[str]) -> frozenset[str]:
    return frozenset(plain(word) for word in words)
