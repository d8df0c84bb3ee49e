"""Answers as notebooks show them: text, things, evidence as picture and table; nothing of it is markup."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from client_sdk import Answer, Chat, Entity, RestoredFact
from client_sdk.answers.html import MAX_FACTS, MAX_NAMES, MAX_ROWS
from client_sdk.answers.safe_output import printable
from client_sdk.protocol import Usage
from tests.support.fake_service import API_KEY, FakeService

NASTY = (
    "<script>alert(1)</script>",
    "</title></svg><img src=x onerror=alert(1)>",
    "\"><svg onload='alert(1)'>",
    "' style='position:fixed",
    "&lt;b&gt; &amp; &#60;i&#62;",
    "]]><!--",
    "--><h1>",
    "\x00<\x1bb>\u202e",
)
anything = st.sampled_from(NASTY) | st.text(max_size=40)


class Skeleton(HTMLParser):
    """The tags of a page with the names of their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attributes)))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}",))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment",))

    def handle_decl(self, decl: str) -> None:
        self.tags.append(("declaration",))

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def fact(head: str, relation: str, tail: str, *, name: str = "", cited: bool = True) -> RestoredFact:
    """Of the pseudonyms `head` and `tail`; `name` is the head's, where it has another."""
    return RestoredFact(
        name or head, "a", (relation,), tail, "b", "1", cited=cited, head_pseudonym=head, tail_pseudonym=tail
    )


def answer_of(
    evidence: tuple[RestoredFact, ...] = (), entities: tuple[Entity, ...] = (), text: str = "Yes.", **more: object
) -> Answer:
    usual = {"answered": True, "grounded": True, "ambiguous": {}, "notes": (), "usage": Usage(), **more}
    return Answer("a1", "c1", text, text, entities=entities, evidence=evidence, **usual)  # type: ignore[arg-type]


def made_of(words: list[str]) -> Answer:
    """An answer that holds each of twelve texts where a text of others can stand."""
    text, name, concept, pseudonym, head, tail, kind, relation, note, typed, mention, choice = words
    facts = (
        RestoredFact(
            head, kind, (relation,), tail, concept, "1", cited=True, head_pseudonym="E1", tail_pseudonym="E2"
        ),
        RestoredFact(
            head, kind, (relation,), tail, concept, "2-5", cited=True, head_pseudonym="E2", tail_pseudonym="E1"
        ),
    )
    things = (Entity((name, name), concept, "set", "S1", 9), Entity((), concept, "entity", pseudonym, 1))
    return answer_of(
        facts, things, text, grounded=False, notes=(note,), inexact={typed: name}, ambiguous={mention: (choice, name)}
    )


@given(st.lists(anything, min_size=12, max_size=12))
def test_no_text_of_a_graph_becomes_markup(words: list[str]) -> None:
    page, harmless = Skeleton(made_of(words)._repr_html_()), Skeleton(made_of(["x"] * 12)._repr_html_())
    assert page.tags == harmless.tags


@given(anything)
def test_every_name_is_shown_as_it_is(name: str) -> None:
    page = Skeleton(answer_of((), (Entity((name,), "person", "entity", "E1", 1),), name)._repr_html_())
    assert " ".join(printable(name).split()) in page.text


def test_an_answer_needs_no_script_no_style_sheet_and_no_network() -> None:
    page = made_of(["x"] * 12)._repr_html_()
    assert {tag for tag, *_ in Skeleton(page).tags if not tag.startswith("/")} == {
        *("div", "p", "span", "small", "details", "summary", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"),
        *("svg", "g", "title", "rect", "path", "text"),
    }
    assert not [word for word in ("href", "src=", "url(", "@import") if word in page]


def test_a_restored_answer_shows_its_names(service: FakeService) -> None:
    with Chat(service.url, API_KEY, "demo") as chat:
        page = Skeleton(chat.ask("Who treats Anna Keller?")._repr_html_()).text
    assert page.startswith("Anna Keller is treated by Dr. Bruno Weiß, and so are Lea")
    assert "Dr. Bruno Weiß doctor" in page
    assert "and 12 more" in page
    assert "Anna Keller may be: Anna Keller (patient); Ehid01 (nurse)." in page
    assert "Evidence: 2 facts, 1 of them leads to the answer" in page
    assert "ward > ← works in" in page
    assert "3 relations of Anna Keller were left out" in page


def test_the_picture_shows_what_leads_to_the_answer_alone() -> None:
    facts = (fact("Ann", "knows", "Bob"), fact("Ann", "likes", "Cleo", cited=False))
    picture = answer_of(facts)._repr_html_().split("<svg")[1].split("</svg>")[0]
    assert "Bob" in picture
    assert "Cleo" not in picture


def test_what_is_too_much_is_said() -> None:
    facts = tuple(fact("E0", "knows", f"E{number}") for number in range(1, MAX_ROWS + 2))
    names = tuple(f"name {number}" for number in range(MAX_NAMES + 5))
    page = Skeleton(answer_of(facts, (Entity(names, "person", "set", "S1", 100),))._repr_html_())
    assert f"the picture shows the first {MAX_FACTS}" in page.text
    assert f"the table the first {MAX_ROWS}" in page.text
    assert f"and {100 - MAX_NAMES} more" in page.text
    assert page.tags.count(("rect", "x", "y", "width", "height", "rx", "fill", "stroke", "stroke-opacity")) == (
        MAX_FACTS + 1
    )
