"""Finds what a browser, a mail client or a Markdown viewer would follow, fetch or run in a text."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import unquote

from markdown_it import MarkdownIt

_SCHEMES = (
    "https? ftps? sftp wss? file mailto tel sms xmpp sips? skype callto geo magnet data javascript vbscript blob "
    "view-source feed intent whatsapp slack vscode ssh git irc ldap news nntp webcal cid about market steam zoommtg "
    "ms-word tg viber facetime maps res jar rtsp telnet gopher"
).split()
_SCHEME = re.compile(rf"(?<![a-z])(?:{'|'.join(_SCHEMES)}):\S+", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?<!\S)[(\[<\"'*_~]*[/\\]{2,}\S+|[a-z][a-z0-9+.-]*:[/\\]+\S+", re.IGNORECASE)
_HOST = re.compile(r"[^\s<>()\"']*[\w\]}-]\.[a-z][\w-]*[^\s<>()\"']*", re.IGNORECASE)
_ADDRESS = re.compile(r"\S+@\S+")
_NUMERIC_HOST = re.compile(
    r"(?:\d{1,3}\.){3}\d{1,3}\S*|0x[0-9a-f]+(?:\.\w+)*[/:?]\S*|\[[0-9a-f:]+\]\S*", re.IGNORECASE
)
# Viewers differ in what they take for the address of a link.
_LINK = re.compile(r"\]\s?\([^)]*\)?|^\s*\[[^\]]+\]:.*$", re.MULTILINE)
_MARKDOWN = MarkdownIt("commonmark", {"html": True})
_DROPPED_BY_BROWSERS = re.compile(r"[\t\r\n\u200b-\u200f\u2060\ufeff\u00ad]")
_STOPS = str.maketrans({"。": ".", "．": ".", "｡": ".", "․": ".", "\\": "/"})


def followed_in(text: str) -> list[str]:
    """Everything in `text` that would be fetched, opened or run: addresses and attributes, not their labels."""
    found = [span for reading in _readings(text) for span in _spans(reading)]
    return [*found, *_in_markdown(text), *_in_html(text), *_in_html(html.unescape(text))]


def _readings(text: str) -> Iterator[str]:
    """As it stands, and as a browser reads an address bar: entities undone, one width, its own stops and slashes."""
    undone = html.unescape(text)
    compatible = unicodedata.normalize("NFKC", undone).translate(_STOPS)
    yield text
    yield compatible
    yield _DROPPED_BY_BROWSERS.sub("", compatible)
    yield unquote(compatible)


def _spans(text: str) -> Iterator[str]:
    for pattern in (_SCHEME, _AUTHORITY, _HOST, _ADDRESS, _NUMERIC_HOST, _LINK):
        for match in pattern.finditer(text):
            yield match[0]


def _in_markdown(text: str) -> Iterator[str]:
    environment: dict[str, dict[str, dict[str, str]]] = {}
    for block in _MARKDOWN.parse(text, environment):
        for token in (block, *(block.children or ())):
            yield from (str(token.attrs[name]) for name in ("href", "src") if name in token.attrs)
    yield from (reference["href"] for reference in environment.get("references", {}).values())


def _in_html(text: str) -> list[str]:
    parser = _Attributes()
    parser.feed(text)
    parser.close()
    return parser.found


class _Attributes(HTMLParser):
    """All attributes of all tags, the names of tags, and what stands in scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag, *(part for name, value in attrs for part in (name, value or ""))]
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = "" if tag == self._inside else self._inside

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.found.append(data)
