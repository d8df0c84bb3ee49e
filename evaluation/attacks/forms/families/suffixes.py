"""Family 9: names with the endings and articles of inflecting languages, with apostrophes and without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from evaluation.attacks.forms.corpus.graph_names import GraphNames
from evaluation.attacks.forms.corpus.people import surnames, surnames_of
from evaluation.attacks.forms.corpus.plain_letters import tokens
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, TypedCase, put_into, spread

# {} is the name; the rest is what a language hangs on it.
ENDINGS: Mapping[str, Sequence[str]] = {
    "en": ("{}'s", "{}s'", "{}'", "{}’s", "{}-related", "non-{}", "{}'s'", "{}esque", "{}ian", "{}like", "ex-{}"),
    "de": ("{}s", "{}'s", "{}sche", "{}schen", "{}scher", "{}ens", "{}n", "familie-{}", "{}-akte", "{}akte", "{}in"),
    "tr": ("{}'ün", "{}'nin", "{}'a", "{}'dan", "{}'ler", "{}'nın", "{}’de", "{}ün", "{}in", "{}lerin", "{}'yle"),
    "it": ("dell'{}", "d'{}", "all'{}", "l'{}", "un'{}", "dall’{}", "nell'{}", "quell'{}", "sull'{}"),
    "fr": ("d'{}", "l'{}", "qu'{}", "chez-{}", "d’{}", "jusqu'{}"),
    "pl": ("{}owi", "{}em", "{}a", "{}ego", "{}emu", "{}ów", "{}ą", "{}owie", "{}ę"),
    "cs": ("{}ovi", "{}em", "{}ová", "{}ové", "{}ovou", "{}ův", "{}ů"),
    "es": ("{}es", "los-{}", "{}ito", "{}ista", "{}iano"),
    "fi": ("{}in", "{}lla", "{}lta", "{}sta", "{}n", "{}lle", "{}ssa"),
    "hu": ("{}nak", "{}val", "{}ról", "{}t", "{}hoz", "{}ék", "{}né"),
    "ru": ("{}u", "{}om", "{}oy", "{}ym", "{}ykh"),
    "nl": ("{}'s", "{}tje", "{}se", "{}en"),
}
_SPOKEN = {"cs": "pl", "fi": "en", "hu": "en", "ru": "en", "nl": "de"}


def suffixed_names(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Last names of the graph and of the lists; a third in `language`, else in sentences of the ending's own."""
    own = [name.lower() for name in names.last_names(dice, count)]
    listed = dice.sample(surnames(), count) + list(surnames_of("tr")[:count])
    forms: dict[str, list[TypedCase]] = {key: [] for key in ENDINGS}
    for name in (*own, *listed):
        key = dice.choice((language, *sorted(ENDINGS)))
        forms[key if key in ENDINGS else "en"] += _of(name, key if key in ENDINGS else "en", dice)
    spoken = [(typed, key) for key, every in forms.items() for typed in every]
    of_text = dict(spoken)
    for typed in spread(list(of_text), dice, count):
        tongue = _SPOKEN.get(of_text[typed], of_text[typed])
        yield put_into("9 suffixes", typed, sentence(tongue, ("open", "marked"), dice), dice)


def _of(name: str, key: str, dice: Random) -> Iterator[TypedCase]:
    for ending in ENDINGS[key]:
        written = dice.choice((name, name, name[:1].upper() + name[1:]))
        harmless = frozenset(tokens(ending.replace("{}", " ")))
        yield TypedCase(f"{key}: {ending}", ending.replace("{}", written), (name,), harmless, marked=True)
