"""Builds characters from stories, and those who talk as them."""

from __future__ import annotations

from app.memory.episodes.character_store import CharacterStore, KeptCharacter
from app.memory.episodes.characters import Character, own_episodes
from app.memory.episodes.episode import Relevance, relevances
from app.memory.episodes.narrative import episodes_of
from app.wiring.services import embedder_of
from app.wiring.store import ServiceContext


def characters_in(store: ServiceContext) -> CharacterStore:
    """Returns the store of all characters."""
    return CharacterStore(store.engine, store.master)


def build_character(store: ServiceContext, tenant: str, name: str, story: str) -> tuple[int, int]:
    """Builds a character from a story and keeps it, in place of the one of the same name.

    Returns how many of the story's episodes the character takes part in, and how many there are. No model is asked
    but the sentence model inside the service. Raises StoryError, ConfigurationError, MasterKeyError.
    """
    episodes = episodes_of(story, embedder_of(store.settings))
    own = own_episodes(name, episodes)
    characters_in(store).keep(tenant, name, own)
    return len(own), len(episodes)


def relevances_of(store: ServiceContext, kept: KeptCharacter) -> list[Relevance]:
    """Returns which members of a character's episodes are relevant to members of others. Raises ConfigurationError."""
    embedder = embedder_of(store.settings)
    vectors = [embedder.sentences([member.sentence for member in each.told]) for each in kept.episodes]
    return relevances([each.number for each in kept.episodes], vectors)


def character_of(store: ServiceContext, tenant: str, name: str) -> Character:
    """Returns the character of a name. Raises UnknownCharacterError, ConfigurationError, MasterKeyError."""
    kept = characters_in(store).of_name(tenant, name)
    return Character(kept.name, kept.episodes, embedder_of(store.settings))
