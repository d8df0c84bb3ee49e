"""Hooks of the site: links that leave the documents. It imports nothing of the service."""

from __future__ import annotations

import posixpath
import re

from mkdocs.structure.pages import Page

_LINK = re.compile(r"\[([^\]]+)\]\((\.\.?/[^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Links to files of the repository become their names: the site holds the documents alone."""

    def named(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[2]))
        if not target.startswith(".."):
            return link[0]
        path = f"`{target.removeprefix('../')}`"
        return path if path.strip("`") in link[1] else f"{link[1]} ({path})"

    return _LINK.sub(named, markdown)
