"""`arog character`: builds characters from stories, lists them, talks as one, and deletes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cli.graphs import Tenant
from app.cli.output import opened_store, say, tell

Name = Annotated[str, typer.Argument(help="The character's name, as the story has it", min=1)]
app = typer.Typer(help="Characters: who answers from a story that you give.", no_args_is_help=True)


@app.command()
def build(
    name: Name,
    story: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The story: plain text in UTF-8")],
    tenant: Tenant = "default",
) -> None:
    """Build a character from the episodes of a story in which it is named; all of them if it is never named.

    The text is kept encrypted with the master key, and no model is asked about it.
    """
    from kg_store.errors import LoadError

    with opened_store() as store:
        from app.wiring.characters import build_character

        try:
            text = story.read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise LoadError(f"{story.name} is no text in UTF-8: save it as one") from None
        own, total = build_character(store, tenant, name, text)
    say(f"{own} of the story's {total} episodes are kept. Talk with: arog chat --character {name!r}")


@app.command("list")
def list_characters(tenant: Tenant = "default") -> None:
    """List the characters, with how many episodes each has and since when."""
    with opened_store() as store:
        from app.wiring.characters import characters_in

        for each in characters_in(store).all(tenant):
            say(f"{each.name}: {len(each.episodes)} episodes, built {each.made_at:%Y-%m-%d}")


@app.command()
def show(name: Name, tenant: Tenant = "default") -> None:
    """Show a character's episodes: when and where, what is said and told, the summary, and what is relevant to what.

    They hold the story's text, for your own screen.
    """
    with opened_store() as store:
        from app.wiring.characters import characters_in, relevances_of

        kept = characters_in(store).of_name(tenant, name)
        links = relevances_of(store, kept)
    for episode in kept.episodes:
        bounds = ", ".join(filter(None, (episode.when, episode.where))) or "of no time or place"
        say(f"Episode {episode.number + 1}: {bounds}; named: {', '.join(episode.grounded_by) or 'nobody'}")
        for place, member in enumerate(episode.members):
            targets = (link.target for link in links if link.source == (episode.number, place))
            relevant = ", ".join(f"{number + 1}.{at + 1}" for number, at in targets)
            speaker = f" ({member.speaker})" if member.speaker else ""
            beside = f" [relevant to {relevant}]" if relevant else ""
            say(f"  {episode.number + 1}.{place + 1} {member.kind}{speaker}: {member.sentence}{beside}")


@app.command()
def talk(name: Name, tenant: Tenant = "default") -> None:
    """Ask a character, one question a line; the same as `arog chat --character`."""
    with opened_store() as store:
        from app.wiring.characters import character_of

        character = character_of(store, tenant, name)
    if sys.stdin.isatty():
        tell("Ask away; Ctrl-D ends.")
    for line in sys.stdin:
        if line.strip():
            say(character.reply(line).text)


@app.command()
def forget(name: Name, tenant: Tenant = "default") -> None:
    """Delete a character with its story."""
    with opened_store() as store:
        from app.wiring.characters import characters_in

        characters_in(store).forget(tenant, name)
    say("The character is forgotten.")
