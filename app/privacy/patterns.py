"""Finds identifying strings by their form alone: addresses, phone numbers, cards, accounts, national numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from ipaddress import ip_address
from typing import Final

import phonenumbers
from stdnum import iban, luhn

from kg_store.text.normalise import MARKS

DEFAULT_REGIONS: Final = ("US", "GB", "DE", "FR", "IN")
"""Countries whose phone numbers are found without a leading `+`; with `+` those of all countries are found."""


class PatternKind(StrEnum):
    """The kind of a match, the most specific first: where two kinds match the same span, the first one is taken."""

    EMAIL = "email"
    URL = "url"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_NUMBER = "national number"
    IP_ADDRESS = "ip address"
    HARDWARE_ADDRESS = "hardware address"
    PHONE = "phone"
    HANDLE = "handle"
    SPELT = "letters apart"
    DIGITS = "digits"


@dataclass(frozen=True, slots=True)
class PatternSpan:
    """text[start:end] has the form of `kind`."""

    start: int
    end: int
    kind: PatternKind


def find_patterns(text: str, regions: Sequence[str] = DEFAULT_REGIONS) -> list[PatternSpan]:
    """Returns the matches in `text`, in order and without overlaps.

    Of overlapping matches the longest is taken; of equally long ones, the kind that comes first in PatternKind.
    """
    kinds = list(PatternKind)
    found = [*_addresses(text)]
    if _DIGIT.search(text) if text.isascii() else any(map(str.isdigit, text)):
        found += [*_numbers(text), *_phones(text, regions)]
    found.sort(key=lambda span: (span.start - span.end, kinds.index(span.kind), span.start))
    kept: list[PatternSpan] = []
    for span in found:
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)


_DIGIT = re.compile("[0-9]")
_W = rf"\w{MARKS}"
# Every pattern begins with a look-behind and has possessive parts, so that long texts take linear time.
_EMAIL = re.compile(rf"(?<![{_W}.!#$%&'*+/=?^`{{|}}~-])[{_W}.!#$%&*+/=?^`{{|}}~'-]++(?:@[{_W}-]++(?:\.[{_W}-]++)*+)++")
_URL = re.compile(
    rf"(?<![{_W}])(?:[a-z][a-z0-9+.\-]{{0,15}}://|www\.|mailto:|tel:)[^\s<>\"]++"
    rf"|(?<![{_W}@.-])(?:[{_W}-]++\.)+[a-z]{{2,}}/[^\s<>\"]++",
    re.IGNORECASE,
)
_HANDLE = re.compile(rf"(?<![{_W}@.])@[{_W}]++(?:\.[{_W}]++)*+")
# A spelt word of four letters or more: R o s e, R.o.s.e, R-o-s-e.
_APART = rf"[^\W\d_][{MARKS}]*+[ .·'’_*/|‐-–-]{{1,3}}+"
_SPELT = re.compile(rf"(?<![{_W}])(?:{_APART}){{3,}}[^\W\d_][{MARKS}]*+(?![{_W}])")
_MAY_BE_SPELT = re.compile(rf"[ .·'’_*/|‐-–-]{_APART}[^\W\d_][{MARKS}]*+[ .·'’_*/|‐-–-]")
_MAY_BE_SPELT_IN_ASCII = re.compile(r"[ .'_*/|-][A-Za-z][ .'_*/|-]{1,3}+[A-Za-z][ .'_*/|-]")
_MAC = re.compile(r"(?<![\w:-])[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}(?![\w:-])", re.IGNORECASE)
_MIN_PARTINGS: Final = 5
"""The signs between the parts of a hardware address."""

_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?!\.?\w)")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-f]{0,4}:)[0-9a-f:.]{2,45}+(?<=[\w:])(?!\w)", re.IGNORECASE)
_IBAN = re.compile(r"(?<!\w)[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{1,4}){3,9}(?!\w)", re.IGNORECASE)
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,22}(?!\w)")
_DIGITS = re.compile(r"(?<!\w)(?<!\d[./-])\d++(?:[./-]\d++)*+(?!\w)")
# The slow phone search runs only here: seven digits with at most two other characters between neighbours.
_PHONE_LIKE = re.compile(r"(?:\d[\s().\-–/·]{0,3}+){6,}\d")
_EXTENSION_CHARS = 16
_MIN_DIGITS = 5
_TRAILING = ".,;:!?)]}'’”»…"

# A python-stdnum module and the number's written form. Only numbers of persons; companies are in the graph.
_NATIONAL: Final = (
    ("ar.dni", r"\d{2}\.\d{3}\.\d{3}"),
    ("at.vnr", r"\d{4} ?\d{6}"),
    ("au.tfn", r"\d{3}[ -]?\d{3}[ -]?\d{3}"),
    ("be.nn", r"\d{2}[. -]?\d{2}[. -]?\d{2}[. -]?\d{3}[. -]?\d{2}"),
    ("bg.egn", r"\d{6} ?\d{3} ?\d"),
    ("br.cpf", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}"),
    ("ca.sin", r"\d{3}[ -]?\d{3}[ -]?\d{3}"),
    ("ch.ssn", r"756\.?\d{4}\.?\d{4}\.?\d{2}"),
    ("cl.rut", r"\d{1,2}\.?\d{3}\.?\d{3}-?[\dk]"),
    ("cn.ric", r"\d{17}[\dx]"),
    ("cz.rc", r"\d{6}/?\d{3,4}"),
    ("de.idnr", r"\d{2} ?\d{3} ?\d{3} ?\d{3}"),
    ("dk.cpr", r"\d{6}[- ]?\d{4}"),
    ("ee.ik", r"\d{11}"),
    ("es.dni", r"\d{8}-?[a-z]"),
    ("es.nie", r"[xyz]-?\d{7}-?[a-z]"),
    ("fi.hetu", r"\d{6}[-+a]\d{3}[0-9a-z]"),
    ("fr.nir", r"\d ?\d{2} ?\d{2} ?\d[\dab] ?\d{3} ?\d{3} ?\d{2}"),
    ("gb.nhs", r"\d{3}[ -]?\d{3}[ -]?\d{4}"),
    ("gr.amka", r"\d{11}"),
    ("hr.oib", r"\d{11}"),
    ("ie.pps", r"\d{7}[a-z]{1,2}"),
    ("il.idnr", r"\d{7,8}-?\d"),
    ("in_.aadhaar", r"\d{4}[ -]?\d{4}[ -]?\d{4}"),
    ("in_.pan", r"[a-z]{5}\d{4}[a-z]"),
    ("is_.kennitala", r"\d{6}-?\d{4}"),
    ("it.codicefiscale", r"[a-z]{6}\d\w[a-z]\d\w[a-z]\w{3}[a-z]"),
    ("kr.rrn", r"\d{6}-?\d{7}"),
    ("lt.asmens", r"\d{11}"),
    ("lv.pvn", r"\d{6}-?\d{5}"),
    ("mx.curp", r"[a-z]{4}\d{6}[a-z]{6}[0-9a-z]\d"),
    ("my.nric", r"\d{6}-?\d{2}-?\d{4}"),
    ("nl.bsn", r"\d{4}\.?\d{2}\.?\d{3}"),
    ("no.fodselsnummer", r"\d{6} ?\d{5}"),
    ("nz.ird", r"\d{2,3}-\d{3}-\d{3}"),
    ("pl.pesel", r"\d{11}"),
    ("pt.cc", r"\d{8} ?\d ?[a-z0-9]{2}\d"),
    ("ro.cnp", r"\d{13}"),
    ("se.personnummer", r"(?:\d{2})?\d{6}[-+]?\d{4}"),
    ("th.pin", r"\d-?\d{4}-?\d{5}-?\d{2}-?\d"),
    ("tr.tckimlik", r"\d{11}"),
    ("us.itin", r"9\d{2}-?\d{2}-?\d{4}"),
    ("us.ssn", r"\d{3}[- ]\d{2}[- ]\d{4}"),
    ("za.idnr", r"\d{13}"),
)
# The form of these is distinctive, so they are replaced even if the check digits are wrong.
_NATIONAL_SHAPES: Final = (
    r"\d{3}-\d{2}-\d{4}",
    r"[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d]",
)


def _bordered(shape: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{shape})(?!\w)", re.IGNORECASE)


def _validator(module: str) -> Callable[[str], bool]:
    is_valid: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return is_valid


_CHECKED: Final = tuple((_bordered(shape), _validator(module)) for module, shape in _NATIONAL)
_SHAPED: Final = tuple(map(_bordered, _NATIONAL_SHAPES))


def _addresses(text: str) -> Iterator[PatternSpan]:
    for kind, pattern in _addresses_to_try(text):
        for match in pattern.finditer(text):
            # Punctuation at the end belongs to the sentence, not to the address.
            told = match[0].rstrip(_TRAILING) if kind in (PatternKind.EMAIL, PatternKind.URL) else match[0]
            if kind is not PatternKind.IP_ADDRESS or _is_ip_address(told):
                yield PatternSpan(match.start(), match.start() + len(told), kind)


def _addresses_to_try(text: str) -> Iterator[tuple[PatternKind, re.Pattern[str]]]:
    """Yields the patterns that may match, by signs that their matches hold: most texts hold none, in little time."""
    if "@" in text:
        yield from ((PatternKind.EMAIL, _EMAIL), (PatternKind.HANDLE, _HANDLE))
    if any(map(text.lower().__contains__, ("/", "www.", "lto:", "tel:"))):
        yield PatternKind.URL, _URL
    if (_MAY_BE_SPELT_IN_ASCII if text.isascii() else _MAY_BE_SPELT).search(text):
        yield PatternKind.SPELT, _SPELT
    if text.count(":") >= _MIN_PARTINGS or text.count("-") >= _MIN_PARTINGS:
        yield PatternKind.HARDWARE_ADDRESS, _MAC
    if text.count(".") >= 3:
        yield PatternKind.IP_ADDRESS, _IPV4
    if text.count(":") >= 2:
        yield PatternKind.IP_ADDRESS, _IPV6


def _numbers(text: str) -> Iterator[PatternSpan]:
    for pattern, is_valid, kind in ((_IBAN, iban.is_valid, PatternKind.IBAN), (_CARD, _is_card, PatternKind.CARD)):
        for match in pattern.finditer(text):
            end = _longest_valid(text, match.start(), match.end(), is_valid)
            if end:
                yield PatternSpan(match.start(), end, kind)
    for pattern, is_valid in _CHECKED:
        for match in pattern.finditer(text):
            if is_valid(match.group()):
                yield PatternSpan(*match.span(), PatternKind.NATIONAL_NUMBER)
    for pattern in _SHAPED:
        for match in pattern.finditer(text):
            yield PatternSpan(*match.span(), PatternKind.NATIONAL_NUMBER)
    for match in _DIGITS.finditer(text):
        if sum(character.isdigit() for character in match.group()) >= _MIN_DIGITS:
            yield PatternSpan(*match.span(), PatternKind.DIGITS)


def _phones(text: str, regions: Sequence[str]) -> Iterator[PatternSpan]:
    for run in _PHONE_LIKE.finditer(text):
        start = max(0, run.start() - 2)
        window = text[start : run.end() + _EXTENSION_CHARS]
        for region in regions:
            for match in phonenumbers.PhoneNumberMatcher(window, region, phonenumbers.Leniency.VALID):
                yield PatternSpan(start + match.start, start + match.end, PatternKind.PHONE)


def _longest_valid(text: str, start: int, end: int, is_valid: Callable[[str], bool]) -> int:
    """Returns the end of the longest valid number that begins at `start` and ends by `end`, or 0 if there is none.

    Other digits may follow the number, so its groups, which spaces or hyphens separate, are left off one by one.
    """
    while end > start:
        if is_valid(text[start:end]):
            return end
        end = max(text.rfind(" ", start, end), text.rfind("-", start, end))
    return 0


def _is_card(text: str) -> bool:
    digits = text.replace(" ", "").replace("-", "")
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def _is_ip_address(text: str) -> bool:
    try:
        ip_address(text.partition("/")[0])
    except ValueError:
        return False
    return any(character.isalnum() for character in text)
