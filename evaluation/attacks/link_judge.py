"""Judges whether a restored text would have a name followed; it shares no code with the check that it judges."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element  # nosec B405

import html5lib
from markdown_it import MarkdownIt

MIN_LETTERS: Final = 3


class _EveryLink(MarkdownIt):
    """With links to scripts, which this parser leaves out, and others let pass."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library calls it so
        return bool(url)


_GFM: Final = _EveryLink("gfm-like", {"html": True, "linkify": True})
_PARTS: Final = re.compile(r"[^\W_]+")
# Mail programs make links of more than browsers and viewers do, and each of other signs: what any of them may take.
_SCHEME: Final = re.compile(r"^[^\w]*[a-z][a-z0-9+.-]+:\S", re.IGNORECASE)
_HOST: Final = re.compile(r"[^\s.@/]+\.(?:[^\W\d_]{2,}|xn--[\w-]+)(?![^\W\d_])")
_WITH_HOST: Final = re.compile(r"//|\S@\S|^[^\w]*www\.|\d+\.\d+\.\d+\.\d+[/:]")


def follows(text: str, names: Iterable[str]) -> bool:
    """True where a word of `names` (of three letters or more) stands in what a program takes for an address, a tag's
    attribute, a link or an image of `text`; or is drawn by a viewer as a diagram.

    An address is read with its escapes undone and its letters in one form, and for a person's eyes beside.
    """
    words = {word.casefold() for name in names for word in _PARTS.findall(name) if len(word) >= MIN_LETTERS}
    targets = {read.casefold() for target in _targets(text) for read in _read(target)}
    return any(word in target for word in words for target in targets)


def _targets(text: str) -> Iterator[str]:
    shown = html.unescape(unquote(text))
    for source in (text, shown, unicodedata.normalize("NFKC", shown)):
        yield from _of_markdown(source)
        yield from _of_html(source)
        yield from _of_mail(source)


def _of_markdown(text: str) -> Iterator[str]:
    environment: dict[str, dict[str, dict[str, str]]] = {}
    for block in _GFM.parse(text, environment):
        for token in (block, *(block.children or ())):
            yield from (str(value) for key, value in token.attrs.items() if key in ("href", "src", "title"))
            if token.type in ("html_block", "html_inline", "fence", "image"):
                yield token.content
    yield from (reference["href"] for reference in environment.get("references", {}).values())


def _of_html(text: str) -> Iterator[str]:
    root: Element = html5lib.parseFragment(text, namespaceHTMLElements=False)
    for each in root.iter():
        # A comment's tag is no text.
        yield from map(str, each.attrib.values())
        if not isinstance(each.tag, str) or each.tag in ("script", "style"):
            yield each.text or ""


def _of_mail(text: str) -> Iterator[str]:
    """Stretches without spaces that look like an address to anybody."""
    plain = re.sub(r"[\t\r\n](?=[/\\:])|(?<=[/\\:])[\t\r\n]|[\u200b-\u200d\u00ad\u2060\ufeff\x00]", "", text)
    plain = plain.replace("\\", "/").replace("\u2044", "/").replace("\u2215", "/")
    # Browsers know these as full stops of a host; between words of Chinese or Japanese they end a sentence.
    plain = re.sub(r"[\u3002\uff61](?=[\x21-\x7e])", ".", plain)
    for chunk in plain.split():
        if any(pattern.search(chunk) for pattern in (_SCHEME, _WITH_HOST, _HOST)):
            yield chunk


def _read(target: str) -> Iterator[str]:
    yield target
    decoded = html.unescape(unquote(unquote(target)))
    yield decoded
    yield unicodedata.normalize("NFKC", decoded)
